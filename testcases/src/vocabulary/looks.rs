//! What a measure needs of a case: what must have been recorded, and whose senders must obey PFC.

use crate::case::{Case, Stream};
use crate::{Measure, Tap};

/// Some of a case's streams.
pub type Pick = for<'a> fn(&'a Measure, &'a Case) -> Vec<&'a str>;

/// The streams that a measure names.
pub fn named<'a>(measure: &'a Measure, _: &'a Case) -> Vec<&'a str> {
    measure.streams()
}

/// Frames that must have been recorded for a measure.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    /// Where.
    pub at: RecordedAt,
    /// The least that must be recorded there.
    pub tap: Tap,
    /// What it does with them, behind its name; `{}` stands for the stream.
    pub what: &'static str,
    /// The key of the stream that a case is pointed at which says nothing of the port's tap; empty for the whole stream.
    pub key: &'static str,
}

/// Ports at which something must have been recorded.
#[derive(Debug, Clone, Copy)]
pub enum RecordedAt {
    /// Those of some streams.
    Of(Pick, StreamEnds),
    /// Those that the measure names, and those behind which its flows and streams begin or end at a NIC.
    Named,
}

/// StreamEnds of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnds {
    /// Where it enters the device.
    In,
    /// Where it leaves it.
    Out,
    /// Both.
    Both,
}

impl Looks {
    /// The frames of the streams that it names, followed from port to port.
    pub const FOLLOWS: Looks = Looks::follows(named);
    /// Every frame at the ports that it names, or behind which its flows are.
    pub const EVERY_FRAME: Looks =
        Looks { at: RecordedAt::Named, tap: Tap::All, what: "looks at every frame", key: "" };
    /// PFC at the port that it names.
    pub const PFC: Looks =
        Looks { at: RecordedAt::Named, tap: Tap::Pfc, what: "looks at the PFC frames", key: "" };

    /// The frames of some streams, followed from port to port.
    pub const fn follows(pick: Pick) -> Looks {
        Looks::of(pick, StreamEnds::Both, Tap::Sampled, "follows the frames of `{}`")
    }

    /// Frames of some streams.
    pub const fn of(pick: Pick, ends: StreamEnds, tap: Tap, what: &'static str) -> Looks {
        Looks { at: RecordedAt::Of(pick, ends), tap, what, key: "" }
    }
}

impl StreamEnds {
    /// The rig's ports at these ends of a stream.
    pub fn of(self, stream: &Stream) -> Vec<&str> {
        let (from, to) = (stream.from.as_str(), stream.to.as_str());
        match self {
            StreamEnds::In => vec![from],
            StreamEnds::Out => vec![to],
            StreamEnds::Both => vec![from, to],
        }
    }
}

/// Whose senders bear on what a measure is held against.
#[derive(Debug, Clone, Copy)]
pub enum Senders {
    /// Nobody's.
    Any,
    /// Those of these streams, who must obey PFC, and in time.
    Obey(Pick),
    /// Those of these streams: who obeys PFC must do so in time. What a port carries of a full queue is its share whatever becomes
    /// of the rest; a late sender leaves it idle.
    InTime(Pick),
}
