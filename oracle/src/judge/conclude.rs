//! From the judgements of a case to its verdict.

use crate::verdict::Doubt;
use crate::{Finding, Verdict};
use rig_testcases::Expect;

/// The trials of a case, valid or void.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trials {
    /// How many count.
    pub valid: u32,
    /// Why the others do not: one doubt a void trial, in the order of the trials.
    pub void: Vec<Doubt>,
    /// Whether all that were planned were had: void ones were repeated, or are what the case is about.
    pub complete: bool,
}

/// Reasons that are the rig's own and say nothing of the device.
const OWN: [&str; 6] =
    ["storm-lapse", "capture-hole", "late-send", "dut-late", "late-reading", "short-stream"];

impl Trials {
    /// Fewer trials than were planned leave the case undecided, whatever those that were had show.
    const fn too_few(&self) -> bool {
        !self.complete || self.valid == 0
    }

    /// Whether all planned trials were void for `reason`.
    fn all_void_for(&self, reason: &str) -> bool {
        let had = self.void.iter().any(|doubt| doubt.reason == reason);
        self.complete && self.valid == 0 && had
    }

    /// The reason that most void trials share, of equal ones the first.
    fn commonest(&self) -> Option<Doubt> {
        let count = |reason| self.void.iter().filter(|doubt| doubt.reason == reason).count();
        let most = self.void.iter().map(|doubt| count(doubt.reason)).max()?;
        let doubt = self.void.iter().find(|doubt| count(doubt.reason) == most)?;
        let of = self.void.len() + usize::try_from(self.valid).unwrap_or(usize::MAX);
        let detail = format!("{} of {of} trials void; {}", self.void.len(), doubt.detail);
        Some(Doubt { reason: doubt.reason, detail })
    }
}

/// The verdict of a case: undecided when planned trials could not be had; else failed when anything departs, for a departure in
/// a valid trial stands whatever else could not be seen; else undecided when a measurement could not be taken.
/// A case that expects to be undecided passes with exactly that reason only; where the rig itself was in the way, nothing is
/// known of it.
pub fn conclude(
    expect: &Expect,
    trials: &Trials,
    doubts: &[Doubt],
    findings: Vec<Finding>,
) -> Verdict {
    let verdict = if trials.too_few() {
        let none = || Doubt { reason: "too-few-trials", detail: "no trial was run".to_owned() };
        Verdict::Inconclusive(trials.commonest().unwrap_or_else(none))
    } else if !findings.is_empty() {
        Verdict::Fail(findings)
    } else {
        doubts.first().map_or(Verdict::Pass, |doubt| Verdict::Inconclusive(doubt.clone()))
    };
    match expect {
        Expect::Pass => verdict,
        Expect::Inconclusive { reason } => as_expected(reason, trials, verdict),
    }
}

