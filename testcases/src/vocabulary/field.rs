//! What a measure may be told: a key, what stands behind it, and whether it must.

use super::Wanted;

/// A key of a measure.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key, as it is written in a case.
    pub key: &'static str,
    /// What its value is.
    pub kind: ValueKind,
    /// Whether it must be there.
    pub need: Need,
    /// What it says, in one line.
    pub about: &'static str,
}

/// Whether a key must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must; the text says what belongs to it when it is missing.
    Required(&'static str),
    /// It may be left out.
    Optional,
}

/// What the value of a key is. Of a group each member has a measure of its own; of two groups, they are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A storm, or a group of them.
    Storm,
    /// A stream, or a group of them.
    Stream,
    /// A flow, or a group of them.
    Flow,
    /// A rig port, or several.
    Ports,
    /// A storm; of a group the first.
    OneStorm,
    /// A stream with `count: searched`; of a group the first.
    OneSearched,
    /// A rig port.
    OnePort,
    /// A list of streams.
    Streams,
    /// A stream, or a list of them.
    SomeStreams,
    /// A stream with `count: searched`, or a list of them.
    Searched,
    /// A list of at least two flows, each once.
    Flows,
    /// A traffic class.
    Class,
    /// A length of time.
    Duration,
    /// A length of time above zero.
    Interval,
    /// A length of time that may rest on a prediction or be swept.
    Amount,
    /// A rate of frames without what is around them.
    Rate,
    /// A part of something.
    Share,
    /// A whole number from 1 on; what it counts.
    Whole(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// How many frames are wanted, in one of these words.
    Wanted(&'static [(&'static str, Wanted)]),
    /// How many frames are wanted; 0 is `none`.
    Count,
    /// Two windows or more, each a mapping of `flows`, `from` and `until`.
    Windows,
}

impl ValueKind {
    /// Whether each of several is a measure of its own.
    pub const fn is_group(self) -> bool {
        matches!(self, ValueKind::Storm | ValueKind::Stream | ValueKind::Flow | ValueKind::Ports)
    }
}

/// A key that must be there.
pub const fn required(
    key: &'static str,
    kind: ValueKind,
    want: &'static str,
    about: &'static str,
) -> Field {
    Field { key, kind, need: Need::Required(want), about }
}

/// A key that may be left out.
pub const fn optional(key: &'static str, kind: ValueKind, about: &'static str) -> Field {
    Field { key, kind, need: Need::Optional, about }
}

/// A storm of the case, or a group of them.
pub const STORM: Field =
    required("storm", ValueKind::Storm, "a storm of the case", "the storm, or a group of them");
/// A stream of the case, or a group of them.
pub const STREAM: Field =
    required("stream", ValueKind::Stream, "a stream of the case", "the stream, or a group of them");
/// A load of the case, or a group of them.
pub const LOAD: Field =
    required("stream", ValueKind::Stream, "a load of the case", "the load, or a group of them");
/// A flow of the case, or a group of them.
pub const FLOW: Field =
    required("flow", ValueKind::Flow, "a flow of the case", "the flow, or a group of them");
/// The port of a switch.
pub const PORT: Field = required(
    "port",
    ValueKind::Ports,
    "the rig port at the other end",
    "the rig port at the other end",
);
/// The port of a NIC.
pub const NIC: Field = required(
    "port",
    ValueKind::Ports,
    "the rig port in front of the NIC",
    "the rig port in front of the NIC",
);
/// From when on.
pub const FROM: Field =
    required("from", ValueKind::Amount, "an instant of the trial", "from when on, since its start");
/// The end of the stretch that a measure looks at.
pub const UNTIL: Field =
    required("until", ValueKind::Amount, "an instant of the trial", "until when, since its start");

/// Flows that share a path, and when.
pub const WINDOW: [Field; 3] = [
    required(
        "flows",
        ValueKind::Flows,
        "the flows that share a path, such as [a, b]",
        "the flows: at least two, all that are under way",
    ),
    required(
        "from",
        ValueKind::Duration,
        "an instant of the trial, such as 30ms",
        "from when on, since its start",
    ),
    required(
        "until",
        ValueKind::Duration,
        "an instant of the trial, such as 30ms",
        "until when, since its start",
    ),
];
