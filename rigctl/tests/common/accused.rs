//! Whom cases accuse, for tests in which every device is healthy.

use rig_lab::Lab;
use rig_oracle::verdict::Verdict;
use rig_testcases::Case;
use rigctl::runner::case::{self, Rig};
use rigctl::runner::pool::{News, default_jobs, in_order};
use rigctl::stop::Stop;

/// Who of a lab is accused by cases, and how many of them passed.
pub(crate) fn accused_by(lab: &Lab, cases: &[&Case], seed: u64) -> (Vec<String>, usize) {
    let stop = Stop::default();
    let rig = Rig::of(lab, cases, seed, &stop);
    let (mut wrong, mut passed) = (Vec::new(), 0);
    let run = |index: usize| case::run(&rig, cases[index]).report;
    in_order(cases.len(), default_jobs(), &stop, run, |_, news| {
        let News::Done(report) = news else { return };
        let findings = match &report.verdict {
            Verdict::Skipped(_) => return,
            Verdict::Fail(findings) => findings.iter().take(2).map(ToString::to_string).collect(),
            Verdict::Broken(why) => vec![format!("{why:?}")],
            Verdict::Pass => {
                passed += 1;
                Vec::new()
            }
            Verdict::Inconclusive(_) => Vec::new(),
        };
        if !findings.is_empty() {
            let (id, on, all) = (&report.id, &report.dut, findings.join("; "));
            wrong.push(format!("seed {seed}: {id} on {on}: {all}"));
        }
    });
    (wrong, passed)
}
