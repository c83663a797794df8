//! Detection, restoration and the trigger ramp of the watchdog.

use super::{At, Done, Judged};
use crate::runner::plan::Role;
use crate::runner::see::see;
use crate::runner::session::Session;
use crate::runner::subject::{Places, Subject};
use crate::runner::trial::Trial;
use rig_capture::analyse::ActionView;
use rig_oracle::judge::fired::{self, Limits, Storms};
use rig_oracle::judge::{self, Grid, Seen, detection, ramp, restoration};
use rig_oracle::verdict::Doubt;
use rig_testcases::{Measure, Sweep};

/// What one trial showed of a subject.
///
/// # Errors
/// Why it shows nothing.
pub fn seen(session: &Session<'_>, trial: &Trial, subject: &Subject) -> Result<Seen, Doubt> {
    let view = ActionView::from(&session.group.declared);
    let places = Places::of(session.case, &trial.script, subject).ok_or_else(|| Doubt {
        reason: "not-observable",
        detail: format!("{} and {} are not in the script", subject.storm, subject.stream),
    })?;
    see(trial.number, &trial.script, &trial.observation, places, &view, session.rule.family)
}

/// Judges one measure.
pub(super) fn judge(done: &Done<'_>, measure: &Measure, judged: &mut Judged) {
    let Some(subject) = Subject::of(measure) else { return };
    if matches!(measure, Measure::Fired { .. }) && swept(done) {
        return along_a_ramp(done, measure, &subject, judged);
    }
    for (index, point) in done.points.iter().enumerate() {
        let (at, trials) = (At::Point(index), done.valid(index));
        let Some(seen) = all_seen(done, (at, &trials), &subject, judged) else { continue };
        let about = about(measure, &subject, done.place(point));
        let (rule, stimulus) = (&done.session.rule, &done.stimulus());
        let slack = limits(done).slack;
        let judgement = match measure {
            Measure::Detection { at_most, .. } => {
                detection::judge(&about, rule, stimulus, (*at_most, slack), &seen)
            }
            Measure::Restoration { .. } => restoration::judge(&about, rule, stimulus, slack, &seen),
            Measure::Fired { expect, .. } => {
                let length = seen.iter().map(|seen| seen.pause_length).max().unwrap_or_default();
                let grid = Grid::of_trials(rule, &seen);
                let storms = Storms { length, trials: seen };
                fired::judge(&about, rule, stimulus, (&storms, &grid), *expect, &limits(done))
            }
            _ => continue,
        };
        judged.file(at, judgement);
    }
}

/// The lengths of the storm are swept: a curve, with the storms that showed the grid of the polls.
fn along_a_ramp(done: &Done<'_>, measure: &Measure, subject: &Subject, judged: &mut Judged) {
    let of_role = |role: Role| -> Vec<&Trial> {
        done.trials.iter().filter(|trial| trial.role == role && trial.void.is_none()).collect()
    };
    let calibrating = of_role(Role::Calibration);
    let Some(calibrations) = all_seen(done, (At::Whole, &calibrating), subject, judged) else {
        return;
    };
    let (mut points, mut lengths) = (Vec::new(), Vec::new());
    for index in 0..done.points.len() {
        let trials = done.valid(index);
        let Some(trials) = all_seen(done, (At::Point(index), &trials), subject, judged) else {
            return;
        };
        // The length that was held, not the one that was asked for.
        let Some(length) = trials.iter().map(|seen| seen.pause_length).max() else { continue };
        points.push(At::Point(index));
        lengths.push(Storms { length, trials });
    }
    let about = about(measure, subject, done.session.group.label.clone());
    let (rule, stimulus) = (&done.session.rule, &done.stimulus());
    let mut ramp = ramp::judge(&about, rule, stimulus, &calibrations, &lengths, &limits(done));
    if let Some(first) = ramp.judgements.first_mut() {
        first.findings.append(&mut ramp.findings);
    }
    let judgements = points.into_iter().zip(ramp.judgements);
    judgements.for_each(|(at, judgement)| judged.file(at, judgement));
    judged.curve(ramp.curve);
}

fn swept(done: &Done<'_>) -> bool {
    done.session.case.sweep.iter().any(Sweep::is_variable)
}

fn all_seen(
    done: &Done<'_>,
    (at, trials): (At, &[&Trial]),
    subject: &Subject,
    judged: &mut Judged,
) -> Option<Vec<Seen>> {
    match trials.iter().map(|trial| seen(done.session, trial, subject)).collect() {
        Ok(seen) => Some(seen),
        Err(doubt) => {
            judged.doubt(at, doubt);
            None
        }
    }
}

fn about(measure: &Measure, subject: &Subject, point: String) -> judge::Subject {
    judge::Subject {
        measure: measure.name(),
        on: format!("{}, {}", subject.storm, subject.stream),
        point,
    }
}

fn limits(done: &Done<'_>) -> Limits {
    Limits { alpha: done.alpha, slack: done.session.slack_within(done.bound()) }
}
