//! A frame as the model handles it: a small value that is copied, never shared.

use rig_capture::PfcFault;
use rig_units::{Quanta, Time};

pub(crate) mod ip;
mod roce;
mod tag;
mod vlan;
pub use roce::{
    ACK_SIZE, AETH, ATOMIC_ACK_SIZE, ATOMIC_SIZE, CNP_SIZE, DETH, READ_REQUEST_SIZE, RETH,
    ROCE_OVERHEAD, TAIL_SIZE,
};
pub use tag::Tag;

/// Number of priorities, traffic classes, queues and priority groups of a port.
pub const CLASSES: usize = 8;

/// Index of a class into an array of [`CLASSES`].
#[inline]
pub(crate) const fn slot(class: u8) -> usize {
    (class & 7) as usize
}

/// The one bit that stands for `class` in a mask of classes.
#[inline]
pub(crate) const fn bit(class: u8) -> u8 {
    1 << (class & 7)
}

/// What a frame is to the model; its format on the wire is the business of whoever turns it into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// A stream's frame.
    Data,
    /// A receiver's answer to one frame of data.
    Ack,
    /// Priority flow control (IEEE 802.1Q clause 36); never forwarded.
    Pfc,
    /// A NIC's answer to a hole in the sequence: names the number that it expects.
    Nak,
    /// A congestion notification (RoCEv2, IBTA annex A17).
    Cnp,
    /// A request for data that come back as frames of data.
    ReadRequest,
    /// An answer to a message for which there is no buffer: names its first number, and how long to wait (RNR NAK).
    NotReady,
}

impl PacketKind {
    /// How many kinds there are; each as a number is below.
    pub(crate) const COUNT: usize = PacketKind::NotReady as usize + 1;
}

/// A frame.
///
/// On the path of a frame it is copied as a whole, from one ring to the next, and changed only where it then lies: a
/// value that is changed in parts and copied right afterwards stalls the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(32))]
pub struct Packet {
    /// While on a cable: when its last bit arrives. While inside a switch: when it may leave at the earliest.
    pub(crate) at: Time,
    /// Counts the frames of a stream from 0; an ACK repeats the number of its frame. Of frames of NICs it is the packet
    /// sequence number, of 24 bits: a NIC looks at no more of it. Above it stands the key that a frame of an application says.
    pub seq: u32,
    /// The stream it belongs to. Of frames of NICs it names the connection, whichever way they go.
    pub stream: u16,
    /// Size in bytes, FCS counted.
    pub size: u16,
    /// The host that sent it, at one of its addresses, of one version of IP.
    pub src: u16,
    /// The host it goes to.
    pub dst: u16,
    /// Ingress port within the switch that holds it.
    pub(crate) ingress: u16,
    /// PFC: pause time of every class that is enabled and not zero.
    pub quanta: Quanta,
    /// What it is.
    pub kind: PacketKind,
    /// The sender's priority: its PFC class.
    pub class: u8,
    /// DSCP, 0 to 63: what a switch classifies by.
    pub dscp: u8,
    /// PFC: bit `c` is set when class `c` is addressed.
    pub enable: u8,
    /// PFC: the addressed classes whose pause time is zero (XON).
    pub zero: u8,
    /// Traffic class within the switch that holds it: its queue and its priority group.
    pub(crate) tc: u8,
    pub(crate) marks: u8,
    /// What RoCE frames have beside; see [`roce`].
    pub(crate) roce: u8,
}

const _: () = assert!(size_of::<Packet>() == 32, "two of them share a cache line");

const ECT: u8 = 1;
const CE: u8 = 2;
const RECORD: u8 = 4;
/// Three marks from this bit on tell what is wrong with a PFC frame: 0 for nothing, else the fault's place in the list and one. In
/// any other frame they are the priority of its 802.1Q tag. The marks above them are those of SecTAG and 802.1Q tag.
const FAULT: u32 = 3;

impl Packet {
    /// A frame of data, not ECN-capable and not marked for recording.
    pub const fn data(stream: u16, src: u16, dst: u16, class: u8, dscp: u8, size: u16) -> Packet {
        Packet {
            at: Time::ZERO,
            seq: 0,
            stream,
            size,
            src,
            dst,
            ingress: 0,
            quanta: Quanta(0),
            kind: PacketKind::Data,
            class,
            dscp,
            enable: 0,
            zero: 0,
            tc: 0,
            marks: 0,
            roce: 0,
        }
    }

    /// A PFC frame for the classes in `enable`: time zero for those in `zero`, `quanta` for the others.
    pub const fn pfc(enable: u8, zero: u8, quanta: Quanta, size: u16) -> Packet {
        let mut packet = Packet::data(0, 0, 0, 7, 0, size);
        packet.kind = PacketKind::Pfc;
        packet.enable = enable;
        packet.zero = zero & enable;
        packet.quanta = quanta;
        packet
    }

    /// The same PFC frame with a fault of format.
    pub fn with_fault(mut self, fault: PfcFault) -> Packet {
        let number = (1..).zip(PfcFault::ALL).find(|&(_, known)| known == fault);
        self.marks |= number.map_or(0, |(number, _): (u8, _)| number << FAULT);
        self.size += u16::from(fault == PfcFault::Size);
        self
    }

    /// The answer to this frame: back to its sender, with its class, number and congestion mark.
    pub(crate) const fn ack(&self, size: u16) -> Packet {
        let (src, dst) = (self.dst, self.sender());
        let mut packet = Packet::data(self.stream, src, dst, self.class, self.dscp, size);
        packet.kind = PacketKind::Ack;
        packet.seq = self.seq;
        packet.marks = self.marks & (ECT | CE | RECORD);
        packet
    }

    /// The same frame, ECN-capable or not.
    pub const fn with_ect(mut self, ect: bool) -> Packet {
        self.marks = if ect { self.marks | ECT } else { self.marks & !ECT };
        self
    }
    /// The same frame, with or without the congestion mark.
    pub const fn with_ce(mut self, ce: bool) -> Packet {
        self.marks = if ce { self.marks | CE } else { self.marks & !CE };
        self
    }
    /// The same frame, wanted by recorders or not.
    pub const fn with_record(mut self, record: bool) -> Packet {
        self.marks = if record { self.marks | RECORD } else { self.marks & !RECORD };
        self
    }
    /// Whether it is ECN-capable.
    pub const fn ect(&self) -> bool {
        self.marks & ECT != 0
    }
    /// Whether it met congestion.
    pub const fn ce(&self) -> bool {
        self.marks & CE != 0
    }
    /// What is wrong with the format of this PFC frame.
    pub fn fault(&self) -> Option<PfcFault> {
        if self.kind != PacketKind::Pfc {
            return None;
        }
        let number = usize::from(self.marks >> FAULT & 7);
        PfcFault::ALL.get(number.checked_sub(1)?).copied()
    }
    /// Whether its stream asks for it to be recorded.
    pub const fn record(&self) -> bool {
        self.marks & RECORD != 0
    }
}
