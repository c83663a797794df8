//! How long the machine kept a guest waiting during a trial.

use rig_capture::{DutWait, DutWaits};
use rig_guests::{Guest, WaitWatch};
use rig_units::{Dur, Time};

/// A guest that is watched, from before a trial on. Nobody watches a device that is in none.
#[derive(Debug, Default)]
pub struct Starved {
    watch: Option<WaitWatch>,
    begun: Time,
    /// How long it may be kept waiting in one go, and how much of that it makes up for.
    bears: (Dur, Dur),
}

impl Starved {
    /// From `begun` on, on the clock of the session.
    pub(super) fn watch(guest: Option<&Guest>, bears: (Dur, Dur), begun: Time) -> Starved {
        let watch = guest.and_then(|guest| WaitWatch::of(guest.process()));
        Starved { watch, begun, bears }
    }

    /// The stretches of a trial that began at `origin`, on its own clock. What came later delayed none of its frames.
    pub fn until(self, origin: Time, length: Dur) -> DutWaits {
        let waits = self.watch.map(WaitWatch::finish).unwrap_or_default().into_iter();
        let ahead = origin.since(self.begun).unwrap_or_default();
        let all = waits.map(|wait| DutWait { at: wait.at.saturating_sub(ahead), by: wait.by });
        let own = all.filter(|wait| wait.at.saturating_sub(wait.by).elapsed() <= length);
        let (most, makes_up) = self.bears;
        DutWaits { stretches: own.collect(), most, makes_up }
    }
}
