//! Reliable connections: what both ends do about what is lost.

use super::field::{FLOW, optional};
use super::{Entry, Kind, free};
use crate::{Measure, NicMeasure};

pub(super) const RECEIVER: Entry = Entry {
    name: "rc.receiver",
    about: "what a NIC acknowledges, and how it asks for what is missing",
    source: "IBTA volume 1, chapter 9.7.5 and 9.9",
    fields: &[
        optional("stream", Kind::Stream, "the stream that it receives, or `flow`"),
        optional("flow", Kind::Flow, "the flow that it receives, or `stream`"),
    ],
    make: |of| {
        let of = of.name("stream").or_else(|| of.name("flow"))?;
        Some(Measure::Nic(NicMeasure::Receiver { of }))
    },
    check: |given| {
        let one = given.says("stream") != given.says("flow");
        if !one {
            given.at.fault("a receiver of nothing, or of two things", "`stream:` or `flow:`");
        }
        one
    },
};

pub(super) const COMPLETION: Entry = Entry {
    name: "rc.completion",
    about: "every message of a flow is acknowledged, and by when; of a READ, brought",
    source: "IBTA volume 1, chapter 9.7",
    fields: &[
        FLOW,
        optional("by", Kind::Duration, "when the last one has to be; absent: at the trial's end"),
        optional(
            "unfinished",
            Kind::Whole("a number of messages"),
            "how many messages never are, where the case is about that",
        ),
    ],
    make: |of| {
        let (by, unfinished) = (of.dur("by"), of.whole("unfinished").unwrap_or(0));
        Some(Measure::Nic(NicMeasure::Completion { flow: of.name("flow")?, by, unfinished }))
    },
    check: free,
};

pub(super) const SENDER: Entry = Entry {
    name: "rc.sender",
    about: "what a NIC sends after a NAK or none (go-back-N)",
    source: "IBTA volume 1, chapter 9.7.5 and 9.9",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Sender { flow: of.name("flow")? })),
    check: free,
};
