//! A trial that is over, kept until its case is judged. Of a case that shows little they are kept as they are: each measure looks at
//! all of them, and to unpack them for each was a fifth of the time of the bundled catalogue. But a case may have a hundred thousand
//! trials: what does not fit beside the others is kept small.

use super::trial::Trial;
use crate::verdict::Doubt;
use core::mem::take;
use rig_capture::pcapng::Spooled;
use rig_capture::{Names, Packed, PackedCounters, PackedLoads};
use rig_testcases::Script;
use std::borrow::Cow;
use std::sync::Arc;

/// A trial that is over, what was seen in it packed or not.
#[derive(Debug)]
pub struct Kept {
    /// All of it, or what is not [`Small`].
    trial: Trial,
    small: Option<Small>,
    /// Every frame, where all are to be evidence.
    pub all: Option<Spooled>,
}

/// What takes the most room of a trial, packed.
#[derive(Debug)]
struct Small {
    frames: Packed,
    loads: PackedLoads,
    counters: PackedCounters,
}

/// So many bytes of what was seen in the trials of one case are kept as they are.
const ROOM: usize = 4 << 20;

/// What a trial has in common with the one before, as a rule: it is in memory once.
#[derive(Debug)]
pub struct Common {
    /// The names of its counters.
    names: Names,
    script: Option<Arc<Script>>,
    /// How many bytes may still be kept as they are.
    room: usize,
}

impl Default for Common {
    fn default() -> Common {
        Common { names: Names::default(), script: None, room: ROOM }
    }
}

impl Kept {
    /// Keeps it: as it is while there is room for that, else packed.
    pub fn of(mut trial: Trial, all: Option<Spooled>, common: &mut Common) -> Kept {
        match &common.script {
            Some(script) if *script == trial.script => trial.script = Arc::clone(script),
            _ => common.script = Some(Arc::clone(&trial.script)),
        }
        let seen = &mut trial.observation;
        if let Some(room) = common.room.checked_sub(seen.takes()) {
            common.room = room;
            seen.counters.share(&mut common.names);
            return Kept { trial, small: None, all };
        }
        let small = Small {
            frames: Packed::of(&take(&mut seen.records)),
            loads: PackedLoads::of(&take(&mut seen.loads)),
            counters: PackedCounters::of(take(&mut seen.counters), &mut common.names),
        };
        Kept { trial, small: Some(small), all }
    }

    /// The trial as it was.
    pub fn whole(&self) -> Cow<'_, Trial> {
        let Some(small) = &self.small else { return Cow::Borrowed(&self.trial) };
        let mut trial = self.trial.clone();
        trial.observation.records = small.frames.records();
        trial.observation.loads = small.loads.loads();
        trial.observation.counters = small.counters.counters();
        Cow::Owned(trial)
    }

    /// What is at hand of it without unpacking: its frames, loads and counters need not be there.
    pub const fn outline(&self) -> &Trial {
        &self.trial
    }

    /// Its number within the case, from 1.
    pub const fn number(&self) -> u32 {
        self.trial.number
    }

    /// Why it does not count, if it does not.
    pub const fn void(&self) -> Option<&Doubt> {
        self.trial.void.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::ask::Role;
    use rig_capture::{Counters, Dir, Observation, Record, What};
    use rig_units::{Bytes, Time};

    /// One that saw something of each kind.
    fn trial(number: u32) -> Trial {
        let script = Script::idle(1);
        let mut observation = Observation::quiet(&script);
        let what = What::Other { size: Bytes(64) };
        let (dir, secured, vlan) = (Dir::Rx, None, None);
        let record = |at| Record { at: Time(at), port: 0, dir, what, secured, vlan };
        observation.records = (0..50).map(record).collect();
        let read = |value| [("a".to_owned(), value)].into();
        observation.counters = Counters::read(read(1), read(number.into()));
        observation.loads.saw(&observation.records[0].clone(), 0);
        let (script, role) = (Arc::new(script), Role::Planned);
        Trial { number, point: 0, script, observation, role, void: None }
    }

    #[test]
    fn a_trial_comes_back_as_it_was_whether_there_was_room_for_it_or_not() {
        let takes = trial(0).observation.takes();
        let mut common = Common { room: takes * 2 + 1, ..Common::default() };
        let kept: Vec<Kept> = (0..4).map(|n| Kept::of(trial(n), None, &mut common)).collect();
        let packed: Vec<bool> = kept.iter().map(|one| one.small.is_some()).collect();
        assert_eq!(packed, [false, false, true, true]);
        for (number, one) in (0..).zip(&kept) {
            assert_eq!(one.whole().observation, trial(number).observation);
            assert!(Arc::ptr_eq(&one.outline().script, &kept[0].outline().script));
        }
    }
}
