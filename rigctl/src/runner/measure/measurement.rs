//! One measure of the language with all that the runner knows of it, each beside the analyser that judges it. Whoever wants to
//! know something of a measure asks it here; nobody else tells one from another.

use super::in_time::Limit;
use super::watchdog::{Act, Watchdog};
use super::{Done, Judged};
use super::{
    action, config, copies, counters, ecn, headroom, loss, macsec, nic, pause, pfc, search, storm,
    throughput, watermarks, withheld,
};
use crate::runner::context::Context;
use crate::runner::points::Point;
use crate::runner::subject::Subject;
use rig_capture::{Observation, Reading};
use rig_oracle::Prediction;
use rig_testcases::{Measure, NicMeasure, Script};

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

/// A measure of a case.
pub trait Measurement: core::fmt::Debug {
    /// What is the same wherever it is asked for.
    fn facts(&self) -> Facts;

    /// What it looks at, for people.
    fn on(&self) -> String;

    /// What it is expected to show, before anything runs.
    fn expected(&self, context: &Context<'_>, points: &[Point]) -> Vec<Expected>;

    /// Judges it, at every point.
    fn judge(&self, done: &Done<'_>, judged: &mut Judged);

    /// How its trials are placed.
    fn placement(&self) -> Placement {
        Placement::Anywhere
    }

    /// The storm and the stream that show what the watchdog does, if it is about that.
    fn subject(&self) -> Option<Subject> {
        None
    }

    /// The storm whose gaps it is about.
    fn about_gaps_of(&self) -> Option<&str> {
        None
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

/// What is known of a measure.
pub fn of(measure: &Measure) -> Box<dyn Measurement + '_> {
    match measure {
        Measure::Detection { storm, stream, at_most } => {
            Box::new(Watchdog { storm, stream, act: Act::Detection(*at_most) })
        }
        Measure::Restoration { storm, stream } => {
            Box::new(Watchdog { storm, stream, act: Act::Restoration })
        }
        Measure::Fired { storm, stream, expect } => {
            Box::new(Watchdog { storm, stream, act: Act::Fired(*expect) })
        }
        Measure::ActionTaken { storm, stream } => Box::new(action::ActionTaken { storm, stream }),
        Measure::Loss { stream, expect } => Box::new(loss::Lost { stream, expect: *expect }),
        Measure::Throughput { streams, from, until } => {
            Box::new(throughput::Shared { streams, from, until })
        }
        Measure::Withheld { streams, from, until } => {
            Box::new(withheld::Withheld { streams, from, until })
        }
        Measure::Counters { storm, stream } => Box::new(counters::OfQueue { storm, stream }),
        Measure::Coverage { storm } => Box::new(storm::Covered { storm }),
        Measure::PfcSent { port, class, after, expect } => {
            Box::new(pfc::Sent { port, class: *class, after: after.as_deref(), expect: *expect })
        }
        Measure::PfcFormat { port } => Box::new(pfc::Format { port }),
        Measure::Threshold(threshold) => Box::new(search::Searched { threshold }),
        Measure::Watermarks { stream } => Box::new(watermarks::Watermarks { stream }),
        Measure::Copies { stream } => Box::new(copies::Copies { stream }),
        Measure::XoffLatency { stream } => Box::new(headroom::XoffLatency { stream }),
        Measure::Response { stream } => Box::new(pause::Response { stream }),
        Measure::PauseLength { stream } => Box::new(pause::PauseLength { stream }),
        Measure::Duty { storm, stream, from, until } => {
            Box::new(pause::Duty { storm, stream, from, until })
        }
        Measure::PfcCounters { port, class } => Box::new(pfc::OfPort { port, class: *class }),
        Measure::HeadroomLoss { stream, expect } => {
            Box::new(headroom::HeadroomLoss { stream, expect: *expect })
        }
        Measure::EcnCurve { streams } => Box::new(ecn::MarkingCurve { streams }),
        Measure::EcnMarks { stream, expect } => Box::new(ecn::Marks { stream, expect: *expect }),
        Measure::EcnCounters { stream } => Box::new(ecn::OfQueue { stream }),
        Measure::EcnOrder { stream, first } => Box::new(ecn::Order { stream, first: *first }),
        Measure::MacsecCounters { port } => Box::new(macsec::OfPort { port }),
        Measure::MacsecFrames { port } => Box::new(macsec::Frames { port }),
        Measure::MacsecPfc { storm, stream } => Box::new(macsec::Obeyed { storm, stream }),
        Measure::Nic(measure) => of_nic(measure),
        Measure::Config { rejected } => Box::new(config::Tried { rejected: *rejected }),
    }
}

fn of_nic(measure: &NicMeasure) -> Box<dyn Measurement + '_> {
    use nic::{carried, counters, np, rates, rc, rest, rp, shares};
    match measure {
        NicMeasure::Answers { port } => Box::new(np::Answers { port }),
        NicMeasure::Latency { port } => Box::new(np::Latency { port }),
        NicMeasure::Interval { port } => Box::new(np::Interval { port }),
        NicMeasure::Format { port } => Box::new(np::Format { port }),
        NicMeasure::Counters { port } => Box::new(counters::OfNic { port }),
        NicMeasure::Follows { flow } => Box::new(rp::Follows { flow }),
        NicMeasure::Cut { flow } => Box::new(rp::Cut { flow }),
        NicMeasure::Reaction { flow } => Box::new(rp::Reaction { flow }),
        NicMeasure::Least { flow } => Box::new(rates::Least { flow }),
        NicMeasure::Final { flow } => Box::new(rates::Final { flow }),
        NicMeasure::Bursts { flow } => Box::new(rates::Bursts { flow }),
        NicMeasure::Goodput { flow, wanted, from } => {
            Box::new(carried::Goodput { flow, wanted: *wanted, from: *from })
        }
        NicMeasure::Completion { flow, by, unfinished } => {
            Box::new(carried::Completion { flow, by: *by, unfinished: *unfinished })
        }
        NicMeasure::Shares { window, within } => {
            Box::new(shares::Shares { window, within: *within })
        }
        NicMeasure::FixedPoint { windows } => Box::new(rest::FixedPoint { windows }),
        NicMeasure::Sender { flow } => Box::new(rc::Sender { flow }),
        NicMeasure::Receiver { of } => Box::new(rc::Receiver { of }),
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
