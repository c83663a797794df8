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
mod restore;
mod state;

use detect::{Detection, Seen};
use restore::Restoration;
use rig_lab::{Action, Pfcwd, PfcwdFaults, RuleFamily};
use rig_units::{Dur, Time};
use state::State;

/// What one poll reads of one queue and of its class on the port. Counts only ever grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// When the poll happens.
    pub at: Time,
    /// PFC frames received that name the class (`SAI_PORT_STAT_PFC_<p>_RX_PKTS`).
    pub pfc_rx_pkts: u64,
    /// PFC frames received that name the class with a pause time of zero. No rule reads it, only deviations do.
    pub xon_rx_pkts: u64,
    /// Pauses that ended, by XON or by themselves (`SAI_PORT_STAT_PFC_<p>_ON2OFF_RX_PKTS`).
    pub on2off_rx_pkts: u64,
    /// Time spent paused, in whole microseconds (`SAI_PORT_STAT_PFC_<p>_RX_PAUSE_DURATION_US`).
    pub rx_pause_duration_us: u64,
    /// Frames that left by the queue (`SAI_QUEUE_STAT_PACKETS`).
    pub queue_packets: u64,
    /// Bytes in the queue now (`SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES`).
    pub queue_occupancy_bytes: u64,
    /// Whether the class is paused now (`SAI_QUEUE_ATTR_PAUSE_STATUS`).
    pub paused: bool,
    /// When the port's counters were read, in nanoseconds; `None` where the device does not say, and the difference of
    /// `at` stands in.
    pub port_counter_timestamp_ns: Option<u64>,
    /// Makes the detection condition true whatever the counters say (`DEBUG_STORM`).
    pub debug_storm: bool,
}

/// What a watchdog publishes on the channel `PFC_WD_ACTION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The queue is stormed.
    Storm,
    /// The storm is over.
    Restore,
}

/// One publication, and whether it changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// What was published.
    pub event: Event,
    /// Whether the status changed. A storm published again while the first is being acted on is ignored.
    pub heeded: bool,
}

/// What the rules remember from earlier polls: the `_last` fields of the counters database.
#[derive(Debug, Clone, Copy, Default)]
struct Saved {
    /// PFC frames received, saved by both rules.
    frames: Option<Frames>,
    /// The counters as detection last saved them.
    counters: Option<Counters>,
    /// When the last poll was, whichever rule it served.
    stamp: Option<Stamp>,
}

/// PFC frames received up to a poll.
#[derive(Debug, Clone, Copy)]
struct Frames {
    all: u64,
    xon: u64,
}

impl Frames {
    fn of(now: &Counters) -> Frames {
        Frames { all: now.pfc_rx_pkts, xon: now.xon_rx_pkts }
    }
}

/// When a poll was, by the rig's time and by the port's.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    at: Time,
    port_ns: Option<u64>,
}

impl Saved {
    /// Time since the last poll: between the port's own timestamps where it has them. `None` at the first poll.
    fn elapsed(&self, now: &Counters) -> Option<Dur> {
        let last = self.stamp?;
        Some(match (last.port_ns, now.port_counter_timestamp_ns) {
            (Some(last), Some(now)) => Dur::ns(now.saturating_sub(last)),
            _ => now.at - last.at,
        })
    }
}

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
        Watchdog {
            state: State::new(config.action == Action::Alert),
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
