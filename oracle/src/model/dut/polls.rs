//! When the device polls: every poll interval from a phase on that the seed draws, later by what the jitter adds.

use crate::model::chance;
use rig_lab::{Jitter, Pfcwd};
use rig_units::{Dur, Time};

/// The poll loop.
#[derive(Debug, Clone)]
pub(super) struct Polls {
    seed: u64,
    next: Time,
    done: u64,
}

impl Polls {
    /// The first poll lies within one interval of the start.
    pub(super) fn new(seed: u64, config: &Pfcwd) -> Polls {
        Polls {
            seed,
            next: Time::ZERO + draw(seed, PHASE, 0, Dur::ZERO, config.poll_interval),
            done: 0,
        }
    }

    /// When the next poll is.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// The next poll has happened.
    pub(super) fn advance(&mut self, config: &Pfcwd) {
        let (least, most) = match config.jitter {
            Jitter::None => (Dur::ZERO, Dur::ZERO),
            // What syncd's loop takes beside its sleep.
            Jitter::Tick => (Dur::us(50), Dur::us(1_100)),
        };
        self.done += 1;
        self.next += config.poll_interval + draw(self.seed, JITTER, self.done, least, most);
    }
}

/// Names of the two draws, so that neither moves the other.
const PHASE: [u8; 8] = *b"pw-phase";
const JITTER: [u8; 8] = *b"pwjitter";

/// The `index`-th draw under `name`: whole nanoseconds, uniform in `least..most`, or `least` where that is empty.
pub(super) fn draw(seed: u64, name: [u8; 8], index: u64, least: Dur, most: Dur) -> Dur {
    let steps = most.saturating_sub(least) / Dur::ns(1);
    let word = chance::draw(chance::stream(seed, name), index);
    let step = (u128::from(word) * u128::from(steps)) >> 64;
    least + Dur::ns(u64::try_from(step).unwrap_or(0))
}
