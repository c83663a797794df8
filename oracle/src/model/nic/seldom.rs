//! What few queue pairs have: memory that atomic operations work on, messages of several kinds, and keys that they say.

use super::Verb;
use super::atomics::Atomics;
use super::requester::Requester;
use crate::model::packet::{Packet, PacketKind};
use std::collections::BTreeMap;

/// What few queue pairs have.
#[derive(Debug, Clone, Default)]
pub(super) struct Seldom {
    pub(super) atomics: Atomics,
    /// Where its messages are not all alike: those of a round, one after the other, which come again and again.
    pub(super) round: Vec<Kind>,
    /// Of messages that say a key, by how many packets are before them: the key, and whether their last packet says it in place of their first.
    keys: BTreeMap<u64, (u8, bool)>,
}

/// Messages of a kind that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) verb: Verb,
    /// Bytes, and packets, of a message.
    pub(super) message: u32,
    pub(super) packets: u32,
    /// How many there are.
    pub(super) messages: u32,
}

impl Kind {
    fn in_all(&self) -> u64 {
        u64::from(self.packets) * u64::from(self.messages)
    }
}

impl Seldom {
    /// Lets a requester know of which kind the packet is that it sends next.
    #[cold]
    #[inline(never)]
    pub(super) fn turn(&self, requester: &mut Option<Requester>) {
        let round: u64 = self.round.iter().map(Kind::in_all).sum();
        let Some(requester) = requester.as_mut().filter(|_| round > 0) else { return };
        // While nothing is to be sent it stays with what it sent last, which may be a READ that is under way.
        let Some(next) = requester.upcoming() else { return };
        let mut left = next % round;
        for kind in &self.round {
            if left < kind.in_all() {
                let place = u32::try_from(left % u64::from(kind.packets)).unwrap_or(0);
                return requester.takes_up(kind, place);
            }
            left -= kind.in_all();
        }
    }

    /// A message with so many packets before it says a key. `acked`: packets that need not be sent again.
    pub(super) fn says(&mut self, start: u64, acked: u64, key: u8, by_last: bool) {
        while self.keys.keys().nth(1).is_some_and(|second| *second <= acked) {
            self.keys.pop_first();
        }
        self.keys.insert(start, (key, by_last));
    }

    /// Lets the frame that a requester sends next say its key.
    pub(super) fn stamp(&self, requester: Option<&Requester>, frame: &mut Packet) {
        let Some((start, place)) = requester.map(Requester::stands) else { return };
        let Some(&(key, by_last)) = self.keys.get(&start) else { return };
        let asks = frame.kind == PacketKind::ReadRequest;
        let is_it = if by_last { frame.is_last() } else { place == 0 || asks };
        if is_it {
            *frame = frame.with_key(key);
        }
    }
}
