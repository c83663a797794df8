//! When a stormed queue is over it: quiet at enough polls in a row. There are two notions of quiet: no PFC frame of
//! any kind since the last poll (generic), and not paused at the poll (cisco-8000). The interval counter does not ask.

use super::countdown::Countdown;
use super::poll::{Counters, Frames, Saved};
use rig_lab::{Pfcwd, PfcwdFaults, RuleFamily};
use rig_units::Dur;

/// The restoration rule of one queue.
#[derive(Debug, Clone)]
pub(super) struct Restoration {
    family: RuleFamily,
    interval: Dur,
    faults: PfcwdFaults,
    /// `None` without a restoration time: never.
    countdown: Option<Countdown>,
}

impl Restoration {
    pub(super) fn new(family: RuleFamily, config: &Pfcwd, faults: PfcwdFaults) -> Restoration {
        Restoration {
            family,
            interval: config.poll_interval,
            faults,
            countdown: config.restoration_time.map(Countdown::new),
        }
    }

    /// Evaluates one poll, saves what the next one compares with, and says whether the queue is restored.
    pub(super) fn poll(&mut self, now: &Counters, saved: &mut Saved) -> bool {
        let quiet = self.quiet(now, saved);
        if self.countdown.is_some() {
            saved.frames = Some(Frames::of(now));
        }
        if self.family == RuleFamily::IntervalCounter {
            // Its checks go on through the action, so that a pause during it does not count after it.
            saved.counters = Some(*now);
        }
        match (quiet, &mut self.countdown) {
            (None, _) | (_, None) => false,
            (Some(quiet), Some(countdown)) => {
                let late = self.faults.late_frame_does_not_restart && countdown.samples() > 0;
                if !(quiet || late || self.faults.restores_during_storm) {
                    countdown.restart();
                    return false;
                }
                countdown.spend(self.interval);
                let early = if self.faults.restores_too_early { self.interval } else { Dur::ZERO };
                let restored = countdown.lacks_at_most(early);
                if restored {
                    countdown.restart();
                }
                restored
            }
        }
    }

    /// Whether this poll is quiet; `None` when it needs an earlier poll and there is none.
    fn quiet(&self, now: &Counters, saved: &Saved) -> Option<bool> {
        match self.family {
            RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => {
                let last = saved.frames?;
                Some(self.heard(&Frames::of(now)) == self.heard(&last))
            }
            RuleFamily::Cisco8000 => Some(!now.paused),
            RuleFamily::IntervalCounter => Some(true),
            // It has a timer instead.
            RuleFamily::Hardware => None,
        }
    }

    /// The frames that count as noise: all of them, XON too.
    fn heard(&self, frames: &Frames) -> u64 {
        if self.faults.xon_does_not_restart { frames.all - frames.xon } else { frames.all }
    }
}
