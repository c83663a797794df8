//! Plain numbers, lost frames, rates, counters: every trial's reading must meet what is predicted.

use super::Subject;
use super::detection::hull;
use crate::{Finding, Judgement, Prediction};
use rig_capture::{Reading, Span, Unit};
use rig_testcases::Wanted;

/// What one trial gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The trial, from 1.
    pub trial: u32,
    /// The number, and the frames that show it.
    pub reading: Reading,
    /// What was predicted of this trial, where trials differ; else the prediction for all holds.
    pub predicted: Option<Span>,
}

/// Judges a number that was read off in each of `trials`.
pub fn judge(subject: &Subject, prediction: Prediction, trials: &[Count]) -> Judgement {
    let departs =
        |count: &&Count| !count.reading.span.meets(count.predicted.unwrap_or(prediction.span));
    let finding = |count: &Count| Finding {
        rule: subject.measure,
        want: match count.predicted {
            Some(span) => show(prediction.unit, span),
            None => prediction.text.clone(),
        },
        got: count.reading.to_string(),
        trial: count.trial,
        frames: count.reading.frames.clone(),
    };
    let findings: Vec<Finding> = trials.iter().filter(departs).map(finding).collect();
    let span = hull(trials.iter().map(|count| count.reading.span));
    let frames = trials.first().map(|count| count.reading.frames.clone()).unwrap_or_default();
    let reading = Reading { unit: prediction.unit, span, frames };
    subject.judgement(reading, prediction, trials.len(), String::new(), findings)
}

/// What a case wants of a number of frames, out of `sent`; `None` when it leaves that to the oracle.
pub fn wanted(wish: Wanted, sent: u64) -> Option<Prediction> {
    let (span, text) = match wish {
        Wanted::Predicted => return None,
        Wanted::None => (Span::exactly(0), "none, as the case wants".to_owned()),
        Wanted::Some => {
            (Span { lo: 1, hi: u64::MAX }, "at least one, as the case wants".to_owned())
        }
        Wanted::All => (Span::exactly(sent), format!("all {sent}, as the case wants")),
    };
    Some(Prediction { unit: Unit::Frames, span, formula: "case", text, source: "the test case" })
}

/// A span for people.
fn show(unit: Unit, span: Span) -> String {
    Reading { unit, span, frames: Vec::new() }.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::subject;
    use super::*;
    use rig_capture::FrameRef;

    fn lost(trial: u32, lo: u64, hi: u64) -> Count {
        let reading =
            Reading { unit: Unit::Frames, span: Span { lo, hi }, frames: vec![FrameRef(3)] };
        Count { trial, reading, predicted: None }
    }

    fn none() -> Prediction {
        wanted(Wanted::None, 100).unwrap()
    }

    #[test]
    fn none_lost_passes_and_one_lost_is_a_finding() {
        assert_eq!(judge(&subject("loss"), none(), &[lost(1, 0, 0)]).findings, []);
        let judgement = judge(&subject("loss"), none(), &[lost(1, 0, 0), lost(2, 1, 1)]);
        assert_eq!(
            judgement.findings[0].to_string(),
            "loss: want none, as the case wants, got 1, trial 2, frames #3"
        );
        assert_eq!(judgement.reading.span, Span { lo: 0, hi: 1 });
    }

    #[test]
    fn a_reading_that_may_be_right_passes() {
        assert_eq!(judge(&subject("loss"), none(), &[lost(1, 0, 1)]).findings, []);
    }

    #[test]
    fn a_trial_may_have_a_prediction_of_its_own() {
        let own = |lo, hi| Count { predicted: Some(Span { lo, hi }), ..lost(1, 7, 7) };
        assert_eq!(judge(&subject("loss"), none(), &[own(6, 7)]).findings, []);
        let findings = judge(&subject("loss"), none(), &[own(8, 9)]).findings;
        assert_eq!(findings[0].want, "8 to 9");
    }

    #[test]
    fn a_wish_for_some_or_all_is_exact() {
        let some = wanted(Wanted::Some, 9).unwrap();
        assert_eq!(judge(&subject("pfc.sent"), some.clone(), &[lost(1, 0, 0)]).findings.len(), 1);
        assert_eq!(judge(&subject("pfc.sent"), some, &[lost(1, 1, 1)]).findings, []);
        let all = wanted(Wanted::All, 9).unwrap();
        assert_eq!(judge(&subject("loss"), all.clone(), &[lost(1, 9, 9)]).findings, []);
        assert_eq!(judge(&subject("loss"), all, &[lost(1, 8, 8)]).findings.len(), 1);
        assert_eq!(wanted(Wanted::Predicted, 9), None);
    }
}
