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
}

impl Trials {
    /// More void trials than one in five leave the case undecided, whatever the others show.
    fn too_many_void(&self) -> bool {
        let void = u32::try_from(self.void.len()).unwrap_or(u32::MAX);
        !Trials::bears(self.valid, void) || self.valid == 0
    }

    /// Whether so many valid trials bear so many void ones: up to one in five.
    pub fn bears(valid: u32, void: u32) -> bool {
        u64::from(void) * 4 <= u64::from(valid)
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

/// The verdict of a case: undecided when too many trials were void; else failed when anything departs, for a departure in
/// a valid trial stands whatever else could not be seen; else undecided when a measurement could not be taken.
/// A case that expects to be undecided passes with exactly that reason only.
pub fn conclude(
    expect: &Expect,
    trials: &Trials,
    doubts: &[Doubt],
    findings: Vec<Finding>,
) -> Verdict {
    let verdict = if trials.too_many_void() {
        let none = || Doubt { reason: "too-few-trials", detail: "no trial was run".to_owned() };
        Verdict::Inconclusive(trials.commonest().unwrap_or_else(none))
    } else if !findings.is_empty() {
        Verdict::Fail(findings)
    } else {
        doubts.first().map_or(Verdict::Pass, |doubt| Verdict::Inconclusive(doubt.clone()))
    };
    match expect {
        Expect::Pass => verdict,
        Expect::Inconclusive { reason } => as_expected(reason, verdict),
    }
}

/// The verdict of a case that is about a void measurement.
fn as_expected(reason: &str, verdict: Verdict) -> Verdict {
    let got = match verdict {
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
        Trials { valid, void: vec![doubt("storm-lapse"); void] }
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
    fn one_void_trial_in_five_is_borne_and_one_in_four_is_not() {
        assert_eq!(conclude(&Expect::Pass, &trials(4, 1), &[], vec![]), Verdict::Pass);
        let Verdict::Inconclusive(doubt) =
            conclude(&Expect::Pass, &trials(3, 1), &[], vec![finding()])
        else {
            panic!("void trials were taken for evidence")
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
        let verdict = conclude(&Expect::Pass, &Trials { valid: 1, void }, &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }

    #[test]
    fn an_expected_lapse_passes_with_exactly_that() {
        assert_eq!(conclude(&lapse(), &trials(0, 3), &[], vec![]), Verdict::Pass);
        let other = Trials { valid: 0, void: vec![doubt("late-send")] };
        let said = |verdict: Verdict| match verdict {
            Verdict::Fail(findings) => findings[0].to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(
            said(conclude(&lapse(), &other, &[], vec![])),
            "expect: want inconclusive for storm-lapse, got inconclusive for late-send, trial 1"
        );
        assert!(said(conclude(&lapse(), &trials(3, 0), &[], vec![])).contains("got a pass"));
        let failed = said(conclude(&lapse(), &trials(3, 0), &[], vec![finding()]));
        assert!(failed.contains("got 1 findings, the first loss: want none"), "{failed}");
    }
}
