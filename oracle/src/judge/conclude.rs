//! From the judgements of a case to its verdict.

use super::answers::{Answers, NOT_MEASURED};
use crate::verdict::Doubt;
use crate::{Finding, Verdict};
use rig_capture::analyse::integrity;
use rig_testcases::Expect;

/// The trials of a case, valid or void.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trials {
    /// How many count.
    pub valid: u32,
    /// Why the others do not: one doubt a void trial, in the order of the trials.
    pub void: Vec<Doubt>,
    /// What the rig was to do in a trial that counts, and did not: nothing was predicted for what was done instead.
    pub unapplied: Option<Doubt>,
    /// Whether all that were planned were had: void ones were repeated, or are what the case is about.
    pub complete: bool,
    /// Why void ones were repeated no longer, though there was time.
    pub given_up: Option<String>,
}

/// The reason where the way to the device was lost, or what was set never showed there.
pub const NOT_STEERED: &str = "not-steered";
/// Reasons that are the rig's own and say nothing of the device.
const OWN: [&str; 9] = [
    NOT_STEERED,
    "storm-lapse",
    "capture-hole",
    "late-send",
    "dut-late",
    "late-reading",
    "late-event",
    "short-stream",
    integrity::SILENT,
];

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
        let given_up = self.given_up.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let detail = format!("{} of {of} trials void{given_up}; {}", self.void.len(), doubt.detail);
        Some(Doubt { reason: doubt.reason, detail })
    }
}

/// The verdict of a case: undecided when planned trials could not be had, or were of another stimulus than the case's; else failed
/// when anything departs, for a departure in a valid trial stands whatever else could not be seen; else undecided when a
/// measurement could not be taken: `doubts` are those of the trials, `answers` what became of everything that the plan asked for.
/// What nobody answered was not measured, and a case of which nothing was measured does not pass.
/// A case that expects to be undecided passes with exactly that reason only; where the rig itself was in the way, nothing is
/// known of it.
pub fn conclude(
    expect: &Expect,
    trials: &Trials,
    answers: &Answers,
    doubts: &[Doubt],
    findings: Vec<Finding>,
) -> Verdict {
    let verdict = if trials.too_few() {
        let none = || Doubt { reason: "too-few-trials", detail: "no trial was run".to_owned() };
        Verdict::Inconclusive(trials.commonest().unwrap_or_else(none))
    } else if let Some(doubt) = &trials.unapplied {
        Verdict::Inconclusive(with(doubt, &findings))
    } else if !findings.is_empty() {
        Verdict::Fail(findings)
    } else {
        let first = doubts.first().cloned().or_else(|| answers.doubts().into_iter().next());
        first.or_else(|| nothing(answers)).map_or(Verdict::Pass, Verdict::Inconclusive)
    };
    match expect {
        Expect::Pass => verdict,
        Expect::Inconclusive { reason } => as_expected(reason, trials, verdict),
    }
}

/// A doubt beside which departures stand that may come of it.
fn with(doubt: &Doubt, findings: &[Finding]) -> Doubt {
    let also = match findings {
        [] => String::new(),
        [only] => format!("; what departs may come of that: {only}"),
        [first, more @ ..] => {
            format!("; what departs may come of that: {first}, and {} more", more.len())
        }
    };
    Doubt { reason: doubt.reason, detail: format!("{}{also}", doubt.detail) }
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
    use crate::verdict::{Answer, Looked, NotApplicable};

    fn doubt(reason: &'static str) -> Doubt {
        Doubt { reason, detail: "gap of 2ms at 300ms".to_owned() }
    }

    fn trials(valid: u32, void: usize) -> Trials {
        let void = vec![doubt("storm-lapse"); void];
        Trials { valid, void, complete: true, ..Trials::default() }
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
    fn void_trials_that_were_repeated_are_borne_and_a_plan_that_was_not_had_is_not() {
        assert_eq!(conclude(&Expect::Pass, &trials(1, 9), &measured(), &[], vec![]), Verdict::Pass);
        let short = Trials { complete: false, ..trials(3, 1) };
        let Verdict::Inconclusive(doubt) =
            conclude(&Expect::Pass, &short, &measured(), &[], vec![finding()])
        else {
            panic!("half a plan was taken for evidence")
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
    fn what_was_not_done_to_the_device_accuses_it_of_nothing() {
        let unapplied =
            || Trials { unapplied: Some(doubt("stimulus-not-applied")), ..trials(3, 0) };
        let said =
            |findings| match conclude(&Expect::Pass, &unapplied(), &measured(), &[], findings) {
                Verdict::Inconclusive(doubt) => format!("{}: {}", doubt.reason, doubt.detail),
                other => panic!("{other:?}"),
            };
        assert_eq!(said(vec![]), "stimulus-not-applied: gap of 2ms at 300ms");
        let two = said(vec![finding(), finding()]);
        let want = "; what departs may come of that: loss: want none, got 1, trial 1, and 1 more";
        assert!(two.ends_with(want), "{two}");
    }

    #[test]
    fn the_commonest_reason_is_named() {
        let void = vec![doubt("late-send"), doubt("storm-lapse"), doubt("storm-lapse")];
        let short = Trials { valid: 1, void, ..Trials::default() };
        let verdict = conclude(&Expect::Pass, &short, &measured(), &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }

    #[test]
    fn why_it_was_given_up_is_told_beside_the_reason() {
        let given_up = Some("given up after 49 in a row".to_owned());
        let short = Trials { complete: false, given_up, ..trials(0, 49) };
        let verdict = conclude(&Expect::Pass, &short, &measured(), &[], vec![]);
        let Verdict::Inconclusive(doubt) = verdict else { panic!("{verdict:?}") };
        insta::assert_snapshot!(doubt.detail, @"49 of 49 trials void; given up after 49 in a row; gap of 2ms at 300ms");
    }

    #[test]
    fn an_expected_lapse_passes_with_exactly_that() {
        assert_eq!(conclude(&lapse(), &trials(0, 3), &measured(), &[], vec![]), Verdict::Pass);
        let repeated = ["late-send", "late-send", "late-send", "storm-lapse"].map(doubt).to_vec();
        let repeated = Trials { void: repeated, ..trials(0, 0) };
        assert_eq!(conclude(&lapse(), &repeated, &measured(), &[], vec![]), Verdict::Pass);
        let said = |verdict: Verdict| match verdict {
            Verdict::Fail(findings) => findings[0].to_string(),
            other => format!("{other:?}"),
        };
        let other = [doubt("not-observable")];
        assert_eq!(
            said(conclude(&lapse(), &trials(2, 0), &measured(), &other, vec![])),
            "expect: want inconclusive for storm-lapse, got inconclusive for not-observable, trial 1"
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

    #[test]
    fn a_machine_that_stalls_leaves_an_expected_lapse_undecided_and_accuses_nobody() {
        let late = |complete| Trials { void: vec![doubt("late-send")], complete, ..trials(0, 0) };
        for complete in [false, true] {
            let verdict = conclude(&lapse(), &late(complete), &measured(), &[], vec![]);
            assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "late-send"));
        }
        // One lapse of the two that were planned.
        let short = Trials { complete: false, ..trials(0, 1) };
        let verdict = conclude(&lapse(), &short, &measured(), &[], vec![]);
        assert!(matches!(verdict, Verdict::Inconclusive(doubt) if doubt.reason == "storm-lapse"));
    }
}
