//! A trial that is over, kept small until its case is judged: a case may have a hundred thousand of them.

use super::trial::Trial;
use crate::verdict::Doubt;
use core::mem::take;
use rig_capture::pcapng::Spooled;
use rig_capture::{Names, Packed, PackedCounters, PackedLoads};
use rig_testcases::Script;
use std::sync::Arc;

/// A trial that is over, what was seen in it packed.
#[derive(Debug)]
pub struct Kept {
    rest: Trial,
    frames: Packed,
    loads: PackedLoads,
    counters: PackedCounters,
    /// Every frame, where all are to be evidence.
    pub all: Option<Spooled>,
}

/// What a trial has in common with the one before, as a rule: it is in memory once.
#[derive(Debug, Default)]
pub struct Common {
    /// The names of its counters.
    names: Names,
    script: Option<Arc<Script>>,
}

impl Kept {
    /// Packs it.
    pub fn of(mut trial: Trial, all: Option<Spooled>, common: &mut Common) -> Kept {
        let frames = Packed::of(&take(&mut trial.observation.records));
        let loads = PackedLoads::of(&take(&mut trial.observation.loads));
        let counters = take(&mut trial.observation.counters);
        let counters = PackedCounters::of(counters, &mut common.names);
        match &common.script {
            Some(script) if *script == trial.script => trial.script = Arc::clone(script),
            _ => common.script = Some(Arc::clone(&trial.script)),
        }
        Kept { rest: trial, frames, loads, counters, all }
    }

    /// The trial as it was.
    pub fn whole(&self) -> Trial {
        let mut trial = self.rest.clone();
        trial.observation.records = self.frames.records();
        trial.observation.loads = self.loads.loads();
        trial.observation.counters = self.counters.counters();
        trial
    }

    /// All of it but its frames, loads and counters: what needs none is spared their unpacking.
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
