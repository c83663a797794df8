//! What a NIC sends ahead of data: CNPs, NAKs and acknowledgements, each from an instant on.

use crate::model::packet::Packet;
use crate::model::ring::Ring;
use rig_units::Time;

/// The frames that wait. Of those that are ready the one goes first that has been so longest; a CNP before a NAK before an
/// acknowledgement where they are equal.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    rings: [Ring; 3],
    /// When the first one is ready, and in which ring it is.
    next: (Time, usize),
}

/// The rings, in the order in which they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Cnp = 0,
    Nak = 1,
    Ack = 2,
}

impl Default for Answers {
    fn default() -> Answers {
        Answers { rings: Default::default(), next: (Time::MAX, 0) }
    }
}

impl Answers {
    /// Lets a frame wait until `at`.
    #[inline(always)]
    pub(super) fn push(&mut self, what: Answer, at: Time, packet: &Packet) {
        let ring = what as usize;
        self.rings[ring].push(packet).at = at;
        if self.rings[ring].len() == 1 {
            self.next = self.next.min((at, ring));
        }
    }

    /// Lets an acknowledgement that waits until `at` or longer say what this one would; whether there is one of the same queue pair.
    pub(super) fn coalesces(&mut self, at: Time, ack: &Packet) -> bool {
        let waits = self.rings[Answer::Ack as usize].last_of(ack.stream);
        let Some(waits) = waits.filter(|waits| waits.at >= at) else { return false };
        *waits = Packet { at: waits.at, ..*ack };
        true
    }

    /// When the first one is ready; [`Time::MAX`] if none waits.
    #[inline]
    pub(super) const fn next(&self) -> Time {
        self.next.0
    }

    /// The first one.
    #[inline]
    pub(super) fn front(&self) -> Option<&Packet> {
        self.rings[self.next.1].front()
    }

    /// The same, to change.
    pub(super) fn front_mut(&mut self) -> Option<&mut Packet> {
        self.rings[self.next.1].front_mut()
    }

    /// Forgets the first one.
    #[inline(always)]
    pub(super) fn drop_front(&mut self) {
        self.rings[self.next.1].drop_front();
        let at = |ring: &Ring| ring.front().map_or(Time::MAX, |packet| packet.at);
        let [cnp, nak, ack] = &self.rings;
        self.next = (at(cnp), 0).min((at(nak), 1)).min((at(ack), 2));
    }

    /// Forgets all of them: the link went down.
    pub(super) fn clear(&mut self) {
        *self = Answers::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_ready_first_goes_first_and_a_cnp_before_its_equals() {
        let mut answers = Answers::default();
        let named = |stream| Packet::data(stream, 0, 1, 0, 0, 66);
        answers.push(Answer::Ack, Time(5), &named(1));
        answers.push(Answer::Ack, Time(7), &named(2));
        answers.push(Answer::Nak, Time(7), &named(3));
        answers.push(Answer::Cnp, Time(7), &named(4));
        let order: Vec<u16> = core::iter::from_fn(|| {
            let stream = answers.front()?.stream;
            answers.drop_front();
            Some(stream)
        })
        .collect();
        assert_eq!(order, [1, 4, 3, 2]);
        assert_eq!(answers.next(), Time::MAX);
    }
}
