//! A NIC's answers to marks, and its counters.

use super::field::NIC;
use super::{Entry, free};
use crate::{Measure, NicMeasure};

pub(super) const ANSWERS: Entry = Entry {
    name: "cnp.answers",
    about: "each mark is answered with one CNP, or not, as interval and scope have it",
    source: "DCQCN 3.1; IBTA volume 1 A17",
    fields: &[NIC],
    make: |of| Some(Measure::Nic(NicMeasure::Answers { port: of.name("port")? })),
    check: free,
};

pub(super) const LATENCY: Entry = Entry {
    name: "cnp.latency",
    about: "from the last bit of a marked frame to the first bit of its CNP",
    source: "the declared latency",
    fields: &[NIC],
    make: |of| Some(Measure::Nic(NicMeasure::Latency { port: of.name("port")? })),
    check: free,
};

pub(super) const INTERVAL: Entry = Entry {
    name: "cnp.interval",
    about: "the least time between two marks of one scope that are answered",
    source: "DCQCN 3.1; IBTA volume 1 A17",
    fields: &[NIC],
    make: |of| Some(Measure::Nic(NicMeasure::Interval { port: of.name("port")? })),
    check: free,
};

pub(super) const FORMAT: Entry = Entry {
    name: "cnp.format",
    about: "every CNP is well formed: opcode, BECN, reserved bytes, DSCP, ECN field",
    source: "IBTA volume 1 A17",
    fields: &[NIC],
    make: |of| Some(Measure::Nic(NicMeasure::Format { port: of.name("port")? })),
    check: free,
};

pub(super) const COUNTERS: Entry = Entry {
    name: "nic.counters",
    about: "the NIC's counters",
    source: "what the wire shows",
    fields: &[NIC],
    make: |of| Some(Measure::Nic(NicMeasure::Counters { port: of.name("port")? })),
    check: free,
};
