//! The device's counters against what the wire shows.

use super::{Done, Judged, checks};
use crate::runner::see::sightings;
use crate::runner::subject::{Places, Subject};
use rig_capture::analyse::{self, ActionView};
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
        checks::read(trial, &checks, "COUNTERS_DB names of sonic-swss; the wire is the count")
            .map(Some)
    });
}
