//! The responder of a reliable connection, as a struct that frames go into and answers come out of (IBTA Vol 1, 9.7.4 and 9.7.5).
//! It takes packets in order alone, and answers each that asks for it.
//!
//! Left out: end-to-end credits; a receiver that is not ready, but for what it is told to [refuse](Responder::refuse); protection of memory, as there is none: what is read is the
//! pattern that the rig's payloads are made of. What an atomic finds is counted up from zero for the whole connection.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use rig_frames::ip::{Dscp, Ip};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{self, Msn, Nak, RnrTimer, Syndrome};
use rig_frames::roce::opcode::Payload;
use rig_frames::roce::{Ext, Opcode, Qpn, atomic_ack_eth, bth, reth};
use rig_frames::{MacAddr, ipv4, ipv6};
use std::collections::BTreeMap;

/// The two ends of a connection, and what they have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QpPair {
    /// Queue pair of the rig.
    pub own: Qpn,
    /// Queue pair of the peer.
    pub peer: Qpn,
    /// Number of the peer's first packet.
    pub peer_psn: Psn,
    /// Number of the rig's first packet.
    pub own_psn: Psn,
    /// Address of the rig.
    pub own_ip: IpAddr,
    /// Address of the peer.
    pub peer_ip: IpAddr,
    /// Bytes that a packet carries at most.
    pub mtu: u16,
}

impl QpPair {
    /// The way to the peer, between these Ethernet addresses.
    pub fn path(&self, own: MacAddr, peer: MacAddr) -> Path {
        let dscp = Dscp::new(0).expect("zero has six bits");
        let unspecified = Ipv4Addr::UNSPECIFIED;
        let path = Path::v4(own, peer, ipv4::Repr::udp(unspecified, unspecified, dscp));
        let ip = match (self.own_ip, self.peer_ip) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Ip::V4(ipv4::Repr::udp(src, dst, dscp)),
            (src, dst) => Ip::V6(ipv6::Repr::udp(in_six(src), in_six(dst), dscp)),
        };
        Path { ip, ..path }
    }
}

/// What a responder has taken, and how it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResponderCounts {
    /// Messages, each once.
    pub messages: u64,
    /// Bytes of payload that were written, each once, and that READs asked for.
    pub bytes: u64,
    /// Packets that were taken before.
    pub duplicates: u64,
    /// Packets ahead of the expected one that were answered by a NAK.
    pub out_of_sequence: u64,
    /// Packets behind such a one, until the expected one came.
    pub behind: u64,
}

/// The responder of one connection.
#[derive(Debug)]
pub struct Responder {
    ends: QpPair,
    expected: Psn,
    msn: Msn,
    /// Whether it has said that the expected packet is missing.
    said_so: bool,
    /// What atomics have found, by their sequence numbers: a duplicate gets the same answer.
    found: BTreeMap<u32, u64>,
    held: u64,
    /// Packets of which one is acknowledged; `None`: those that ask for it.
    every: Option<u16>,
    /// Packets taken since the last acknowledgement.
    since: u16,
    taken: ResponderCounts,
}

impl Responder {
    /// One that has taken nothing. It acknowledges one in `every` packets and the last of each message; `None`: those that ask for it.
    pub fn new(ends: QpPair, every: Option<u16>) -> Responder {
        let msn = Msn::new(0).expect("zero has 24 bits");
        Responder {
            ends,
            expected: ends.peer_psn,
            msn,
            said_so: false,
            found: BTreeMap::new(),
            held: 0,
            every,
            since: 0,
            taken: ResponderCounts::default(),
        }
    }

    /// The number that it expects next.
    pub const fn expects(&self) -> Psn {
        self.expected
    }

    /// What it has taken so far.
    pub const fn taken(&self) -> ResponderCounts {
        self.taken
    }

    /// Takes a request with a right ICRC; what it answers goes behind `out`.
    pub fn on(&mut self, frame: &RoceFrame, out: &mut Vec<RoceFrame>) {
        let psn = frame.bth.psn;
        match psn.ahead_of(self.expected) {
            Some(0) => self.take(frame, out),
            Some(_) if self.said_so => self.taken.behind += 1,
            Some(_) => {
                self.said_so = true;
                self.taken.out_of_sequence += 1;
                let nak = Syndrome::Nak(Nak::PsnSequenceError);
                out.push(self.answer(frame, Opcode::RcAcknowledge, self.expected, nak));
            }
            None => self.again(frame, out),
        }
    }

    /// What it says to the first packet of a message for which it is not ready: an RNR NAK. The packet is not taken.
    pub fn refuse(&self, frame: &RoceFrame, timer: RnrTimer) -> RoceFrame {
        self.answer(frame, Opcode::RcAcknowledge, frame.bth.psn, Syndrome::RnrNak(timer))
    }

