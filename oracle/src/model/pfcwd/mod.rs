//! The PFC watchdog of one queue: the counters of one poll in, at most one publication out.
//!
//! It does what SONiC's software watchdog was recorded doing: a detection rule per family (`detect`), a restoration
//! rule (`restore`), what both remember (`Saved`) and the status that orchagent keeps (`state`). The rules of one poll
//! see the status as it was before it. Everything else (when polls happen, where the counters come from, what an
//! action does to the queue) is the device's business.
//!
//! Left out on purpose: counters that a rule reads but never decides on (broadcom wants the occupancy to exist).

mod countdown;
mod detect;
mod interval_counter;
mod poll;
mod restore;
mod state;
mod timer;

pub use poll::{Counters, Event, Published};
pub use timer::Paused;

use detect::{Detection, PollOutcome};
use poll::{Saved, Stamp};
use restore::Restoration;
use rig_lab::{Action, Pfcwd, PfcwdFaults, RuleFamily};
use rig_units::{Dur, Time};
use state::State;
use timer::Timer;

/// The watchdog of one queue.
#[derive(Debug, Clone)]
pub struct Watchdog {
    state: State,
    detection: Detection,
    restoration: Restoration,
    saved: Saved,
    /// Of one in hardware, which polls nothing.
    timer: Option<Timer>,
}

impl Watchdog {
    /// A watchdog that has not polled yet, with the rule of `family`, the times of `config` and these faults.
    pub fn new(family: RuleFamily, config: &Pfcwd, faults: PfcwdFaults) -> Watchdog {
        // A recovery of a fixed time lasts that whatever it does to the queue.
        let recovers = matches!(family, RuleFamily::IntervalCounter | RuleFamily::Hardware);
        let alerts = config.action == Action::Alert && !recovers;
        Watchdog {
            state: State::new(alerts),
            detection: Detection::new(family, config, faults),
            restoration: Restoration::new(family, config, faults),
            saved: Saved::default(),
            timer: (family == RuleFamily::Hardware).then(|| Timer::new(config, faults)),
        }
    }

    /// When one that does not poll has to be asked next; `None` of one that does.
    pub fn asks(&self) -> Option<Time> {
        self.timer.as_ref().map(Timer::asks)
    }

    /// Asks one that does not poll what has run out now; `lag` says of each timer that begins how much later than it is set to it
    /// does.
    pub fn look(&mut self, now: &Paused, lag: impl FnMut() -> Dur) -> Option<Published> {
        let event = self.timer.as_mut()?.look(now, lag)?;
        Some(Published { event, heeded: self.state.heeds(event) })
    }

    /// Evaluates one poll. Polls come in the order of time. One in hardware only has its counters read.
    pub fn poll(&mut self, now: &Counters) -> Option<Published> {
        if self.timer.is_some() {
            return None;
        }
        let event = if self.state.detects() {
            match self.detection.poll(now, &mut self.saved) {
                PollOutcome::Fires => Some(Event::Storm),
                // Only a watchdog that alerts still detects while it is stormed.
                PollOutcome::Clear if self.state.is_stormed() => Some(Event::Restore),
                PollOutcome::Clear | PollOutcome::Counting | PollOutcome::Skipped => None,
            }
        } else {
            self.restoration.poll(now, &mut self.saved).then_some(Event::Restore)
        };
        self.saved.stamp = Some(Stamp { at: now.at, port_ns: now.port_counter_timestamp_ns });
        event.map(|event| Published { event, heeded: self.state.heeds(event) })
    }

    /// Takes in what somebody else has decided for it.
    pub fn told(&mut self, event: Event) -> Published {
        Published { event, heeded: self.state.heeds(event) }
    }

    /// Whether the queue is stormed, which is whether there is a handler on it.
    pub fn is_stormed(&self) -> bool {
        self.state.is_stormed()
    }
}

#[cfg(test)]
mod tests;
