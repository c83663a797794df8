//! What cases are going to tell in a lab, by a run of each in virtual time.

use super::case::{self, Rig};
use super::pool::{News, default_jobs, in_order};
use crate::stop::Stop;
use rig_lab::{Lab, Transport};
use rig_oracle::trials::effort::Effort;
use rig_reports::CaseReport;
use rig_testcases::Case;

/// Of a run that nobody asked for a verdict: any seed does, and the same one tells the same twice.
pub const SEED: u64 = 1;

/// Hands each of these cases to `told`, in their order: as it can be had of `lab`, run against the emulated device of the same profile with
/// timestamps as far off as that lab's. None of a case that is skipped there.
pub fn each(
    lab: &Lab,
    only: Option<&str>,
    (cases, effort): (&[&Case], Effort),
    mut told: impl FnMut(usize, Option<CaseReport>),
) {
    let emulated = Lab { transport: Transport::Virtual(lab.transport.bound()), ..lab.clone() };
    let stop = Stop::default();
    let rig = Rig { only, effort, ..Rig::of(&emulated, cases, SEED, &stop) };
    let work = |index: usize| case::foreseen(&rig, lab, cases[index]);
    in_order(cases.len(), default_jobs(), &stop, work, |index, news| {
        if let News::Done(report) = news {
            told(index, report);
        }
    });
}
