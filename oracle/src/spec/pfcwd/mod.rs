//! The PFC watchdog in closed form: when it fires, when it lets go, which storms it never sees.
//!
//! P is the poll interval, D the detection time, R the restoration time, S the length of a pause from its first XOFF
//! to its last quantum, g the time between two frames of the guarded queue, n and m the polls that a detection and a
//! restoration take. Source of every form: the recorded traces of SONiC's own scripts (`pfcwd-traces/README.md`),
//! which correct formulas F13 and F14; F17 for the interval counter.
//! A frame that arrives at the very instant of a poll is seen by it; with the other convention every half-open end
//! flips, a difference of measure zero.
//!
//! What a poll decides takes effect L later, as declared (`pfcwd.action_latency`); L counts from each decision anew.
//!
//! Under jitter a poll comes P to P + j after the one before, and where polls may be left out, s in a row, up to (s + 1)P + j after it; every
//! form then widens poll by poll. Both add up: syncd's loop sleeps P less what its work took, in whole milliseconds and modulo P, once that is
//! done (`FlexCounter::flexCounterThreadRunFunction`), so that a late poll makes all later ones late and a cycle longer than P waits for the
//! next whole interval. P and j are counted by the device's own clock: by another one, which may be apart from it, every length of time that a
//! form allows is as much shorter at its least and longer at its most, and the polls lie on no grid.
//!
//! A watchdog in hardware has timers of its own instead of polls (F18, `hardware.rs`).

mod config;
mod detection;
mod hardware;
mod latency;
mod names;
mod phase;
mod resolution;
mod restoration;
mod rhythm;
mod trigger;
mod window;

pub use config::accepts;
pub use hardware::recovers;
pub use names::Names;
pub use restoration::Storm;
pub use trigger::Chance;
pub use window::{End, Window};

use rig_lab::{Action, Charge, Pfcwd, RuleFamily};
use rig_units::{Apart, Dur, Within};

/// Where the forms come from, for reports.
pub const SOURCE: &str = "recorded from sonic-swss e6b0c5b5, pfc_detect_*.lua and pfc_restore*.lua (pfcwd-traces/README.md)";
/// Where the interval counter comes from, for reports.
pub const INTERVAL_COUNTER_SOURCE: &str =
    "PFC deadlock detection: N checks of T ms each saw a pause (systems.md B4)";

/// Where the hardware's forms come from, for reports.
pub const HARDWARE_SOURCE: &str = "SAI saiswitch.h, PFC_TC_DLD_INTERVAL and PFC_TC_DLR_INTERVAL; SONiC pfc_hardware_recovery_hld.md 0.2";

/// Everything of a declared watchdog that decides when it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Which counters it concludes from.
    pub family: RuleFamily,
    /// D.
    pub detection_time: Dur,
    /// R; absent: it never restores by itself.
    pub restoration_time: Option<Dur>,
    /// P.
    pub poll_interval: Dur,
    /// What it does to a stormed queue.
    pub action: Action,
    /// What each true poll takes from the time left.
    pub charge: Charge,
    /// Fewest true polls in a row before it fires.
    pub min_samples: u32,
    /// j: by how much later than P after the one before a poll comes.
    pub jitter: Within,
    /// s: at most so many polls in a row are left out.
    pub skipped_polls: u32,
    /// L: from the poll that decides to the action on the wire.
    pub action_latency: Within,
    /// t: by how much later than it is set to a timer in hardware runs out.
    pub timer_lag: Within,
    /// How far the clock that it counts P by may be from the one that it is seen by.
    pub apart: Apart,
}

/// What the guarded queue carries while the storm is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stimulus {
    /// g: the longest time between two frames sent to the queue; `None` when nothing is.
    pub data_gap: Option<Dur>,
}

/// How many polls in a row a conclusion takes. The two differ only under jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Polls {
    /// With the longest intervals.
    pub fewest: u64,
    /// With the shortest.
    pub most: u64,
}

