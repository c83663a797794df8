//! Detection, restoration and the trigger ramp of the watchdog.

use super::Judged;
use crate::runner::points::Point;
use crate::runner::see::see;
use crate::runner::session::{Session, Trial};
use crate::runner::subject::{Places, Subject};
use rig_capture::analyse::ActionView;
use rig_oracle::judge::{self, Seen, detection};
use rig_oracle::verdict::Doubt;
use rig_testcases::Measure;

/// What every trial at `point` showed of the subject, or why one of them shows nothing.
pub(super) fn seen(session: &Session<'_>, trials: &[&Trial], subject: &Subject) -> Result<Vec<Seen>, Doubt> {
    let view = ActionView::from(&session.group.declared);
    let family = session.rule.family;
    let each = trials.iter().map(|trial| {
        let places = Places::of(&trial.script, subject).expect("a case's measures name what is in its script");
        see(trial.number, &trial.script, &trial.observation, places, &view, family)
    });
    each.collect()
}

/// Judges one measure.
pub(super) fn judge(
    session: &Session<'_>,
    points: &[Point],
    trials: &[Trial],
    measure: &Measure,
    judged: &mut Judged,
) {
    let Some(subject) = Subject::of(measure) else { return };
    for (index, point) in points.iter().enumerate() {
        let of_point: Vec<&Trial> =
            trials.iter().filter(|trial| trial.point == index && trial.void.is_none()).collect();
        let seen = match seen(session, &of_point, &subject) {
            Ok(seen) => seen,
            Err(doubt) => {
                judged.doubts.push(doubt);
                continue;
            }
        };
        let about = judge::Subject {
            measure: measure.name(),
            on: format!("{} on {}", subject.storm, subject.stream),
            point: [session.group.label.as_str(), point.label.as_str()].join(" ").trim().to_owned(),
        };
        if let Measure::Detection { at_most, .. } = measure {
            let judgement = detection::judge(&about, &session.rule, &session.stimulus, *at_most, &seen);
            judged.judgements.push(judgement);
        }
    }
}