/// The verdict of a case that is about a void measurement.
fn as_expected(reason: &str, trials: &Trials, verdict: Verdict) -> Verdict {
    let got = match verdict {
        Verdict::Inconclusive(_) if trials.all_void_for(reason) => return Verdict::Pass,
        Verdict::Inconclusive(doubt) if !trials.complete || OWN.contains(&doubt.reason) => {
            return Verdict::Inconclusive(doubt);
        }
        Verdict::Inconclusive(doubt) if doubt.reason == reason => return Verdict::Pass,
        Verdict::Inconclusive(doubt) => format!("inconclusive for {}", doubt.reason),
        Verdict::Pass => "a pass".to_owned(),
        Verdict::Fail(findings) => {
            format!("{} findings, the first {}", findings.len(), findings[0])
        }
        Verdict::Skipped(_) | Verdict::Broken(_) => return verdict,
    };
    let want = format!("inconclusive for {reason}");
    Verdict::Fail(vec![Finding { rule: "expect", want, got, trial: 1, frames: Vec::new() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(reason: &'static str) -> Doubt {
        Doubt { reason, detail: "gap of 2ms at 300ms".to_owned() }
    }

    fn trials(valid: u32, void: usize) -> Trials {
        Trials { valid, void: vec![doubt("storm-lapse"); void], complete: true }
    }

    fn finding() -> Finding {
        Finding {
            rule: "loss",
            want: "none".to_owned(),
            got: "1".to_owned(),
            trial: 1,
            frames: Vec::new(),
        }
    }

    fn lapse() -> Expect {
        Expect::Inconclusive { reason: "storm-lapse".to_owned() }
    }

    #[test]
    fn nothing_found_passes_and_anything_found_fails() {
        assert_eq!(conclude(&Expect::Pass, &trials(3, 0), &[], vec![]), Verdict::Pass);
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &[], vec![finding()]);
        assert_eq!(verdict, Verdict::Fail(vec![finding()]));
    }

    #[test]
    fn void_trials_that_were_repeated_are_borne_and_a_plan_that_was_not_had_is_not() {
        assert_eq!(conclude(&Expect::Pass, &trials(1, 9), &[], vec![]), Verdict::Pass);
        let short = Trials { complete: false, ..trials(3, 1) };
        let Verdict::Inconclusive(doubt) = conclude(&Expect::Pass, &short, &[], vec![finding()])
        else {
            panic!("half a plan was taken for evidence")
        };
        assert_eq!(doubt.reason, "storm-lapse");
        assert_eq!(doubt.detail, "1 of 4 trials void; gap of 2ms at 300ms");
    }

    #[test]
    fn a_case_without_a_trial_is_undecided() {
        let verdict = conclude(&Expect::Pass, &Trials::default(), &[], vec![]);
        assert!(
            matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "too-few-trials")
        );
    }

    #[test]
    fn what_cannot_be_observed_is_undecided_unless_something_else_departs() {
        let doubts = [doubt("not-observable")];
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &doubts, vec![]);
        assert!(
            matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "not-observable")
        );
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &doubts, vec![finding()]);
        assert_eq!(verdict, Verdict::Fail(vec![finding()]));
    }

    #[test]
    fn the_commonest_reason_is_named() {
        let void = vec![doubt("late-send"), doubt("storm-lapse"), doubt("storm-lapse")];
        let short = Trials { valid: 1, void, complete: false };
        let verdict = conclude(&Expect::Pass, &short, &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }

    #[test]
    fn an_expected_lapse_passes_with_exactly_that() {
        assert_eq!(conclude(&lapse(), &trials(0, 3), &[], vec![]), Verdict::Pass);
        let repeated = ["late-send", "late-send", "late-send", "storm-lapse"].map(doubt).to_vec();
        let repeated = Trials { valid: 0, void: repeated, complete: true };
        assert_eq!(conclude(&lapse(), &repeated, &[], vec![]), Verdict::Pass);
        let said = |verdict: Verdict| match verdict {
            Verdict::Fail(findings) => findings[0].to_string(),
            other => format!("{other:?}"),
        };
        let other = [doubt("not-observable")];
        assert_eq!(
            said(conclude(&lapse(), &trials(2, 0), &other, vec![])),
            "expect: want inconclusive for storm-lapse, got inconclusive for not-observable, trial 1"
        );
        assert!(said(conclude(&lapse(), &trials(3, 0), &[], vec![])).contains("got a pass"));
        let failed = said(conclude(&lapse(), &trials(3, 0), &[], vec![finding()]));
        assert!(failed.contains("got 1 findings, the first loss: want none"), "{failed}");
    }

    #[test]
    fn a_machine_that_stalls_leaves_an_expected_lapse_undecided_and_accuses_nobody() {
        let late = |complete| Trials { valid: 0, void: vec![doubt("late-send")], complete };
        for complete in [false, true] {
            let verdict = conclude(&lapse(), &late(complete), &[], vec![]);
            assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "late-send"));
        }
        // One lapse of the two that were planned.
        let short = Trials { complete: false, ..trials(0, 1) };
        let verdict = conclude(&lapse(), &short, &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }
}
