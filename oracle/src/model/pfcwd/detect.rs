//! When a queue is stormed: one condition per family, true at enough polls in a row.
//!
//! Sources: the recorded traces (`oracle/tests/data/pfcwd-traces/README.md`); their text wins over any other.

use super::countdown::Countdown;
use super::interval_counter;
use super::poll::{Counters, Frames, Saved};
use rig_lab::{Charge, Pfcwd, PfcwdFaults, RuleFamily};
use rig_units::Dur;

/// What a poll of the detection rule came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollOutcome {
    /// Nothing to compare with yet.
    Skipped,
    /// The condition does not hold.
    Clear,
    /// It holds, for too short a time.
    Counting,
    /// It has held for the detection time.
    Fires,
}

/// The detection rule of one queue.
#[derive(Debug, Clone)]
pub(super) struct Detection {
    family: RuleFamily,
    interval: Dur,
    charge: Charge,
    min_samples: u32,
    faults: PfcwdFaults,
    countdown: Countdown,
}

impl Detection {
    pub(super) fn new(family: RuleFamily, config: &Pfcwd, faults: PfcwdFaults) -> Detection {
        Detection {
            family,
            interval: config.poll_interval,
            charge: config.charge,
            min_samples: config.min_samples,
            faults,
            countdown: Countdown::new(config.detection_time),
        }
    }

    /// Evaluates one poll and saves what the next one compares with.
    pub(super) fn poll(&mut self, now: &Counters, saved: &mut Saved) -> PollOutcome {
        let seen = match self.condition(now, saved) {
            None => PollOutcome::Skipped,
            Some(true) => self.count(now, saved),
            Some(false) => {
                if !self.faults.timer_not_reset_by_gap {
                    self.countdown.restart();
                }
                PollOutcome::Clear
            }
        };
        // These two forget what they saw when they fire, and so skip the poll after it.
        let forgets = matches!(self.family, RuleFamily::Mellanox | RuleFamily::Barefoot);
        let kept = !(forgets && seen == PollOutcome::Fires);
        saved.frames = kept.then(|| Frames::of(now));
        saved.counters = kept.then_some(*now);
        seen
    }

    fn count(&mut self, now: &Counters, saved: &Saved) -> PollOutcome {
        let used_up = match self.charge {
            Charge::Interval => {
                self.countdown.spend(self.interval);
                self.countdown.lacks_at_most(Dur::ZERO)
            }
            Charge::Elapsed => {
                self.countdown.spend(saved.elapsed(now).unwrap_or(self.interval));
                self.countdown.is_nearly_used_up()
            }
        };
        if used_up && self.countdown.samples() >= self.min_samples {
            self.countdown.restart();
            PollOutcome::Fires
        } else {
            PollOutcome::Counting
        }
    }

    /// Whether this poll sees a storm; `None` when the family needs an earlier poll and there is none.
    fn condition(&self, now: &Counters, saved: &Saved) -> Option<bool> {
        let mut now = *now;
        if self.faults.idle_queue_fires {
            now.queue_occupancy_bytes = now.queue_occupancy_bytes.max(1);
        }
        let now = &now;
        let holds = match self.family {
            RuleFamily::Broadcom => broadcom(now, saved),
            RuleFamily::Mellanox => mellanox(now, saved),
            RuleFamily::Cisco8000 => Some(now.paused),
            RuleFamily::Barefoot => barefoot(now, saved, self.interval),
            RuleFamily::IntervalCounter => Some(interval_counter::saw_pause(now, saved)),
            // It has a timer instead.
            RuleFamily::Hardware => None,
        }?;
        let xon = self.faults.xon_counts_as_storm
            && saved.frames.is_some_and(|last| now.xon_rx_pkts > last.xon);
        let paused = self.faults.any_pause_is_storm && interval_counter::saw_pause(now, saved);
        Some(holds || xon || paused || now.debug_storm)
    }
}

/// Reads PFC frames, pauses ended, pause status. The pause must have lasted from the last poll to this one, as far as
/// two samples and the absence of an end can tell.
fn broadcom(now: &Counters, saved: &Saved) -> Option<bool> {
    let (last, frames) = (saved.counters?, saved.frames?);
    Some(
        now.pfc_rx_pkts > frames.all
            && now.on2off_rx_pkts == last.on2off_rx_pkts
            && last.paused
            && now.paused,
    )
}

/// Reads occupancy, packets, pause duration and the port's timestamp. The queue holds data, sent nothing, and was
/// paused for more than 0.99 of the measured interval.
fn mellanox(now: &Counters, saved: &Saved) -> Option<bool> {
    let (last, _) = (saved.counters?, saved.frames?);
    Some(
        now.queue_occupancy_bytes > 0
            && now.queue_packets == last.queue_packets
            && paused_beyond(now, &last, 99, saved.elapsed(now)?),
    )
}

/// Reads occupancy, packets, PFC frames, pause duration. The queue sent nothing; with data in it PFC frames arrived,
/// without any it was paused for more than 0.8 of the nominal interval.
fn barefoot(now: &Counters, saved: &Saved, interval: Dur) -> Option<bool> {
    let (last, frames) = (saved.counters?, saved.frames?);
    let stopped = if now.queue_occupancy_bytes > 0 {
        now.pfc_rx_pkts > frames.all
    } else {
        paused_beyond(now, &last, 80, interval)
    };
    Some(now.queue_packets == last.queue_packets && stopped)
}

/// Whether more than `percent` of `interval` was spent paused since `last`.
fn paused_beyond(now: &Counters, last: &Counters, percent: u128, interval: Dur) -> bool {
    let paused = Dur::us(now.rx_pause_duration_us.saturating_sub(last.rx_pause_duration_us));
    u128::from(paused.0) * 100 > u128::from(interval.0) * percent
}
