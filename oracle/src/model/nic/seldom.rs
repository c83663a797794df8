//! What few queue pairs have: memory that atomic operations work on, and messages of several kinds.

use super::Verb;
use super::atomics::Atomics;
use super::requester::Requester;

/// What few queue pairs have.
#[derive(Debug, Clone, Default)]
pub(super) struct Seldom {
    pub(super) atomics: Atomics,
    /// Where its messages are not all alike: those of a round, one after the other, which come again and again.
    pub(super) round: Vec<Kind>,
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
}
