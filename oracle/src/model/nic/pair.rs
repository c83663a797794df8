//! A queue pair: both sides of one connection, and the next frame that it has to send.

use super::Flow;
use super::np::Answered;
use super::requester::{Request, Requester};
use super::responder::{Responder, Response};
use super::seldom::Seldom;
use super::table::NOBODY;
use crate::model::host::at;
use crate::model::packet::{ATOMIC_SIZE, Packet, PacketKind, ip};
use rig_lab::{IpVersion, Rc, RcFaults};
use rig_units::Time;

/// Bytes of payload of a packet of a READ that nobody announced.
const USUAL_MTU: u32 = 4_096;

/// One queue pair of a NIC.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// The connection.
    pub(super) stream: u16,
    /// Of what it sends: the sender and the way there.
    from: u16,
    pub(super) far: u16,
    pub(super) class: u8,
    dscp: u8,
    /// The priority in the tag of what it sends.
    pcp: Option<u8>,
    /// Whether that goes over IPv6.
    is_v6: bool,
    ect: bool,
    /// Payload of a packet of what a READ is answered with.
    pub(super) mtu: u32,
    /// Its next frame, if it is ready to send one.
    pub(super) frame: Packet,
    pub(super) requester: Option<Requester>,
    pub(super) responder: Responder,
    /// What few connections have: the others do not carry what it takes.
    pub(super) seldom: Option<Box<Seldom>>,
    /// When a mark of it was answered last.
    pub(super) answered: Answered,
    /// Its limit; where it stands to wait for that, and who stands behind it.
    pub(super) limit: u16,
    pub(super) send_queue: u16,
    pub(super) after: u16,
    pub(super) is_queued: bool,
}

impl Pair {
    /// A queue pair that sends nothing.
    pub(super) fn new(stream: u16, from: u16, far: u16) -> Pair {
        Pair {
            stream,
            from,
            far,
            class: 0,
            dscp: 0,
            pcp: None,
            is_v6: false,
            ect: false,
            mtu: USUAL_MTU,
            frame: Packet::data(stream, from, far, 0, 0, 0),
            requester: None,
            responder: Responder::default(),
            seldom: None,
            answered: None,
            limit: NOBODY,
            send_queue: NOBODY,
            after: NOBODY,
            is_queued: false,
        }
    }

    /// Takes on a flow.
    pub(super) fn start(&mut self, flow: &Flow, rc: &Rc, faults: &RcFaults) {
        (self.far, self.class, self.dscp, self.ect) = (flow.dst, flow.class, flow.dscp, flow.ect);
        (self.pcp, self.is_v6) = (flow.pcp, flow.over == IpVersion::V6);
        if flow.gid != 0 {
            self.from = at(self.from, flow.gid);
        }
        let mut requester = Requester::new(flow, rc);
        requester.asks_ahead(faults.reads_ahead.unwrap_or(0));
        self.requester = Some(requester);
        self.prepare();
    }

    /// Answers a request in its class, and as ECN-capable as it is.
    pub(super) const fn answer_like(&mut self, request: &Packet, from_first_gid: bool) {
        (self.far, self.class, self.dscp, self.ect) =
            (request.sender(), request.class, request.dscp, request.ect());
        (self.pcp, self.is_v6) = (request.pcp(), request.is_v6());
        // It asked one of the NIC's addresses: that is where the answer comes from.
        if !from_first_gid {
            self.from = request.dst;
        }
    }

