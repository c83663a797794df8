//! A queue pair: both sides of one connection, and the next frame that it has to send.

use super::Flow;
use super::atomics::Atomics;
use super::np::Answered;
use super::requester::Requester;
use super::responder::Responder;
use super::table::NOBODY;
use crate::model::packet::{Packet, PacketKind};
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
    ect: bool,
    /// Payload of a packet of what a READ is answered with.
    pub(super) mtu: u32,
    /// Its next frame, if it is ready to send one.
    pub(super) frame: Packet,
    pub(super) requester: Option<Requester>,
    pub(super) responder: Responder,
    /// Few connections have such operations: the others do not carry what they take.
    pub(super) atomics: Option<Box<Atomics>>,
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
            ect: false,
            mtu: USUAL_MTU,
            frame: Packet::data(stream, from, far, 0, 0, 0),
            requester: None,
            responder: Responder::default(),
            atomics: None,
            answered: None,
            limit: NOBODY,
            send_queue: NOBODY,
            after: NOBODY,
            is_queued: false,
        }
    }

    /// Takes on a flow.
    pub(super) fn start(&mut self, flow: &Flow) {
        (self.far, self.class, self.dscp, self.ect) = (flow.dst, flow.class, flow.dscp, flow.ect);
        self.requester = Some(Requester::new(flow));
        self.prepare();
    }

    /// Answers a request in its class, and as ECN-capable as it is.
    pub(super) const fn answer_like(&mut self, request: &Packet) {
        (self.far, self.class, self.dscp, self.ect) =
            (request.src, request.class, request.dscp, request.ect());
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
    #[inline]
    pub(super) fn prepare(&mut self) {
        if let Some(frame) = self.next() {
            self.frame = frame;
        }
    }

    /// Its next frame: what a READ is owed first.
    #[inline]
    fn next(&self) -> Option<Packet> {
        let packet = Packet::data(self.stream, self.from, self.far, self.class, self.dscp, 0);
        let mut packet = packet.with_ect(self.ect).with_record(true);
        if let Some(response) = self.responder.next(self.mtu) {
            (packet.seq, packet.size) = (response.psn, response.size);
            return Some(
                packet.with_place(response.is_first, response.is_last).with_response(true),
            );
        }
        let requester = self.requester.as_ref()?;
        let request = requester.next();
        if let Some(wanted) = request.wanted {
            let asks = Packet::read_request(self.stream, self.from, self.far, request.psn, wanted);
            let asks = asks.with_ect(self.ect).with_record(true);
            return Some(Packet {
                class: self.class,
                dscp: self.dscp,
                kind: PacketKind::ReadRequest,
                ..asks
            });
        }
        (packet.seq, packet.size) = (request.psn, request.size);
        let packet = packet.with_place(request.is_first, request.is_last);
        let packet = packet.with_tail(request.has_tail);
        Some(request.atomic.map_or(packet, |compare| packet.with_atomic(compare)))
    }

    /// That frame has left at `now`.
    #[inline]
    pub(super) fn sent(&mut self, now: Time) {
        if self.responder.owes() {
            self.responder.sent(self.mtu);
        } else if let Some(requester) = &mut self.requester {
            requester.sent(now);
        }
        self.prepare();
    }
}
