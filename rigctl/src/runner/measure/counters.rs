//! The device's counters against what the wire shows.

use super::checks;
use super::done::Done;
use super::judged::{Judged, looked};
use super::measurement::{Expected, Facts, Measurement, Needs, by_source};
use crate::runner::context::Context;
use crate::runner::points::Point;
use crate::runner::see::sightings;
use crate::runner::subject::{Places, Subject};
use rig_capture::What;
use rig_capture::analyse::{self, ActionView};
use rig_testcases::Script;

/// Where the names come from, and the numbers.
const SOURCE: &str = "COUNTERS_DB names of sonic-swss; the wire is the count";

/// `counters`.
#[derive(Debug)]
pub(super) struct OfQueue<'a> {
    pub(super) storm: &'a str,
    pub(super) stream: &'a str,
}

impl Measurement for OfQueue<'_> {
    fn facts(&self) -> Facts {
        Facts::with(Needs::Counters, "storm-counters-broadcom", "deviation=counters_off")
    }

    fn on(&self) -> String {
        format!("{}, seen in {}", self.storm, self.stream)
    }

    fn expected(&self, _: &Context<'_>, _: &[Point]) -> Vec<Expected> {
        by_source("each counter of the queue grown by what the wire shows", SOURCE)
    }

    fn judge(&self, done: &Done<'_>, judged: &mut Judged) {
        if let Some(subject) = self.subject() {
            judge(done, &subject, judged);
        }
    }

    fn subject(&self) -> Option<Subject> {
        Some(Subject { storm: self.storm.to_owned(), stream: self.stream.to_owned() })
    }
}

/// Every counter of the stormed queue must have grown by what the wire shows.
fn judge(done: &Done<'_>, subject: &Subject, judged: &mut Judged) {
    let context = done.context;
    let view = ActionView::from(&context.group.declared);
    done.each("counters", &subject.storm, judged, |trial| {
        let places = Places::of(context.case, &trial.script, subject)
            .ok_or_else(|| trial.doubt("the storm is not in the script"))?;
        let (acted, ended) =
            sightings(&trial.script, &trial.observation, places, &view, context.rule.family);
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
