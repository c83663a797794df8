//! Detection in the ASIC (SAI's `PFC_TC_DLD_INTERVAL` and `PFC_TC_DLR_INTERVAL`): a timer begins with each pause and ends with it. When it
//! runs out the queue is stormed; then a second timer runs, whatever the storm does, and when that runs out detection begins anew.
//!
//! It watches all the time. To emulate it, it is enough to ask when a timer may have run out: no pause that began after it was last
//! asked lasts for the detection time before that.

use super::poll::Event;
use rig_lab::{Pfcwd, PfcwdFaults};
use rig_units::{Dur, Time};

/// What the ASIC knows of a class at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paused {
    /// The instant of which the rest is told, on the engine's clock.
    pub at: Time,
    /// Since when it has been paused without a break; `None` where it is not.
    pub since: Option<Time>,
    /// For how long it was paused in all, in whole microseconds. Only a timer that is never reset asks.
    pub in_all_us: u64,
}

/// The timers of one queue.
#[derive(Debug, Clone)]
pub(super) struct Timer {
    detection: Dur,
    /// `None`: no recovery ever ends.
    recovery: Option<Dur>,
    faults: PfcwdFaults,
    state: State,
    asks: Time,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Not started yet.
    Off,
    /// Detecting since an instant, with so much of pauses in all before it, and the timer of the pause that is going on.
    Detecting { from: Time, before_us: u64, timer: Option<Running> },
    /// The recovery is over then.
    Recovering { until: Time },
}

/// A timer that runs: since when, and by how much later than it is set to it runs out.
#[derive(Debug, Clone, Copy)]
struct Running {
    since: Time,
    lag: Dur,
}

impl Timer {
    pub(super) fn new(config: &Pfcwd, faults: PfcwdFaults) -> Timer {
        // A poll too early is too early by the time between two.
        let early = if faults.restores_too_early { config.poll_interval } else { Dur::ZERO };
        let recovery = config.restoration_time.map(|time| time.saturating_sub(early));
        let detection = config.detection_time;
        Timer { detection, recovery, faults, state: State::Off, asks: Time::ZERO }
    }

    /// When it has to be asked next.
    pub(super) const fn asks(&self) -> Time {
        self.asks
    }

    /// What runs out now; `lag` is drawn for each timer that begins.
    pub(super) fn look(&mut self, now: &Paused, mut lag: impl FnMut() -> Dur) -> Option<Event> {
        let detecting = State::Detecting { from: now.at, before_us: now.in_all_us, timer: None };
        match self.state {
            State::Off => self.state = detecting,
            State::Recovering { until } if now.at < until => return None,
            State::Recovering { .. }
                if self.faults.recovery_waits_for_quiet && now.since.is_some() =>
            {
                self.recover(now.at, lag());
                return None;
            }
            State::Recovering { .. } => {
                self.state = detecting;
                self.asks = now.at;
                return Some(Event::Restore);
            }
            State::Detecting { .. } => {}
        }
        if self.detects(now, &mut lag) {
            self.recover(now.at, lag());
            return Some(Event::Storm);
        }
        None
    }

    fn recover(&mut self, now: Time, lag: Dur) {
        let until = self.recovery.map_or(Time::MAX, |recovery| now + recovery + lag);
        self.state = State::Recovering { until };
        self.asks = until;
    }

    /// Whether the timer of the pause that is going on has run out, and when to ask again if not.
    fn detects(&mut self, now: &Paused, lag: &mut impl FnMut() -> Dur) -> bool {
        let State::Detecting { from, before_us, timer } = &mut self.state else { return false };
        let Some(since) = now.since.map(|since| since.max(*from)) else {
            *timer = None;
            let left = if self.faults.timer_not_reset_by_gap { Dur::ms(1) } else { self.detection };
            self.asks = now.at + left;
            return false;
        };
        let running = timer.filter(|running| running.since == since);
        let running = *timer.insert(running.unwrap_or_else(|| Running { since, lag: lag() }));
        let since = if self.faults.timer_not_reset_by_gap {
            // As if all that it was paused for had been one pause.
            Time(now.at.0.saturating_sub(Dur::us(now.in_all_us - *before_us).0))
        } else {
            since
        };
        let full = since + self.detection;
        // At first without the lag: a pause that begins in it has to be seen, too.
        self.asks = if now.at < full { full } else { full + running.lag };
        self.asks <= now.at
    }
}
