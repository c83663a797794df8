//! Lazy accounting: what a group took of the pool within the last so many picoseconds is not in the count that its limit is held against. Its
//! cells are taken, and the pool is as much smaller, at once; so does all count that leaves, whichever frames those were.

use super::{Config, Place};
use crate::model::chance::{self, Draws};
use crate::model::packet::{CLASSES, slot};
use rig_units::{Dur, Time, Within};
use std::collections::VecDeque;

/// What came so lately that it does not count yet, group by group.
#[derive(Debug, Clone)]
pub(super) struct Lazy {
    delay: Dur,
    now: Time,
    groups: Vec<[Recent; CLASSES]>,
}

/// What one group took of the pool, and when: the last of it at the end.
#[derive(Debug, Clone, Default)]
struct Recent {
    came: VecDeque<(Time, u64)>,
    sum: u64,
}

impl Lazy {
    /// That of a buffer whose frames do not all count at once.
    pub(super) fn of(config: &Config, ports: usize) -> Option<Lazy> {
        let delay = Draws::new(chance::stream(config.seed, *b"mmu-late")).next(config.delay);
        let lazy = config.delay != Within::ZERO && !config.voqs;
        let groups = || (0..ports).map(|_| Default::default()).collect();
        lazy.then(|| Lazy { delay, now: Time::ZERO, groups: groups() })
    }

    pub(super) const fn at(&mut self, now: Time) {
        self.now = now;
    }

    /// How many bytes of the group of a frame do not count yet.
    pub(super) fn uncounted(&mut self, place: Place) -> u64 {
        let (now, delay) = (self.now, self.delay);
        let recent = self.group(place);
        while let Some(&(came, bytes)) = recent.came.front() {
            if now < came + delay {
                break;
            }
            recent.sum -= bytes;
            recent.came.pop_front();
        }
        recent.sum
    }

    /// A frame was taken in, which takes so many bytes of the pool.
    pub(super) fn took(&mut self, place: Place, bytes: u64) {
        let now = self.now;
        let recent = self.group(place);
        recent.came.push_back((now, bytes));
        recent.sum += bytes;
    }

    fn group(&mut self, place: Place) -> &mut Recent {
        &mut self.groups[place.from][slot(place.class)]
    }
}
