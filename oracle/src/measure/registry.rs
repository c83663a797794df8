//! Every measure: the one list of them.

use super::measurement::Known;
use super::{
    action, backpressure, config, counters, ecn, headroom, latency, loss, macsec, nic, pause, pfc,
    search, storm, tags, throughput, watchdog, watermark_tables, watermarks, withheld,
};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Measure, Vocabulary};

/// Those that may stand under `measure:`, in the order in which people are shown them.
static ALL: [&Known; 49] = [
    &watchdog::DETECTION,
    &watchdog::RESTORATION,
    &watchdog::FIRED,
    &action::ACTION,
    &loss::LOSS,
    &throughput::THROUGHPUT,
    &latency::LATENCY,
    &tags::TAGS,
    &withheld::WITHHELD,
    &counters::COUNTERS,
    &storm::COVERAGE,
    &pfc::SENT,
    &pfc::FORMAT,
    &backpressure::BACKPRESSURE,
    &search::XOFF,
    &search::DROP,
    &search::XON,
    &watermarks::WATERMARKS,
    &watermark_tables::COPIES,
    &headroom::XOFF_LATENCY,
    &pause::RESPONSE,
    &pause::PAUSE,
    &pause::DUTY,
    &pfc::COUNTERS,
    &headroom::HEADROOM_LOSS,
    &ecn::curve::CURVE,
    &ecn::MARKS,
    &ecn::counters::COUNTERS,
    &ecn::order::ORDER,
    &macsec::COUNTERS,
    &macsec::FRAMES,
    &macsec::PFC,
    &nic::rc::RECEIVER,
    &nic::carried::COMPLETION,
    &nic::carried::GOODPUT,
    &nic::shares::SHARES,
    &nic::fixed_point::FIXED_POINT,
    &nic::np::ANSWERS,
    &nic::np::LATENCY,
    &nic::np::INTERVAL,
    &nic::np::FORMAT,
    &nic::counters::COUNTERS,
    &nic::rp::FOLLOWS,
    &nic::rp::CUT,
    &nic::rp::REACTION,
    &nic::rates::LEAST,
    &nic::rates::FINAL,
    &nic::rates::BURSTS,
    &nic::rc::SENDER,
];

/// All measures, as who reads test cases takes them.
#[derive(Debug, Clone, Copy)]
pub struct Registry;

impl Vocabulary for Registry {
    fn entries(&self) -> Vec<&'static Entry> {
        ALL.iter().map(|known| &known.entry).collect()
    }

    fn settings(&self) -> &'static Entry {
        &config::TRIED.entry
    }
}

/// What judges a measure.
///
/// # Panics
/// It was read with another vocabulary.
pub fn of(measure: &Measure) -> &'static Known {
    let mut all = ALL.into_iter().chain([&config::TRIED]);
    let known = all.find(|known| known.entry.name == measure.name());
    known.expect("cases are read with this registry")
}
