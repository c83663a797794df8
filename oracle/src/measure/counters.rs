//! The device's counters against what the wire shows.

use super::checks;
use super::judge_context::JudgeContext;
use super::judged::{Judged, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source, seen_in, subject};
use super::watchdog::see::sightings;
use super::watchdog::watch;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::watchdog::subject::{Places, Subject};
use crate::verdict::Doubt;
use rig_capture::What;
use rig_capture::analyse::{self, ActionView, Sighting};
use rig_lab::Part;
use rig_testcases::case::Stream;
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, STORM, STREAM, Senders};
use rig_testcases::{Case, Measure, Script};

/// Where the names come from, and the numbers.
const SOURCE: &str = "COUNTERS_DB names of sonic-swss; the wire is the count";

/// Everything of the class that passes the stormed port is counted there.
fn of_class<'a>(measure: &'a Measure, case: &'a Case) -> Vec<&'a str> {
    let (storm, stream) = (measure.named("storm"), measure.named("stream"));
    let (Some(storm), Some(of)) = (case.storms.get(storm), case.streams.get(stream)) else {
        return vec![stream];
    };
    let passes = |other: &Stream| {
        other.class == of.class && (other.from == storm.from || other.to == storm.from)
    };
    let all = case.streams.iter().filter(|(_, other)| passes(other));
    all.map(|(name, _)| name.as_str()).collect()
}

/// `counters`.
pub(super) static COUNTERS: Known = Known {
    entry: Entry {
        name: "counters",
        parts: Some(&[Part::Pfcwd]),
        pfc: ByPfc::Rests,
        about: "the watchdog's and the queue's counters",
        source: "what the wire shows",
        fields: &[STORM, STREAM],
        looks: &[Looks::follows(of_class)],
        senders: Senders::Obey(of_class),
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter"),
    red: Red::Mutated("storm-counters-broadcom", "deviation=counters_off"),
    on: seen_in,
    expected: |_, _, _| by_source("each counter of the queue grown by what the wire shows", SOURCE),
    judge: |measure, done, judged| judge(done, &subject(measure), judged),
    subject: |measure| Some(subject(measure)),
    ..Known::USUAL
};

/// Every counter of the stormed queue must have grown by what the wire shows.
fn judge(done: &JudgeContext<'_>, subject: &Subject, judged: &mut Judged) {
    let context = done.context;
    let view = ActionView::from(context.switch());
    done.each("counters", &subject.storm, judged, |trial| {
        let watch = watch(context, trial)?;
        let places = watch
            .places(&trial.script, subject)
            .ok_or_else(|| trial.doubt("the storm is not in the script"))?;
        let (acted, ended) =
            sightings(&trial.script, &trial.observation, places, &view, watch.rule.family);
        if let Sighting::NotObservable(why) | Sighting::Void(why) = &acted {
            return Err(trial.doubt(why).into());
        }
        if watch.rule.may_hide() && !matches!(acted, Sighting::At { .. }) {
            let why = "no action shows, and one that comes late may have been decided and counted";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        let at = (places.storm, places.class);
        let checks =
            analyse::counters(&trial.observation, &trial.script, at, &view, (&acted, &ended));
        // What the storm stops, and its own frames.
        let frames = trial.observation.records.iter().filter(|record| match record.what {
            What::Data { stream, .. } => passes(&trial.script, stream, places),
            _ => record.what.pauses(places.class).is_some(),
        });
        let looked = looked(frames.count(), "frames of the class at the stormed port");
        checks::read(trial, &checks, looked, SOURCE)
    });
}

/// Whether a stream is of the stormed class and passes the stormed port.
fn passes(script: &Script, stream: u16, places: Places) -> bool {
    let port = script.storms[usize::from(places.storm)].from;
    let spec = script.streams.get(usize::from(stream));
    spec.is_some_and(|spec| spec.class == places.class && (spec.from == port || spec.to == port))
}
