//! When the device polls: every poll interval from a phase on that the seed draws, later by what the jitter adds, and not every time.

use crate::model::chance::{self, Draws};
use rig_lab::{Pfcwd, PfcwdFaults};
use rig_units::{Dur, Time, Within};

/// The poll loop.
#[derive(Debug, Clone)]
pub(super) struct Polls {
    next: Time,
    late: Draws,
    skipped: Draws,
}

impl Polls {
    /// The first poll lies within one interval of the start.
    pub(super) fn new(seed: u64, config: &Pfcwd) -> Polls {
        let draws = |name| Draws::new(chance::stream(seed, name));
        Polls {
            next: Time::ZERO + draw(seed, PHASE, 0, Dur::ZERO, config.poll_interval),
            late: draws(JITTER),
            skipped: draws(SKIPPED),
        }
    }

    /// When the next poll is.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// Nothing is polled until then, and on from then in a phase of its own.
    pub(super) const fn wait(&mut self, until: Time) {
        self.next = until;
    }

    /// The next poll has happened.
    pub(super) fn advance(&mut self, config: &Pfcwd, faults: &PfcwdFaults) {
        let skipped = match faults.skips_polls {
            Some(always) => always,
            None => self.skipped.up_to(config.skipped_polls.unwrap_or(0)),
        };
        // A cycle that takes longer waits for the next whole interval, and wakes up late once.
        let late = self.late.next(config.jitter.unwrap_or(Within::ZERO));
        self.next += config.poll_interval * (u64::from(skipped) + 1) + late;
    }
}

/// Names of the draws, so that none moves the others.
const PHASE: [u8; 8] = *b"pw-phase";
const JITTER: [u8; 8] = *b"pwjitter";
const SKIPPED: [u8; 8] = *b"pw-skips";

/// The `index`-th draw under `name`: whole nanoseconds, uniform in `least..most`, or `least` where that is empty.
pub(super) fn draw(seed: u64, name: [u8; 8], index: u64, least: Dur, most: Dur) -> Dur {
    let steps = most.saturating_sub(least) / Dur::ns(1);
    let word = chance::draw(chance::stream(seed, name), index);
    let step = (u128::from(word) * u128::from(steps)) >> 64;
    least + Dur::ns(u64::try_from(step).unwrap_or(0))
}
