//! What moves frames: the present, the pending events, and the cables with what is under way on them.

use super::Work;
use crate::model::link::{Link, Sent};
use crate::model::packet::{Kind, Packet};
use crate::model::queue::{EventQueue, Source};
use rig_units::Time;

/// The cables of a network and the events that are pending. The first source ids are the cables': their arrivals.
#[derive(Debug)]
pub(super) struct Wires<Q> {
    pub(super) now: Time,
    pub(super) queue: Q,
    pub(super) links: Vec<Link>,
    pub(super) work: Work,
}

impl<Q: EventQueue> Wires<Q> {
    /// Puts a copy of a frame on a cable.
    #[inline(always)]
    pub(super) fn put(&mut self, link: u16, packet: &Packet) -> Sent {
        self.work.count(packet.kind);
        let sent = self.links[usize::from(link)].send(self.now, packet);
        if let Some(at) = sent.wake {
            self.queue.push(at, link);
        }
        sent
    }

    /// Puts a copy of the frame that arrived over one cable on another.
    #[inline]
    pub(super) fn forward(&mut self, from: Source, to: u16) -> Option<Sent> {
        let packet = *self.arrived(from)?;
        Some(self.put(to, &packet))
    }

    /// The frame whose last bit arrives now over a cable, if any.
    #[inline]
    pub(super) fn arrived(&self, link: Source) -> Option<&Packet> {
        self.links[usize::from(link)].arrived(self.now)
    }

    /// Takes the frame that arrived off its cable.
    #[inline]
    pub(super) fn finish(&mut self, link: Source) {
        if let Some(at) = self.links[usize::from(link)].finish() {
            self.queue.push(at, link);
        }
    }
}

impl Work {
    #[inline]
    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Data => self.data_hops += 1,
            Kind::Ack => self.ack_hops += 1,
            Kind::Pfc => self.pfc_hops += 1,
        }
    }
}
