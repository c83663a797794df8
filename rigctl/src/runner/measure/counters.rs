//! The device's counters against what the wire shows.

use super::{Done, Judged, Read};
use crate::runner::see::sightings;
use crate::runner::subject::{Places, Subject};
use rig_capture::analyse::{self, ActionView};
use rig_capture::{Span, Unit};
use rig_oracle::Prediction;
use rig_testcases::Measure;

/// Every counter of the stormed queue must have grown by what the wire shows.
pub(super) fn judge(done: &Done<'_>, measure: &Measure, judged: &mut Judged) {
    let Some(subject) = Subject::of(measure) else { return };
    let session = done.session;
    let view = ActionView::from(&session.group.declared);
    done.each(measure.name(), &subject.storm, judged, |trial| {
        let places = Places::of(session.case, &trial.script, &subject)
            .ok_or_else(|| trial.doubt("the storm is not in the script"))?;
        let (acted, ended) =
            sightings(&trial.script, &trial.observation, places, &view, session.rule.family);
        let at = (places.storm, places.class);
        let checks =
            analyse::counters(&trial.observation, &trial.script, at, &view, (&acted, &ended));
        if let Some(missing) = checks.iter().find(|check| check.got.is_none()) {
            return Err(trial.doubt(&format!("the device offers no counter {}", missing.name)));
        }
        let wrong: Vec<_> = checks.iter().filter(|check| check.wrong()).collect();
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: match wrong.first() {
                Some(first) => format!("{} grown by {}", first.name, shown(first.want)),
                None => format!("each of {} counters grown by what the wire shows", checks.len()),
            },
            source: "COUNTERS_DB names of sonic-swss; the wire is the count",
        };
        let got = wrong.first().map(|first| {
            let others = if wrong.len() > 1 {
                format!(", and {} more off", wrong.len() - 1)
            } else {
                String::new()
            };
            format!("{}{others}", first.got.unwrap_or(0))
        });
        let count = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
        let records = wrong.first().map(|first| first.frames.clone()).unwrap_or_default();
        Ok(Some(Read { span: Span::exactly(count), want, got, records }))
    });
}

fn shown(span: Span) -> String {
    if span.lo == span.hi { span.lo.to_string() } else { format!("{} to {}", span.lo, span.hi) }
}
