//! Every measure of the language: the one list of them here.

use super::measurement::Measurement;
use super::watchdog::{Act, Watchdog};
use super::{
    action, config, copies, counters, ecn, headroom, loss, macsec, pause, pfc, search, storm,
    throughput, watermarks, withheld,
};
use rig_testcases::{Measure, NicMeasure};

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
        Measure::EcnCurve { streams } => Box::new(ecn::curve::MarkingCurve { streams }),
        Measure::EcnMarks { stream, expect } => Box::new(ecn::Marks { stream, expect: *expect }),
        Measure::EcnCounters { stream } => Box::new(ecn::counters::OfQueue { stream }),
        Measure::EcnOrder { stream, first } => {
            Box::new(ecn::order::Order { stream, first: *first })
        }
        Measure::MacsecCounters { port } => Box::new(macsec::OfPort { port }),
        Measure::MacsecFrames { port } => Box::new(macsec::Frames { port }),
        Measure::MacsecPfc { storm, stream } => Box::new(macsec::Obeyed { storm, stream }),
        Measure::Nic(measure) => of_nic(measure),
        Measure::Config { rejected } => Box::new(config::Tried { rejected: *rejected }),
    }
}

fn of_nic(measure: &NicMeasure) -> Box<dyn Measurement + '_> {
    use super::nic::{carried, counters, np, rates, rc, rest, rp, shares};
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
