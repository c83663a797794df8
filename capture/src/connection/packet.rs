//! What a packet does on a reliable connection, by its opcode (IBTA Vol 1, 9.2 and 9.4).

use rig_frames::ip::{Ecn, Ip};
use rig_frames::packet::RoceFrame;
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::Syndrome;
use rig_frames::roce::opcode::{Opcode, Payload};
use rig_frames::roce::{Ext, Qpn};
use rig_units::Time;
use serde::Serialize;

/// What a requester asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// SEND, with or without immediate data or a key to revoke.
    Send,
    /// RDMA WRITE, with or without immediate data.
    Write,
    /// RDMA READ.
    Read,
    /// Compare and swap.
    CompareSwap,
    /// Fetch and add.
    FetchAdd,
}

impl Operation {
    /// What it is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Operation::Send => "SEND",
            Operation::Write => "WRITE",
            Operation::Read => "READ",
            Operation::CompareSwap => "compare and swap",
            Operation::FetchAdd => "fetch and add",
        }
    }
}

/// Which way a packet goes, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// From the requester; `last` is the one with which the message is complete.
    Request { operation: Operation, last: bool },
    /// From the responder.
    Answer(Answer),
    /// A congestion notification, of either.
    Notification,
}

/// What a responder sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// An acknowledgement, positive or not.
    Acknowledge,
    /// What an atomic operation found.
    Atomic,
    /// A packet of what a READ asked for; the first says when the answer came.
    Read { first: bool },
}

/// A packet, as far as a connection's books need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    pub(super) at: Time,
    pub(super) role: Role,
    pub(super) psn: Psn,
    pub(super) payload: u16,
    /// Whether the payload is the path MTU, as that of all packets of a message but the last is.
    pub(super) full: bool,
    /// Bytes that a READ asks for.
    pub(super) wanted: u32,
    pub(super) says: Option<Syndrome>,
    /// Messages that the responder says are complete.
    pub(super) complete: Option<u32>,
    /// The UDP port that it comes from.
    pub(super) udp_src: u16,
    /// Whether it asks for an acknowledgement.
    pub(super) asks: bool,
    pub(super) ce: bool,
    /// Whether it is as it was sent, by its ICRC: what is not is dropped by who receives it.
    pub(super) sound: bool,
}

impl Packet {
    /// `None` for services that acknowledge nothing.
    pub(super) fn of(at: Time, frame: &RoceFrame, sound: bool) -> Option<Packet> {
        let ecn = match &frame.path.ip {
            Ip::V4(ip) => ip.ecn,
            Ip::V6(ip) => ip.ecn,
        };
        let wanted = match &frame.ext {
            Ext::Reth(reth) => reth.dma_len,
            _ => 0,
        };
        Some(Packet {
            at,
            role: role(frame.bth.opcode)?,
            psn: frame.bth.psn,
            payload: frame.payload_len,
            full: frame.bth.opcode.payload() == Payload::Mtu,
            wanted,
            asks: frame.bth.ack_req,
            says: frame.ext.aeth().map(|aeth| aeth.syndrome),
            complete: frame.ext.aeth().map(|aeth| aeth.msn.get()),
            udp_src: frame.path.udp_src,
            ce: ecn == Ecn::Ce,
            sound,
        })
    }

    /// Whether it fills the path MTU, as all but the last packet of a message do.
    pub(super) fn is_request(&self) -> bool {
        matches!(self.role, Role::Request { .. })
    }

    /// How many sequence numbers a request takes: a READ those of its responses (IBTA Vol 1, 9.7.3). `None` where that depends on
    /// a path MTU that nobody knows; the least that there is are 256 bytes.
    pub(super) fn numbers(&self, mtu: Option<u32>) -> Option<u32> {
        const LEAST: u32 = 256;
        match (self.role, mtu) {
            (Role::Request { operation: Operation::Read, .. }, Some(mtu)) => {
                Some(self.wanted.div_ceil(mtu.max(1)).max(1))
            }
            (Role::Request { operation: Operation::Read, .. }, None) => {
                (self.wanted <= LEAST).then_some(1)
            }
            (Role::Request { .. } | Role::Answer(_) | Role::Notification, _) => Some(1),
        }
    }
}

/// The place of a flow: the rig's port, both addresses, and the queue pair that it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Flow {
    pub(super) port: u16,
    pub(super) src: core::net::IpAddr,
    pub(super) dst: core::net::IpAddr,
    pub(super) to: Qpn,
}

impl Flow {
    pub(super) fn of(port: u16, frame: &RoceFrame) -> Flow {
        let (src, dst) = match &frame.path.ip {
            Ip::V4(ip) => (ip.src.into(), ip.dst.into()),
            Ip::V6(ip) => (ip.src.into(), ip.dst.into()),
        };
        Flow { port, src, dst, to: frame.bth.dest_qp }
    }
}

fn role(opcode: Opcode) -> Option<Role> {
    let request = |operation, last| Some(Role::Request { operation, last });
    let answer = |answer| Some(Role::Answer(answer));
    match opcode {
        Opcode::RcSendFirst | Opcode::RcSendMiddle => request(Operation::Send, false),
        Opcode::RcSendLast
        | Opcode::RcSendLastImm
        | Opcode::RcSendOnly
        | Opcode::RcSendOnlyImm
        | Opcode::RcSendLastInvalidate
        | Opcode::RcSendOnlyInvalidate => request(Operation::Send, true),
        Opcode::RcWriteFirst | Opcode::RcWriteMiddle => request(Operation::Write, false),
        Opcode::RcWriteLast
        | Opcode::RcWriteLastImm
        | Opcode::RcWriteOnly
        | Opcode::RcWriteOnlyImm => request(Operation::Write, true),
        Opcode::RcReadRequest => request(Operation::Read, true),
        Opcode::RcCompareSwap => request(Operation::CompareSwap, true),
        Opcode::RcFetchAdd => request(Operation::FetchAdd, true),
        Opcode::RcReadResponseFirst | Opcode::RcReadResponseOnly => {
            answer(Answer::Read { first: true })
        }
        Opcode::RcReadResponseMiddle | Opcode::RcReadResponseLast => {
            answer(Answer::Read { first: false })
        }
        Opcode::RcAtomicAcknowledge => answer(Answer::Atomic),
        Opcode::RcAcknowledge => answer(Answer::Acknowledge),
        Opcode::Cnp => Some(Role::Notification),
        Opcode::UcSendFirst
        | Opcode::UcSendMiddle
        | Opcode::UcSendLast
        | Opcode::UcSendLastImm
        | Opcode::UcSendOnly
        | Opcode::UcSendOnlyImm
        | Opcode::UcWriteFirst
        | Opcode::UcWriteMiddle
        | Opcode::UcWriteLast
        | Opcode::UcWriteLastImm
        | Opcode::UcWriteOnly
        | Opcode::UcWriteOnlyImm
        | Opcode::UdSendOnly
        | Opcode::UdSendOnlyImm => None,
    }
}
