//! A trial that is over, kept small until its case is judged: a case may have a hundred thousand of them.

use super::trial::Trial;
use core::mem::take;
use rig_capture::pcapng::Spooled;
use rig_capture::{Names, Packed, PackedCounters};
use rig_oracle::verdict::Doubt;

/// A trial that is over, its frames and counters packed.
#[derive(Debug)]
pub struct Kept {
    rest: Trial,
    frames: Packed,
    counters: PackedCounters,
    /// Every frame, where all are to be evidence.
    pub all: Option<Spooled>,
}

impl Kept {
    /// Packs it; `names` are those of the counters in the trial before.
    pub fn of(mut trial: Trial, all: Option<Spooled>, names: &mut Names) -> Kept {
        let frames = Packed::of(&take(&mut trial.observation.records));
        let counters = PackedCounters::of(take(&mut trial.observation.counters), names);
        Kept { rest: trial, frames, counters, all }
    }

    /// The trial as it was.
    pub fn whole(&self) -> Trial {
        let mut trial = self.rest.clone();
        trial.observation.records = self.frames.records();
        trial.observation.counters = self.counters.counters();
        trial
    }

    /// All of it but its frames and counters: what needs none is spared their unpacking.
    pub const fn outline(&self) -> &Trial {
        &self.rest
    }

    /// Its number within the case, from 1.
    pub const fn number(&self) -> u32 {
        self.rest.number
    }

    /// Why it does not count, if it does not.
    pub const fn void(&self) -> Option<&Doubt> {
        self.rest.void.as_ref()
    }
}