impl Rule {
    /// The rule that a device of `family` follows with this configuration.
    pub fn of(family: RuleFamily, declared: &Pfcwd) -> Rule {
        Rule {
            family,
            detection_time: declared.detection_time,
            restoration_time: declared.restoration_time,
            poll_interval: declared.poll_interval,
            action: declared.action,
            charge: declared.charge,
            min_samples: declared.min_samples,
            jitter: declared.jitter.unwrap_or(Within::ZERO),
            skipped_polls: declared.skipped_polls.unwrap_or(0),
            action_latency: declared.action_latency.unwrap_or(Within::ZERO),
            timer_lag: declared.timer_lag.unwrap_or(Within::ZERO),
            apart: Apart::NOT,
        }
    }

    /// n: true polls in a row until it fires. Charged by the interval `ceil(D / P)`; charged by elapsed time the
    /// fewest whose sum exceeds 0.99 D, `floor(0.99 D / P) + 1`.
    pub fn polls(&self) -> Polls {
        let least = u64::from(self.min_samples);
        let (fewest, most) = match self.charge {
            Charge::Interval => {
                let n = self.detection_time.div_ceil(self.poll_interval);
                (n, n)
            }
            Charge::Elapsed => {
                (self.sum_exceeds(self.longest_interval()), self.sum_exceeds(self.poll_interval))
            }
        };
        Polls { fewest: fewest.max(least), most: most.max(least) }
    }

    /// m: quiet polls in a row until it restores, `ceil(R / P)`; `None` when it never does.
    pub fn quiet_polls(&self) -> Option<u64> {
        self.restoration_time.map(|time| time.div_ceil(self.poll_interval))
    }

    /// Fewest intervals of `each` whose sum exceeds 0.99 D.
    fn sum_exceeds(&self, each: Dur) -> u64 {
        self.detection_time.scaled(99, 100) / each + 1
    }

    /// The formulas that predict when it acts.
    fn formula(&self) -> &'static str {
        match self.family {
            RuleFamily::Broadcom
            | RuleFamily::Mellanox
            | RuleFamily::Cisco8000
            | RuleFamily::Barefoot => "F13",
            RuleFamily::IntervalCounter => "F17",
            RuleFamily::Hardware => "F18",
        }
    }

    /// How n follows from D, with this rule's numbers; what the timer is set to where there are no polls.
    pub(crate) fn polls_text(&self) -> String {
        if !self.is_polled() {
            return format!("D = {}, {}", self.detection_time, self.lag_text());
        }
        let Polls { fewest, most } = self.polls();
        let Rule { detection_time: d, poll_interval: p, .. } = self;
        let formula = match self.charge {
            Charge::Interval => format!("ceil({d} / {p})"),
            Charge::Elapsed if fewest == most => format!("floor(0.99 x {d} / {p}) + 1"),
            Charge::Elapsed => {
                format!("floor(0.99 x {d} / ({p} to {})) + 1", self.longest_interval())
            }
        };
        let least = match self.min_samples {
            0 | 1 => String::new(),
            samples => format!(", at least {samples}"),
        };
        if fewest == most {
            format!("n = {formula}{least} = {most}")
        } else {
            format!("n = {formula}{least} = {fewest} to {most}")
        }
    }

    /// The publication or recording that the family's forms were taken from.
    pub(crate) fn source(&self) -> &'static str {
        match self.family {
            RuleFamily::Broadcom
            | RuleFamily::Mellanox
            | RuleFamily::Cisco8000
            | RuleFamily::Barefoot => SOURCE,
            RuleFamily::IntervalCounter => INTERVAL_COUNTER_SOURCE,
            RuleFamily::Hardware => HARDWARE_SOURCE,
        }
    }
}

#[cfg(test)]
mod brute_force;
#[cfg(test)]
mod tests;
