//! What may stand under `measure:`: each measure is one entry, and what reads, completes and lists measures goes by it.

mod arguments;
mod buffer;
mod ecn;
mod field;
mod macsec;
mod nic;
mod pfc;
mod pfcwd;
mod rate;
mod rc;
mod share;

pub use arguments::Arguments;
pub(crate) use arguments::Value;
pub(crate) use field::WINDOW;
pub use field::{Field, Kind, Need};
pub(crate) use rate::{ordered, window};

use crate::Measure;
use crate::case::Stream;
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};

/// A measure as it is asked for. `config` has no entry: a case asks for it with `configure:` and `expect:`.
#[derive(Debug)]
pub struct Entry {
    /// Its name in YAML, in reports and in `results.json`.
    pub name: &'static str,
    /// What is measured, in one sentence.
    pub about: &'static str,
    /// What that is held against: formulas, standards, or what the wire shows.
    pub source: &'static str,
    /// What it may be told.
    pub fields: &'static [Field],
    /// The measure of whole arguments, those of a group one by one.
    pub(crate) make: fn(&Arguments) -> Option<Measure>,
    /// Notes what its arguments contradict each other in, and says whether it can be made all the same.
    pub(crate) check: fn(&Given<'_>) -> bool,
}

/// What stands in a file under the name of a measure.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    pub(crate) at: &'a At<'a>,
    pub(crate) fields: &'a Fields<'a>,
    /// What could be read of it.
    pub(crate) of: &'a Arguments,
    /// Streams of the case.
    pub(crate) streams: &'a IndexMap<String, Stream>,
}

impl Given<'_> {
    /// Whether a key was written, rightly or not.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.fields.get(key).is_some()
    }

    /// Notes a fault at the value of a key.
    pub(crate) fn fault(&self, key: &str, found: String, want: &str) {
        self.fields.get(key).unwrap_or_else(|| self.at.clone()).fault(found, want);
    }
}

/// Arguments that cannot contradict each other.
const fn free(_: &Given<'_>) -> bool {
    true
}

/// Every measure that a file may ask for.
pub static ENTRIES: [&Entry; 46] = [
    &pfcwd::DETECTION,
    &pfcwd::RESTORATION,
    &pfcwd::FIRED,
    &pfcwd::ACTION,
    &share::LOSS,
    &share::THROUGHPUT,
    &share::WITHHELD,
    &pfcwd::COUNTERS,
    &pfcwd::COVERAGE,
    &pfc::SENT,
    &pfc::FORMAT,
    &buffer::XOFF,
    &buffer::DROP,
    &buffer::XON,
    &buffer::WATERMARKS,
    &buffer::COPIES,
    &pfc::LATENCY,
    &pfc::RESPONSE,
    &pfc::PAUSE,
    &pfc::DUTY,
    &pfc::COUNTERS,
    &buffer::HEADROOM_LOSS,
    &ecn::CURVE,
    &ecn::MARKS,
    &ecn::COUNTERS,
    &ecn::ORDER,
    &macsec::COUNTERS,
    &macsec::FRAMES,
    &macsec::PFC,
    &rc::RECEIVER,
    &rc::COMPLETION,
    &rate::GOODPUT,
    &rate::SHARES,
    &rate::FIXED_POINT,
    &nic::ANSWERS,
    &nic::LATENCY,
    &nic::INTERVAL,
    &nic::FORMAT,
    &nic::COUNTERS,
    &rate::FOLLOWS,
    &rate::CUT,
    &rate::REACTION,
    &rate::LEAST,
    &rate::FINAL,
    &rate::BURSTS,
    &rc::SENDER,
];

/// The entry of a name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    ENTRIES.into_iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests;
