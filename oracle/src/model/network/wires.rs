//! What moves frames: the present, the pending events, and the cables with what is under way on them.

use crate::model::link::{Link, Sent};
use crate::model::packet::Packet;
use crate::model::queue::Source;
use rig_units::Time;

/// The cables of a network and the events that are pending. The first source ids are the cables': their arrivals.
#[derive(Debug)]
pub(super) struct Wires<Q> {
    pub(super) now: Time,
    pub(super) queue: Q,
    /// Both directions of every cable; a link's number is twice its cable's, and one more for the second direction.
    pub(super) cables: Vec<[Link; 2]>,
    /// Events handled.
    pub(super) events: u64,
}

impl<Q> Wires<Q> {
    /// Puts a copy of a frame on a cable at `now`.
    #[inline(always)]
    pub(super) fn put(&mut self, link: u16, now: Time, packet: &Packet) -> Sent {
        self.link(link).send(now, packet)
    }

    /// A link by its number.
    #[inline]
    pub(super) fn link(&mut self, link: u16) -> &mut Link {
        &mut self.cables[usize::from(link >> 1)][usize::from(link & 1)]
    }

    /// The same, to look at.
    #[inline]
    pub(super) fn look(&self, link: u16) -> &Link {
        &self.cables[usize::from(link >> 1)][usize::from(link & 1)]
    }

    /// The frame whose last bit arrives now over a cable, if any.
    #[inline]
    pub(super) fn arrived(&self, link: Source) -> Option<&Packet> {
        self.look(link).arrived(self.now)
    }

    /// Takes the frame that arrived off its cable.
    #[inline]
    pub(super) fn finish(&mut self, link: Source) {
        self.link(link).finish();
    }
}
