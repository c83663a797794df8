//! The PFC watchdog of one queue: the counters of one poll in, at most one publication out.
//!
//! It does what SONiC's software watchdog was recorded doing: a detection rule per family (`detect`), a restoration
//! rule (`restore`), what both remember (`Saved`) and the status that orchagent keeps (`state`). The rules of one poll
//! see the status as it was before it. Everything else (when polls happen, where the counters come from, what an
//! action does to the queue) is the device's business.
//!
//! Left out on purpose: counters that a rule reads but never decides on (broadcom wants the occupancy to exist), and
//! starting with a queue that is stormed already (warm reboot).

mod countdown;
mod detect;
mod interval_counter;
mod poll;
mod restore;
mod state;

pub use poll::{Counters, Event, Published};

use detect::{Detection, Seen};
use poll::{Saved, Stamp};
use restore::Restoration;
use rig_lab::{Action, Pfcwd, PfcwdFaults, RuleFamily};
use state::State;

/// The watchdog of one queue.
#[derive(Debug, Clone)]
pub struct Watchdog {
    state: State,
    detection: Detection,
    restoration: Restoration,
    saved: Saved,
}

impl Watchdog {
    /// A watchdog that has not polled yet, with the rule of `family`, the times of `config` and these faults.
    pub fn new(family: RuleFamily, config: &Pfcwd, faults: PfcwdFaults) -> Watchdog {
        // The interval counter's recovery lasts its time whatever it does to the queue.
        let alerts = config.action == Action::Alert && family != RuleFamily::IntervalCounter;
        Watchdog {
            state: State::new(alerts),
            detection: Detection::new(family, config, faults),
            restoration: Restoration::new(family, config, faults),
            saved: Saved::default(),
        }
    }

    /// Evaluates one poll. Polls come in the order of time.
    pub fn poll(&mut self, now: &Counters) -> Option<Published> {
        let event = if self.state.detects() {
            match self.detection.poll(now, &mut self.saved) {
                Seen::Fires => Some(Event::Storm),
                // Only a watchdog that alerts still detects while it is stormed.
                Seen::Clear if self.state.is_stormed() => Some(Event::Restore),
                Seen::Clear | Seen::Counting | Seen::Skipped => None,
            }
        } else {
            self.restoration.poll(now, &mut self.saved).then_some(Event::Restore)
        };
        self.saved.stamp = Some(Stamp { at: now.at, port_ns: now.port_counter_timestamp_ns });
        event.map(|event| Published { event, heeded: self.state.heeds(event) })
    }

    /// Whether the queue is stormed, which is whether there is a handler on it.
    pub fn is_stormed(&self) -> bool {
        self.state.is_stormed()
    }
}

#[cfg(test)]
mod tests;
