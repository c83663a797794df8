//! Marks and early drops.

use super::field::{LOAD, STREAM, optional, required};
use super::{Entry, Given, Kind, free};
use crate::{First, Measure, Wanted};
use rig_frames::ip::Ecn;

pub(super) const CURVE: Entry = Entry {
    name: "ecn.curve",
    about: "what early detection does to the frames of a queue at every depth that they see: marks those that are ECN-capable, drops those that are not",
    source: "F8, F9",
    fields: &[required(
        "streams",
        Kind::SomeStreams,
        "streams of the case to one queue, such as [a, b]",
        "the streams whose frames are judged; whatever else goes to their queue counts in its depth",
    )],
    make: |of| Some(Measure::EcnCurve { streams: of.names("streams")? }),
    check: one_curve,
};

pub(super) const MARKS: Entry = Entry {
    name: "ecn.marks",
    about: "how many frames of a stream arrive marked",
    source: "what the case wants",
    fields: &[
        STREAM,
        required(
            "expect",
            Kind::Wanted(&[("none", Wanted::None), ("some", Wanted::Some), ("all", Wanted::All)]),
            "none, some or all",
            "how many the case wants",
        ),
    ],
    make: |of| Some(Measure::EcnMarks { stream: of.name("stream")?, expect: of.wanted("expect")? }),
    check: free,
};

pub(super) const COUNTERS: Entry = Entry {
    name: "ecn.counters",
    about: "the WRED and ECN counters of the queue that a stream is sent to",
    source: "what the wire shows",
    fields: &[STREAM],
    make: |of| Some(Measure::EcnCounters { stream: of.name("stream")? }),
    check: free,
};

pub(super) const ORDER: Entry = Entry {
    name: "ecn.order",
    about: "under rising load, whether the first mark or the first XOFF comes first",
    source: "what the case wants",
    fields: &[
        LOAD,
        optional("first", Kind::Word(&["ecn", "pfc"]), "which the case wants; absent: the mark"),
    ],
    make: |of| {
        let first = if of.word("first") == Some("pfc") { First::Pfc } else { First::Ecn };
        Some(Measure::EcnOrder { stream: of.name("stream")?, first })
    },
    check: free,
};

/// Streams to one queue, and frames of one curve: what is dropped goes by another one than what is marked, and so may each colour.
fn one_curve(given: &Given<'_>) -> bool {
    let streams = given.of.names("streams").unwrap_or_default();
    let Some(first) = streams.first() else { return true };
    let queue = |name: &String| given.streams.get(name).map(|of| (of.to.clone(), of.class));
    if let Some(other) = streams.iter().find(|name| queue(name) != queue(first)) {
        let found = format!("`{first}` and `{other}` go to different queues");
        given.fault("streams", found, "streams to one port in one class; a measure for each queue");
        return false;
    }
    let rule = |name: &String| given.streams.get(name).map(|of| (of.ecn == Ecn::NotEct, of.color));
    if let Some(other) = streams.iter().find(|name| rule(name) != rule(first)) {
        let found = format!("`{first}` and `{other}` may go by different curves");
        let want = "streams of one colour, all `ecn: not-ect` or none; a measure for each";
        given.fault("streams", found, want);
        return false;
    }
    true
}