    fn take(&mut self, frame: &RoceFrame, out: &mut Vec<RoceFrame>) {
        self.said_so = false;
        let psn = frame.bth.psn;
        match frame.ext {
            Ext::Reth(of) if frame.bth.opcode == Opcode::RcReadRequest => {
                self.complete();
                self.taken.bytes += u64::from(of.dma_len);
                self.expected = psn.advance(self.packets(&of));
                self.read(frame, &of, out);
            }
            Ext::Atomic(of) => {
                self.complete();
                self.taken.bytes += 8;
                self.expected = psn.advance(1);
                self.found.insert(psn.get(), self.held);
                self.held = match frame.bth.opcode {
                    Opcode::RcFetchAdd => self.held.wrapping_add(of.swap_or_add),
                    _ if self.held == of.compare => of.swap_or_add,
                    _ => self.held,
                };
                self.atomic(frame, out);
            }
            _ => {
                self.expected = psn.advance(1);
                self.taken.bytes += u64::from(frame.payload_len);
                let last = ends(frame.bth.opcode);
                if last {
                    self.complete();
                }
                self.since = self.since.saturating_add(1);
                let due = match self.every {
                    Some(every) => last || self.since >= every,
                    None => frame.bth.ack_req,
                };
                if due {
                    self.since = 0;
                    out.push(self.answer(frame, Opcode::RcAcknowledge, psn, Syndrome::ACK));
                }
            }
        }
    }

    /// Answers what was taken before: a READ and an atomic as the first time, all else by what is taken so far.
    fn again(&mut self, frame: &RoceFrame, out: &mut Vec<RoceFrame>) {
        self.taken.duplicates += 1;
        match frame.ext {
            Ext::Reth(of) if frame.bth.opcode == Opcode::RcReadRequest => {
                self.read(frame, &of, out);
            }
            Ext::Atomic(_) => self.atomic(frame, out),
            _ => {
                self.since = 0;
                let last = Psn::new(self.expected.get().wrapping_sub(1));
                out.push(self.answer(frame, Opcode::RcAcknowledge, last, Syndrome::ACK));
            }
        }
    }

    fn read(&self, frame: &RoceFrame, of: &reth::Repr, out: &mut Vec<RoceFrame>) {
        let count = self.packets(of);
        let mut left = of.dma_len;
        for index in 0..count {
            let (first, last) = (index == 0, index + 1 == count);
            let opcode = match (first, last) {
                (true, true) => Opcode::RcReadResponseOnly,
                (true, false) => Opcode::RcReadResponseFirst,
                (false, false) => Opcode::RcReadResponseMiddle,
                (false, true) => Opcode::RcReadResponseLast,
            };
            let mut response =
                self.answer(frame, opcode, frame.bth.psn.advance(index), Syndrome::ACK);
            if !first && !last {
                response.ext = Ext::Plain;
            }
            response.payload_len = u16::try_from(left).unwrap_or(u16::MAX).min(self.ends.mtu);
            left -= u32::from(response.payload_len);
            out.push(response);
        }
    }

    fn atomic(&self, frame: &RoceFrame, out: &mut Vec<RoceFrame>) {
        let psn = frame.bth.psn;
        let original = self.found.get(&psn.get()).copied().unwrap_or_default();
        let mut answer = self.answer(frame, Opcode::RcAtomicAcknowledge, psn, Syndrome::ACK);
        if let Ext::Aeth(aeth) = answer.ext {
            answer.ext = Ext::AethAtomicAck(aeth, atomic_ack_eth::Repr { original });
        }
        out.push(answer);
    }

    /// Packets of the response to a READ.
    fn packets(&self, of: &reth::Repr) -> u32 {
        of.dma_len.div_ceil(u32::from(self.ends.mtu)).max(1)
    }

    fn complete(&mut self) {
        self.taken.messages += 1;
        self.msn = Msn::new((self.msn.get() + 1) & Msn::MAX.get()).expect("it was cut to 24 bits");
    }

    /// An answer to `frame`, back the way that it came.
    fn answer(&self, frame: &RoceFrame, opcode: Opcode, psn: Psn, syndrome: Syndrome) -> RoceFrame {
        let bth = bth::Repr::new(opcode, self.ends.peer, psn);
        RoceFrame::new(back(frame), bth, Ext::Aeth(aeth::Repr { syndrome, msn: self.msn }))
    }
}

/// The way that a frame came, back.
pub(super) fn back(frame: &RoceFrame) -> Path {
    let mut path = frame.path;
    (path.src, path.dst) = (frame.path.dst, frame.path.src);
    match &mut path.ip {
        Ip::V4(ip) => (ip.src, ip.dst) = (ip.dst, ip.src),
        Ip::V6(ip) => (ip.src, ip.dst) = (ip.dst, ip.src),
    }
    path
}

/// An address in IPv6, as a GID has it (RFC 4291, 2.5.5.2).
pub(crate) const fn in_six(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

/// Whether a message of SEND or WRITE ends with this packet.
fn ends(opcode: Opcode) -> bool {
    match opcode.payload() {
        Payload::Tail | Payload::Any => true,
        Payload::None | Payload::Mtu => false,
    }
}
