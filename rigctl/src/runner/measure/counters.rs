//! The device's counters against what the wire shows.

use super::{Done, Judged, checks, looked};
use crate::runner::see::sightings;
use crate::runner::subject::{Places, Subject};
use rig_capture::What;
use rig_capture::analyse::{self, ActionView};
use rig_testcases::{Measure, Script};

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
        // What the storm stops, and its own frames.
        let frames = trial.observation.records.iter().filter(|record| match record.what {
            What::Data { stream, .. } => passes(&trial.script, stream, places),
            _ => record.what.pauses(places.class).is_some(),
        });
        let looked = looked(frames.count(), "frames of the class at the stormed port");
        checks::read(
            trial,
            &checks,
            looked,
            "COUNTERS_DB names of sonic-swss; the wire is the count",
        )
    });
}

/// Whether a stream is of the stormed class and passes the stormed port.
fn passes(script: &Script, stream: u16, places: Places) -> bool {
    let port = script.storms[usize::from(places.storm)].from;
    let spec = script.streams.get(usize::from(stream));
    spec.is_some_and(|spec| spec.class == places.class && (spec.from == port || spec.to == port))
}
