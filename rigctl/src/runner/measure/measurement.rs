//! One measure of the language with all that the runner knows of it, each beside the analyser that judges it. Whoever wants to
//! know something of a measure asks it here; nobody else tells one from another.

use super::judge_context::JudgeContext;
use super::judged::Judged;
use super::limits::Limit;
use crate::runner::context::Context;
use crate::runner::points::Point;
use crate::runner::subject::Subject;
use crate::runner::threshold_search::Stage;
use rig_capture::{Observation, Reading};
use rig_oracle::Prediction;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Measure, Script};

/// What a measure rests on beside the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Wire,
    /// What the device says of its watchdog, where its action leaves no trace on the wire.
    Events,
    /// The device's counters, before and after a trial.
    Counters,
    /// That somebody can configure the device.
    Settings,
}

/// How its trials are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Anywhere.
    Anywhere,
    /// On the grid of the device's polls, to tell how late it acts.
    Grid,
    /// The same, over storms of many lengths.
    Ramp,
    /// Nowhere: each is tried on a device of its own.
    Apart,
}

/// The run that turns red through a measure and through no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Red {
    /// A bundled case, by its name, on a device with this mutation.
    Mutated(&'static str, &'static str),
    /// A case that is no use to a lab: it stands with the test.
    Written,
}

/// What is the same wherever a measure is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What it rests on.
    pub needs: Needs,
    /// In how many ways it may call a device faulty by chance, each of which spends of the budget of false alarms.
    pub ways: usize,
    /// The run that was seen to fail by it.
    pub red: Red,
}

impl Facts {
    /// Of one that the wire shows and that is judged in one way.
    pub(super) const fn of_wire(case: &'static str, mutation: &'static str) -> Facts {
        Facts::with(Needs::Wire, case, mutation)
    }

    /// Of one that is judged in one way.
    pub(super) const fn with(needs: Needs, case: &'static str, mutation: &'static str) -> Facts {
        Facts { needs, ways: 1, red: Red::Mutated(case, mutation) }
    }
}

/// A line of what is expected: a heading of `explain`, and its text.
pub type Expected = (&'static str, String);

/// A measure: what a file says of it, and what judges it.
#[derive(Debug)]
pub struct Known {
    /// What a file says of it.
    pub entry: Entry,
    /// What judges one that a case asks for.
    pub of: for<'a> fn(&'a Measure) -> Box<dyn Measurement + 'a>,
}

/// A measure of a case.
pub trait Measurement: core::fmt::Debug {
    /// What is the same wherever it is asked for.
    fn facts(&self) -> Facts;

    /// What it looks at, for people.
    fn on(&self) -> String;

    /// What it is expected to show, before anything runs.
    fn expected(&self, context: &Context<'_>, points: &[Point]) -> Vec<Expected>;

    /// Judges it, at every point.
    fn judge(&self, done: &JudgeContext<'_>, judged: &mut Judged);

    /// How its trials are placed.
    fn placement(&self) -> Placement {
        Placement::Anywhere
    }

    /// The storm and the stream that show what the watchdog does, if it is about that.
    fn subject(&self) -> Option<Subject> {
        None
    }

    /// The numbers of frames that it searches, in the order in which they are found.
    fn stages(&self) -> Vec<Stage> {
        Vec::new()
    }

    /// Streams whose frames it counts while a port drains them: who is off by the time of a frame holds another number of them.
    fn drained(&self) -> &[&str] {
        &[]
    }

    /// Streams whose bursts draw a curve: there are as many trials as it takes to tell it from another.
    fn bursts(&self) -> &[String] {
        &[]
    }

    /// How late the rig and a served device may be before a trial means nothing for it.
    fn limits(&self, _: &Context<'_>, _: &Script, _: &Observation) -> Vec<Limit> {
        Vec::new()
    }
}

/// Interval, formula and source of a prediction.
pub(super) fn prediction(prediction: &Prediction) -> Vec<Expected> {
    let Prediction { unit, span, formula, text, source } = prediction;
    let reading = Reading { unit: *unit, span: *span, frames: Vec::new() };
    vec![
        ("predicted", reading.to_string()),
        ("formula", format!("{formula}: {text}")),
        ("source", (*source).to_owned()),
    ]
}

/// What is predicted, and where that comes from.
pub(super) fn by_source(predicted: impl Into<String>, source: &str) -> Vec<Expected> {
    vec![("predicted", predicted.into()), ("source", source.to_owned())]
}

/// What is predicted, and by which formula.
pub(super) fn by_formula(predicted: impl Into<String>, formula: &str) -> Vec<Expected> {
    vec![("predicted", predicted.into()), ("formula", formula.to_owned())]
}

/// The same with the formula between them.
pub(super) fn told(predicted: impl Into<String>, formula: &str, source: &str) -> Vec<Expected> {
    let mut all = by_formula(predicted, formula);
    all.push(("source", source.to_owned()));
    all
}
