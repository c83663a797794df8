//! What a capture came to: every frame is accounted for.

use rig_units::Time;

/// Frames of a capture, or of one of its ports.
///
/// `sent + received = filtered_out + recorded + dropped + unwritten`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sent by the rig.
    pub sent: u64,
    /// Received by the rig.
    pub received: u64,
    /// Left out because nobody asked for their kind.
    pub filtered_out: u64,
    /// In the file.
    pub recorded: u64,
    /// Of these, cut to the snap length.
    pub cut_short: u64,
    /// Left out because the disk was too slow for them.
    pub dropped: u64,
    /// Left out because the file had ended.
    pub unwritten: u64,
    /// Lost at the port, before the capture could see them: not among those received.
    pub missed: u64,
}

impl Counts {
    /// Frames that passed the ports.
    pub const fn offered(&self) -> u64 {
        self.sent + self.received
    }

    /// Frames that should be in the file and are not.
    pub const fn lacking(&self) -> u64 {
        self.dropped + self.unwritten + self.missed
    }

    pub(super) const fn plus(self, other: Counts) -> Counts {
        Counts {
            sent: self.sent + other.sent,
            received: self.received + other.received,
            filtered_out: self.filtered_out + other.filtered_out,
            recorded: self.recorded + other.recorded,
            cut_short: self.cut_short + other.cut_short,
            dropped: self.dropped + other.dropped,
            unwritten: self.unwritten + other.unwritten,
            missed: self.missed + other.missed,
        }
    }
}

/// What a capture came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// All ports together.
    pub counts: Counts,
    /// The time of the first frame for which the disk was too slow.
    pub dropped_from: Option<Time>,
    /// Why the file ends before the capture did.
    pub ended: Option<Ended>,
    /// How many bytes of whole blocks were written.
    pub bytes: u64,
}

/// The end of a file before the end of its capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The time of the first frame that is not in it.
    pub at: Time,
    /// What ended it.
    pub why: Why,
}

/// Why a file ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// As many bytes were written as may be.
    Limit,
    /// The disk took no more, in the words of the system. Behind the whole blocks there may be a piece of one.
    Refused(String),
}
