//! From the judgements of a case to its verdict.

use super::answers::{Answers, NOT_MEASURED};
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
/// a valid trial stands whatever else could not be seen; else undecided when a measurement could not be taken: `doubts` are those
/// of the trials, `answers` what became of everything that the plan asked for. What nobody answered was not measured, and a case
/// of which nothing was measured does not pass.
/// A case that expects to be undecided passes with exactly that reason only.
pub fn conclude(
    expect: &Expect,
    trials: &Trials,
    answers: &Answers,
    doubts: &[Doubt],
    findings: Vec<Finding>,
) -> Verdict {
    let verdict = if trials.too_many_void() {
        let none = || Doubt { reason: "too-few-trials", detail: "no trial was run".to_owned() };
        Verdict::Inconclusive(trials.commonest().unwrap_or_else(none))
    } else if !findings.is_empty() {
        Verdict::Fail(findings)
    } else {
        let first = doubts.first().cloned().or_else(|| answers.doubts().into_iter().next());
        first.or_else(|| nothing(answers)).map_or(Verdict::Pass, Verdict::Inconclusive)
    };
    match expect {
        Expect::Pass => verdict,
        Expect::Inconclusive { reason } => as_expected(reason, verdict),
    }
}

/// Why a case of which nothing was measured does not pass.
fn nothing(answers: &Answers) -> Option<Doubt> {
    if answers.measured() {
        return None;
    }
    let first = answers.not_applicable().into_iter().next();
    let detail = first.map_or("the case asks for nothing".to_owned(), |first| {
        format!("nothing of it applies: {first}")
    });
    Some(Doubt { reason: NOT_MEASURED, detail })
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
    use crate::verdict::{Answer, Looked, NotApplicable};

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

    /// One question, with its answers.
    fn asked(all: Vec<Answer>) -> Answers {
        let mut answers = Answers::default();
        let question = answers.ask("loss", String::new());
        all.into_iter().for_each(|answer| answers.file(question, answer));
        answers
    }

    fn measured() -> Answers {
        asked(vec![Answer::Measured(Looked { count: 9, of: "frames" })])
    }

    fn lapse() -> Expect {
        Expect::Inconclusive { reason: "storm-lapse".to_owned() }
    }

    #[test]
    fn nothing_found_passes_and_anything_found_fails() {
        assert_eq!(conclude(&Expect::Pass, &trials(3, 0), &measured(), &[], vec![]), Verdict::Pass);
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &measured(), &[], vec![finding()]);
        assert_eq!(verdict, Verdict::Fail(vec![finding()]));
    }

    #[test]
    fn one_void_trial_in_five_is_borne_and_one_in_four_is_not() {
        assert_eq!(conclude(&Expect::Pass, &trials(4, 1), &measured(), &[], vec![]), Verdict::Pass);
        let Verdict::Inconclusive(doubt) =
            conclude(&Expect::Pass, &trials(3, 1), &measured(), &[], vec![finding()])
        else {
            panic!("void trials were taken for evidence")
        };
        assert_eq!(doubt.reason, "storm-lapse");
        assert_eq!(doubt.detail, "1 of 4 trials void; gap of 2ms at 300ms");
    }

    #[test]
    fn a_case_without_a_trial_is_undecided() {
        let verdict = conclude(&Expect::Pass, &Trials::default(), &measured(), &[], vec![]);
        assert!(
            matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "too-few-trials")
        );
    }

    #[test]
    fn what_cannot_be_observed_is_undecided_unless_something_else_departs() {
        let doubts = [doubt("not-observable")];
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &measured(), &doubts, vec![]);
        assert!(
            matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "not-observable")
        );
        let verdict = conclude(&Expect::Pass, &trials(3, 0), &measured(), &doubts, vec![finding()]);
        assert_eq!(verdict, Verdict::Fail(vec![finding()]));
    }

    #[test]
    fn the_commonest_reason_is_named() {
        let void = vec![doubt("late-send"), doubt("storm-lapse"), doubt("storm-lapse")];
        let verdict = conclude(&Expect::Pass, &Trials { valid: 1, void }, &measured(), &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }

    #[test]
    fn an_expected_lapse_passes_with_exactly_that() {
        assert_eq!(conclude(&lapse(), &trials(0, 3), &measured(), &[], vec![]), Verdict::Pass);
        let other = Trials { valid: 0, void: vec![doubt("late-send")] };
        let said = |verdict: Verdict| match verdict {
            Verdict::Fail(findings) => findings[0].to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(
            said(conclude(&lapse(), &other, &measured(), &[], vec![])),
            "expect: want inconclusive for storm-lapse, got inconclusive for late-send, trial 1"
        );
        assert!(
            said(conclude(&lapse(), &trials(3, 0), &measured(), &[], vec![]))
                .contains("got a pass")
        );
        let failed = said(conclude(&lapse(), &trials(3, 0), &measured(), &[], vec![finding()]));
        assert!(failed.contains("got 1 findings, the first loss: want none"), "{failed}");
    }

    #[test]
    fn what_nobody_answered_was_not_measured() {
        let said = |answers: &Answers| match conclude(
            &Expect::Pass,
            &trials(3, 0),
            answers,
            &[],
            vec![],
        ) {
            Verdict::Inconclusive(doubt) => format!("{}: {}", doubt.reason, doubt.detail),
            other => panic!("{other:?}"),
        };
        assert_eq!(said(&asked(vec![])), "not-measured: loss: nothing was read");
        let none = Answer::Measured(Looked { count: 0, of: "frames" });
        assert_eq!(said(&asked(vec![none])), "not-measured: loss: no frames to look at");
        assert_eq!(said(&Answers::default()), "not-measured: the case asks for nothing");
    }

    #[test]
    fn a_part_that_does_not_apply_passes_beside_one_that_was_measured_and_not_alone() {
        let part = Answer::NotApplicable(NotApplicable {
            measure: "loss",
            subject: "load".to_owned(),
            point: String::new(),
            why: "it is off".to_owned(),
        });
        let alone = conclude(&Expect::Pass, &trials(3, 0), &asked(vec![part.clone()]), &[], vec![]);
        let Verdict::Inconclusive(doubt) = alone else { panic!("nothing passed") };
        assert_eq!(doubt.reason, "not-measured");
        assert_eq!(doubt.detail, "nothing of it applies: loss of load: it is off");
        let beside = asked(vec![part, Answer::Measured(Looked { count: 1, of: "frames" })]);
        assert_eq!(conclude(&Expect::Pass, &trials(3, 0), &beside, &[], vec![]), Verdict::Pass);
    }
}
