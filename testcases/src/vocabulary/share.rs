//! What of a stream arrives, and what it gets of a port.

use super::field::{FROM, STREAM, UNTIL, optional, required};
use super::{Entry, Field, Given, Kind, free};
use crate::{Amount, Measure};

pub(super) const LOSS: Entry = Entry {
    name: "loss",
    about: "frames of a stream that were sent and never arrived",
    source: "F4, F5, F10 to F12",
    fields: &[
        STREAM,
        optional("expect", Kind::Count, "how many the case wants; absent: what is predicted"),
    ],
    make: |of| {
        let expect = of.wanted("expect").unwrap_or_default();
        Some(Measure::Loss { stream: of.name("stream")?, expect })
    },
    check: free,
};

pub(super) const THROUGHPUT: Entry = Entry {
    name: "throughput",
    about: "the rate at which load streams arrive between two instants of the trial",
    source: "F10 to F12",
    fields: &SHARING,
    make: |of| {
        let (from, until) = (of.amount("from")?, of.amount("until")?);
        Some(Measure::Throughput { streams: of.names("streams")?, from, until })
    },
    check: ends_after_it_begins,
};

pub(super) const WITHHELD: Entry = Entry {
    name: "share.withheld",
    about: "what streams that offer a port more than it carries do not get of it: each lossless source by PFC, each lossy queue by loss",
    source: "F11, F12",
    fields: &SHARING,
    make: |of| {
        let (from, until) = (of.amount("from")?, of.amount("until")?);
        Some(Measure::Withheld { streams: of.names("streams")?, from, until })
    },
    check: ends_after_it_begins,
};

/// Streams that share a port, and from when until when.
const SHARING: [Field; 3] = [
    required(
        "streams",
        Kind::Streams,
        "the streams that share a port, such as [a, b]",
        "the streams that share the port, all predicted together",
    ),
    FROM,
    UNTIL,
];

fn ends_after_it_begins(given: &Given<'_>) -> bool {
    if let (Some(Amount::Exactly(from)), Some(Amount::Exactly(until))) =
        (given.of.amount("from"), given.of.amount("until"))
        && until <= from
    {
        given.at.fault(format!("from {from} until {until}"), "an end after the beginning");
    }
    true
}
