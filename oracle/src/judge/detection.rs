//! Detection latency: every trial's reading must meet the predicted interval.

use super::{Fired, Seen, Subject};
use crate::spec::pfcwd::{Rule, Stimulus};
use crate::{Finding, Judgement, Prediction};
use rig_capture::{Reading, Span, Unit};
use rig_units::Dur;

/// Judges the detections of storms that must all be detected, or none of them when the rule never fires.
///
/// `at_most`: the latest detection that the case accepts, if it is stricter than the rule.
pub fn judge(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    at_most: Option<Dur>,
    trials: &[Seen],
) -> Judgement {
    let prediction = prediction(rule, stimulus, at_most);
    let never = prediction.unit == Unit::Ppm;
    let findings = trials
        .iter()
        .filter_map(|seen| departure(seen, &prediction, never).map(|got| (seen, got)))
        .map(|(seen, got)| Finding {
            rule: subject.measure,
            want: prediction.text.clone(),
            got,
            trial: seen.trial,
            frames: seen.detection().map(|at| at.frames.clone()).unwrap_or_default(),
        })
        .collect();
    let span = if never {
        Span::exactly(if trials.iter().any(|seen| seen.fired != Fired::Never) {
            1_000_000
        } else {
            0
        })
    } else {
        hull(trials.iter().filter_map(|seen| seen.detection().map(|at| at.after)))
    };
    let frames = trials.iter().find_map(|seen| seen.detection()).map(|at| at.frames.clone());
    Judgement {
        measure: subject.measure,
        subject: subject.on.clone(),
        point: subject.point.clone(),
        reading: Reading { unit: prediction.unit, span, frames: frames.unwrap_or_default() },
        prediction,
        trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        resolution: rule.detection_resolution(),
        findings,
    }
}

/// The rule's interval, cut at the case's own limit; a probability of nothing when it never fires.
fn prediction(rule: &Rule, stimulus: &Stimulus, at_most: Option<Dur>) -> Prediction {
    let Some(mut prediction) = rule.predicted_detection(stimulus) else {
        return rule.predicted_chance(Dur(u64::MAX), stimulus);
    };
    if let Some(limit) = at_most.filter(|limit| limit.0 < prediction.span.hi) {
        prediction.span.hi = limit.0;
        prediction.span.lo = prediction.span.lo.min(limit.0);
        prediction.text = format!("{}, and at most {limit} as the case wants", prediction.text);
    }
    prediction
}

/// How a trial departs from the prediction, in words; `None` when it does not.
fn departure(seen: &Seen, prediction: &Prediction, never: bool) -> Option<String> {
    match &seen.fired {
        Fired::Never if never => None,
        Fired::Never => Some(format!("no detection within {}", seen.watched)),
        Fired::At(at) if never => Some(format!("a detection after {}", show(at.after))),
        Fired::At(at) if at.after.meets(prediction.span) => None,
        Fired::At(at) => Some(show(at.after)),
    }
}

/// A span of time for people.
pub(super) fn show(span: Span) -> String {
    Reading { unit: Unit::Ps, span, frames: Vec::new() }.to_string()
}

/// The smallest span that holds all; zero of none.
pub(super) fn hull(spans: impl Iterator<Item = Span>) -> Span {
    spans.reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) }).unwrap_or(Span::exactly(0))
}

#[cfg(test)]
mod tests {
    use super::super::seen::Sighting;
    use super::*;
    use rig_lab::{Action, Charge, Jitter, RuleFamily};
    use rig_units::Time;

    fn rule(family: RuleFamily) -> Rule {
        Rule {
            family,
            detection_time: Dur::ms(200),
            restoration_time: Some(Dur::ms(200)),
            poll_interval: Dur::ms(100),
            action: Action::Drop,
            charge: Charge::Interval,
            min_samples: 1,
            jitter: Jitter::None,
        }
    }

    fn seen(fired: Option<(u64, u64)>) -> Seen {
        let fired = match fired {
            Some((lo, hi)) => {
                let after = Span { lo: Dur::us(lo).0, hi: Dur::us(hi).0 };
                Fired::At(Sighting { after, frames: vec![rig_capture::FrameRef(7)] })
            }
            None => Fired::Never,
        };
        Seen {
            trial: 1,
            storm_start: Time::ZERO,
            pause_length: Dur::ms(600),
            last_frame: Dur::ms(599),
            fired,
            restored: None,
            watched: Dur::ms(600),
        }
    }

    fn judged(family: RuleFamily, at_most: Option<Dur>, trials: &[Seen]) -> Vec<String> {
        let subject = Subject {
            measure: "pfcwd.detection",
            on: "storm@p2 class 3".to_owned(),
            point: String::new(),
        };
        let stimulus =
            Stimulus { data_gap: (family != RuleFamily::Mellanox).then_some(Dur::us(500)) };
        judge(&subject, &rule(family), &stimulus, at_most, trials)
            .findings
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_reading_that_meets_the_interval_passes() {
        let trials = [seen(Some((199_900, 200_000))), seen(Some((299_999, 300_100)))];
        assert_eq!(judged(RuleFamily::Broadcom, None, &trials), Vec::<String>::new());
    }

    #[test]
    fn a_reading_outside_of_it_is_a_finding_with_its_frames() {
        let findings = judged(RuleFamily::Broadcom, None, &[seen(Some((300_000, 300_100)))]);
        assert_eq!(
            findings,
            ["pfcwd.detection: want nP <= T < (n+1)P, n = ceil(200ms / 100ms) = 2: \
             200ms <= T < 300ms, got 300ms to 300.1ms, trial 1, frames #7"]
        );
        assert_eq!(judged(RuleFamily::Broadcom, None, &[seen(Some((199_000, 199_999)))]).len(), 1);
    }

    #[test]
    fn a_storm_that_is_not_detected_is_a_finding() {
        let findings = judged(RuleFamily::Broadcom, None, &[seen(None)]);
        assert!(findings[0].contains("got no detection within 600ms"), "{findings:?}");
    }

    #[test]
    fn an_empty_mellanox_queue_must_never_be_stormed() {
        assert_eq!(judged(RuleFamily::Mellanox, None, &[seen(None)]), Vec::<String>::new());
        let findings = judged(RuleFamily::Mellanox, None, &[seen(Some((250_000, 250_100)))]);
        assert!(findings[0].contains("never stormed, got a detection after"), "{findings:?}");
    }

    #[test]
    fn a_case_may_accept_less_than_the_rule() {
        let at_most = Some(Dur::ms(250));
        let trials = [seen(Some((240_000, 240_100)))];
        assert_eq!(judged(RuleFamily::Broadcom, at_most, &trials), Vec::<String>::new());
        let trials = [seen(Some((260_000, 260_100)))];
        assert_eq!(judged(RuleFamily::Broadcom, at_most, &trials).len(), 1);
    }
}
