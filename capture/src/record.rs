//! One frame at one rig port, as a small value. It becomes bytes only in a file or on a wire.

use crate::blue_rdma;
use rig_frames::vlan;
use rig_testcases::{PfcOdd, Roce, Secured};
use rig_units::{Bytes, MIN_FRAME, Quanta, Time};

/// Of a load, the frames whose number is a multiple of this are recorded, each when it is sent and when it is received;
/// others are recorded around events only. So the fate of one frame in so many is known, whatever becomes of the rest.
pub const SAMPLE: u32 = 64;

/// Which way a frame passed the rig's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dir {
    /// Sent by the rig.
    Tx,
    /// Received by the rig.
    Rx,
}

/// A frame that passed a rig port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// When its last bit passed, from the start of the trial.
    pub at: Time,
    /// The rig port.
    pub port: u16,
    /// Which way.
    pub dir: Dir,
    /// What it was.
    pub what: What,
    /// How MACsec protected it; `None`: not at all. What it was is what it said in clear.
    pub secured: Option<Secured>,
    /// The 802.1Q tag that it carried, of a frame of a stream or a connection; `None`: it carried none.
    pub vlan: Option<vlan::Repr>,
}

/// What a frame was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// A PFC frame that breaks its format, and so pauses nothing.
    BadPfc {
        /// The first thing that is wrong with it.
        fault: PfcFault,
        /// Class-enable vector, as far as there is one.
        enable: u8,
        /// Pause time of each class, as far as there is one.
        quanta: [Quanta; 8],
    },
    /// A frame of a reliable connection of a NIC, but for the data of the rig's own streams.
    Roce(Roce),
    /// A frame between two NICs of blue-rdma.
    BlueRdma(blue_rdma::Frame),
    /// Anything else, by size.
    Other {
        /// Size, FCS counted.
        size: Bytes,
    },
}

impl Record {
    /// Size of the frame as it travelled, FCS counted.
    pub fn on_wire(&self) -> Bytes {
        let overhead = self.secured.map_or(0, |secured| secured.overhead());
        self.what.size() + Bytes(overhead.into())
    }
}

impl What {
    /// Size of the frame, FCS counted.
    pub fn size(&self) -> Bytes {
        match self {
            What::Data { size, .. }
            | What::Roce(Roce { size, .. })
            | What::BlueRdma(blue_rdma::Frame { size, .. }) => Bytes(u64::from(*size)),
            What::BadPfc { fault: PfcFault::Size, .. } => MIN_FRAME + Bytes(1),
            What::Pfc { .. } | What::BadPfc { .. } => MIN_FRAME,
            What::Other { size } => *size,
        }
    }

    /// The connection that it is of, of a frame of a NIC.
    pub const fn connection(&self) -> Option<u16> {
        match self {
            What::Roce(roce) => Some(roce.connection),
            What::BlueRdma(frame) => Some(frame.connection),
            What::Data { .. } | What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
        }
    }

    /// The pause time that this frame asks of `class`; `None` when it does not address it.
    pub fn pauses(&self, class: u8) -> Option<Quanta> {
        match self {
            What::Pfc { enable, quanta } if enable >> class & 1 == 1 => {
                Some(quanta[usize::from(class)])
            }
            What::Pfc { .. }
            | What::Data { .. }
            | What::Roce(_)
            | What::BlueRdma(_)
            | What::BadPfc { .. }
            | What::Other { .. } => None,
        }
    }
}

impl Record {
    /// The pause time that whoever gets this frame is asked for in `class`; `None` when it does not address it. One of the rig's may have
    /// a source of zero: no standard says what the source of PFC has to be.
    pub fn pauses(&self, class: u8) -> Option<Quanta> {
        let odd = match self.what {
            What::BadPfc { fault: PfcFault::Source, enable, quanta } if self.dir == Dir::Tx => {
                (enable >> class & 1 == 1).then(|| quanta[usize::from(class)])
            }
            _ => None,
        };
        self.what.pauses(class).or(odd)
    }
}

/// What is wrong with a PFC frame: the first fault, in the order of the frame (IEEE 802.3 Annex 31D, IEEE 802.1Q
/// clause 36).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PfcFault {
    /// The destination is not 01:80:c2:00:00:01.
    Destination,
    /// The source is a group address or zero.
    Source,
    /// It is tagged.
    Tagged,
    /// Bits 8 to 15 of the class-enable vector are not zero.
    Reserved,
    /// It is cut short, or its padding is not zero.
    Padding,
    /// It is not 64 bytes long, FCS counted.
    Size,
}

impl PfcFault {
    /// All of them, in order.
    pub const ALL: [PfcFault; 6] = [
        PfcFault::Destination,
        PfcFault::Source,
        PfcFault::Tagged,
        PfcFault::Reserved,
        PfcFault::Padding,
        PfcFault::Size,
    ];

    /// The one that a frame has which is sent so.
    pub const fn of(odd: PfcOdd) -> Option<PfcFault> {
        match odd {
            PfcOdd::No => None,
            PfcOdd::NoSource => Some(PfcFault::Source),
            PfcOdd::ToAll => Some(PfcFault::Destination),
        }
    }
}

/// A frame in the evidence, for people: its number in the trial's file, counted from one as Wireshark does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameRef(pub u64);
