//! One frame at one rig port, as a small value. It becomes bytes only in a file or on a wire.

use rig_units::{Bytes, Quanta, Time};

/// Which way a frame passed the rig's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dir {
    /// Sent by the rig.
    Tx,
    /// Received by the rig.
    Rx,
}

/// A frame that passed a rig port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When its last bit passed, from the start of the trial.
    pub at: Time,
    /// The rig port.
    pub port: u16,
    /// Which way.
    pub dir: Dir,
    /// What it was.
    pub what: What,
}

/// What a frame was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A frame of a stream of the script.
    Data {
        /// Index of the stream in the script.
        stream: u16,
        /// Its number in the stream, from 0.
        seq: u32,
        /// Size, FCS counted.
        size: u16,
        /// ECN congestion experienced.
        ce: bool,
    },
    /// Priority flow control.
    Pfc {
        /// Class-enable vector: bit `c` is class `c`.
        enable: u8,
        /// Pause time of each class, enabled or not.
        quanta: [Quanta; 8],
    },
    /// Anything else, by size.
    Other {
        /// Size, FCS counted.
        size: Bytes,
    },
}

impl What {
    /// The pause time that this frame asks of `class`; `None` when it does not address it.
    pub fn pauses(&self, class: u8) -> Option<Quanta> {
        match self {
            What::Pfc { enable, quanta } if enable >> class & 1 == 1 => {
                Some(quanta[usize::from(class)])
            }
            What::Pfc { .. } | What::Data { .. } | What::Other { .. } => None,
        }
    }
}

/// A frame in the evidence, for people: its number in the trial's file, counted from one as Wireshark does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameRef(pub u64);
