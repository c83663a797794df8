//! One watchdog over one storm, in ticks. What comes in one tick: data before XOFF, frames and the end of a pause before a poll.

use rig_lab::{Action, Charge, Pfcwd, PfcwdFaults, RuleFamily};
use rig_oracle::model::pfcwd::{Counters, Event, Watchdog};
use rig_oracle::spec::pfcwd::Rule;
use rig_units::{Dur, Time, Within};

/// Ticks, the storm's first XOFF at 0.
pub(crate) type At = i64;

/// Whole microseconds, as the counter of paused time has no finer ones.
pub(crate) const TICK: Dur = Dur::us(5);
pub(crate) const FAMILIES: [RuleFamily; 5] = [
    RuleFamily::Broadcom,
    RuleFamily::Mellanox,
    RuleFamily::Cisco8000,
    RuleFamily::Barefoot,
    RuleFamily::IntervalCounter,
];

pub(crate) fn dur(ticks: At) -> Dur {
    TICK * u64::try_from(ticks).expect("not negative")
}

/// More than all that comes before the storm.
const BEFORE: At = 1 << 20;

/// A storm of XOFF at every tick over a queue that data is sent to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct World {
    /// The first poll at or after the storm's start.
    pub(crate) phase: At,
    /// The pause ends.
    pub(crate) end: At,
    /// Data: a frame every so often, and the first after the storm's start.
    pub(crate) data: Option<(At, At)>,
}

impl World {
    pub(crate) fn poll(&self, at: At) -> Counters {
        let paused = 0 <= at && at < self.end;
        let arrived = |by: At| self.data.map_or(0, |(gap, first)| (by - first).div_euclid(gap) + 1);
        let held = if paused { arrived(at) - arrived(0) } else { 0 };
        let count = |of: At| u64::try_from(of).expect("not negative");
        Counters {
            at: Time::ZERO + dur(at + BEFORE),
            pfc_rx_pkts: count((at + 1).clamp(0, self.end)),
            on2off_rx_pkts: u64::from(at >= self.end),
            rx_pause_duration_us: count(at.clamp(0, self.end)) * (TICK.0 / 1_000_000),
            queue_packets: count(arrived(at) - held + BEFORE),
            queue_occupancy_bytes: count(held) * 1_000,
            paused,
            ..Counters::default()
        }
    }

    /// When the watchdog fires and lets go, if it does.
    pub(crate) fn run(
        &self,
        rule: &Rule,
        mut watchdog: Watchdog,
        polls: impl Iterator<Item = At>,
    ) -> [Option<At>; 2] {
        let interval = ticks(rule.longest_interval());
        let [mut fired, mut restored] = [None, None];
        for at in polls {
            match watchdog.poll(&self.poll(at)).map(|published| published.event) {
                Some(Event::Storm) => fired = fired.or(Some(at)),
                Some(Event::Restore) => restored = restored.or(Some(at)),
                None => {}
            }
            let longest = if fired.is_some() { 5 * interval } else { interval };
            if restored.is_some() || at > self.end + longest {
                break;
            }
        }
        [fired, restored]
    }
}

pub(crate) fn ticks(dur: Dur) -> At {
    At::try_from(dur / TICK).expect("few")
}

/// A poll interval in ticks; how many of them D is; what is done to a stormed queue.
pub(crate) fn rule(family: RuleFamily, interval: At, (detection, action): (At, Action)) -> Rule {
    Rule {
        family,
        detection_time: dur(detection * interval),
        restoration_time: Some(dur(2 * interval)),
        poll_interval: dur(interval),
        action,
        charge: match family {
            RuleFamily::Mellanox => Charge::Elapsed,
            _ => Charge::Interval,
        },
        min_samples: 1,
        jitter: Within::ZERO,
        skipped_polls: 0,
        action_latency: Within::ZERO,
        timer_lag: Within::ZERO,
        apart: rig_units::Apart::NOT,
    }
}

/// How the model departs from what is predicted: nothing but in tests of the search itself.
pub(crate) type Planted = fn(&mut Pfcwd, &mut PfcwdFaults);

pub(crate) fn watchdog(rule: &Rule, planted: Planted) -> Watchdog {
    let mut config = Pfcwd {
        detection_time: rule.detection_time,
        restoration_time: rule.restoration_time,
        poll_interval: rule.poll_interval,
        action: rule.action,
        charge: rule.charge,
        ..Pfcwd::dropping()
    };
    let mut faults = PfcwdFaults::NONE;
    planted(&mut config, &mut faults);
    Watchdog::new(rule.family, &config, faults)
}
