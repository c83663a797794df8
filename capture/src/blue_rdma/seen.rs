//! A packet as far as the books need it.

use rig_frames::blue_rdma::{Author, Datagram, Ext, Header};
use rig_frames::ip::Ecn;
use rig_frames::roce::Opcode;
use rig_units::Time;
use serde::Serialize;

/// What a message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Posted {
    /// SEND, which is placed as a WRITE is.
    Send,
    /// RDMA WRITE.
    Write,
    /// A request for an RDMA READ.
    ReadRequest,
    /// What the driver answers it with, as if it were a WRITE.
    ReadResponse,
}

impl Posted {
    /// What it is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Posted::Send => "SEND",
            Posted::Write => "WRITE",
            Posted::ReadRequest => "READ request",
            Posted::ReadResponse => "READ response",
        }
    }
}

/// Where in its message a packet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    First,
    Middle,
    Last,
    Only,
}

/// A packet that passed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) at: Time,
    pub(super) header: Header,
    pub(super) payload: u64,
    pub(super) src_port: u16,
    pub(super) ce: bool,
    pub(super) sound: bool,
    /// Whether something reserved or unused is not zero.
    pub(super) unlike: bool,
    /// Whether the datagram is a multiple of four bytes long, as all of RoCEv2 are.
    fours: bool,
}

impl Seen {
    pub(super) fn of(at: Time, datagram: &Datagram<'_>, header: Header, payload: &[u8]) -> Seen {
        Seen {
            at,
            header,
            payload: u64::try_from(payload.len()).unwrap_or(u64::MAX),
            src_port: datagram.src_port,
            ce: datagram.ecn == Ecn::Ce,
            sound: datagram.sound,
            unlike: !datagram.bytes.starts_with(&header.emit()),
            fours: datagram.bytes.len().is_multiple_of(4),
        }
    }

    /// What its opcode says.
    pub(super) fn posted(&self) -> Option<(Posted, Stands)> {
        posted(self.header.bth.opcode)
    }

    /// Whether no packet of RoCEv2 is as long as it: those are multiples of four bytes long.
    pub(super) fn is_unlike_roce(&self) -> bool {
        !self.fours
    }

    /// Whether its RETH says how long the payload is, as that of RoCEv2's, if there is one, cannot.
    pub(super) fn says_its_length(&self) -> bool {
        !matches!(self.posted(), Some((_, Stands::First)))
    }

    /// Whether a receiver's hardware sets its bit: a request for a READ, or a message of nothing without immediate data, has no bit.
    pub(super) fn is_marked(&self) -> bool {
        let immediate = matches!(self.header.ext, Ext::RethImm(..));
        self.payload > 0 || (immediate && matches!(self.posted(), Some((_, Stands::Only))))
    }

    /// Whether the driver wrote it, by its length or by what it says of itself.
    pub(super) fn by_driver(&self) -> bool {
        let says = matches!(self.header.ext, Ext::Ack(ack) if ack.by_driver);
        says || self.header.author == Author::Driver
    }
}

/// What message a packet with this opcode is of, and where in it; `None` of what a receiver says.
pub(super) fn posted(opcode: Opcode) -> Option<(Posted, Stands)> {
    let send = |stands| Some((Posted::Send, stands));
    let write = |stands| Some((Posted::Write, stands));
    let response = |stands| Some((Posted::ReadResponse, stands));
    match opcode {
        Opcode::RcSendFirst => send(Stands::First),
        Opcode::RcSendMiddle => send(Stands::Middle),
        Opcode::RcSendLast | Opcode::RcSendLastImm | Opcode::RcSendLastInvalidate => {
            send(Stands::Last)
        }
        Opcode::RcSendOnly | Opcode::RcSendOnlyImm | Opcode::RcSendOnlyInvalidate => {
            send(Stands::Only)
        }
        Opcode::RcWriteFirst => write(Stands::First),
        Opcode::RcWriteMiddle => write(Stands::Middle),
        Opcode::RcWriteLast | Opcode::RcWriteLastImm => write(Stands::Last),
        Opcode::RcWriteOnly | Opcode::RcWriteOnlyImm => write(Stands::Only),
        Opcode::RcReadRequest => Some((Posted::ReadRequest, Stands::Only)),
        Opcode::RcReadResponseFirst => response(Stands::First),
        Opcode::RcReadResponseMiddle => response(Stands::Middle),
        Opcode::RcReadResponseLast => response(Stands::Last),
        Opcode::RcReadResponseOnly => response(Stands::Only),
        _ => None,
    }
}