    /// Whether it has a frame to send.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.responder.owes() || self.requester.as_ref().is_some_and(Requester::is_ready)
    }

    /// Whether its next packet has been sent before.
    #[inline]
    pub(super) fn sends_again(&self) -> bool {
        self.requester.as_ref().is_some_and(Requester::sends_again)
    }

    /// Makes up its next frame; to be called whenever that may be another one.
    #[inline(never)]
    pub(super) fn prepare(&mut self) {
        self.make_up();
        if let Some(pcp) = self.pcp {
            self.frame = self.frame.tagged(pcp);
        }
        if self.is_v6 {
            self.frame = self.frame.over_v6();
        }
    }

    /// The address at which the other end is: of the version of IP that its frames go over.
    pub(super) const fn far_address(&self) -> u16 {
        ip::address(self.far, self.is_v6)
    }

    #[inline(always)]
    fn make_up(&mut self) {
        if self.responder.owes() {
            return self.prepare_response();
        }
        if self.seldom.is_some() {
            return self.prepare_seldom();
        }
        self.prepare_request();
    }

    /// The same where its messages are not all alike, or say something beside.
    #[cold]
    #[inline(never)]
    fn prepare_seldom(&mut self) {
        if let Some(seldom) = &self.seldom {
            seldom.turn(&mut self.requester);
        }
        self.prepare_request();
        if let Some(seldom) = &self.seldom {
            seldom.stamp(self.requester.as_ref(), &mut self.frame);
        }
    }

    /// The same of what its requester has to send.
    #[inline(always)]
    fn prepare_request(&mut self) {
        let Some(requester) = &self.requester else { return };
        let (psn, size, is_first, is_last, has_tail) = match requester.next() {
            Request::Data { psn, size, is_first, is_last, has_tail } => {
                (psn, size, is_first, is_last, has_tail)
            }
            other => return self.prepare_other(&other),
        };
        let packet = Packet::data(self.stream, self.from, self.far, self.class, self.dscp, size);
        let packet = packet.with_ect(self.ect).with_record(true);
        self.frame =
            Packet { seq: psn, ..packet }.with_place(is_first, is_last).with_tail(has_tail);
    }

    /// The same of what a READ is owed, which goes first.
    #[cold]
    #[inline(never)]
    fn prepare_response(&mut self) {
        let Some(Response { psn, size, is_first, is_last }) = self.responder.next(self.mtu) else {
            return;
        };
        let packet = Packet::data(self.stream, self.from, self.far, self.class, self.dscp, size);
        let packet = packet.with_ect(self.ect).with_record(true).with_response(true);
        self.frame = Packet { seq: psn, ..packet }.with_place(is_first, is_last);
    }

    /// The same of a request that brings nothing: it asks, or works on what is there.
    #[cold]
    #[inline(never)]
    fn prepare_other(&mut self, request: &Request) {
        let packet = match *request {
            Request::Data { .. } => return,
            Request::Read { psn, wanted } => Packet {
                class: self.class,
                dscp: self.dscp,
                kind: PacketKind::ReadRequest,
                ..Packet::read_request(self.stream, self.from, self.far, psn, wanted)
            },
            Request::Atomic { psn, compare } => {
                let (class, dscp) = (self.class, self.dscp);
                let data = Packet::data(self.stream, self.from, self.far, class, dscp, ATOMIC_SIZE);
                Packet { seq: psn, ..data }.with_place(true, true).with_atomic(compare)
            }
        };
        self.frame = packet.with_ect(self.ect).with_record(true);
    }

    /// Gives the first packet of a message no priority in its tag; a fault.
    pub(super) fn forget_priority(&mut self) {
        let is_data = self.frame.kind == PacketKind::Data && !self.frame.is_response();
        if self.frame.pcp().is_some() && self.frame.is_first() && is_data {
            self.frame = self.frame.with_pcp(Some(0));
        }
    }

    /// Gives a datagram another Q_Key; a fault.
    pub(super) fn mistake_key(&mut self) {
        if self.requester.as_ref().is_some_and(Requester::sends_datagrams) {
            self.frame = self.frame.with_other_key();
        }
    }

    /// That frame has left at `now`.
    #[inline(always)]
    pub(super) fn sent(&mut self, now: Time) {
        if self.responder.owes() {
            self.responder.sent(self.mtu);
        } else if let Some(requester) = &mut self.requester {
            requester.sent(now);
        }
        self.prepare();
    }
}
