//! What one poll reads, what it may publish, and what the rules remember of it until the next.

use rig_units::{Dur, Time};

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

impl Counters {
    /// What a poll at `at` reads of a queue to which nothing has happened yet, on a device that stamps its readings.
    pub(in crate::model) fn blank(at: Time) -> Counters {
        Counters { at, port_counter_timestamp_ns: Some(at.0 / 1_000), ..Counters::default() }
    }
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
pub(super) struct Saved {
    /// PFC frames received, saved by both rules.
    pub(super) frames: Option<Frames>,
    /// The counters as detection last saved them.
    pub(super) counters: Option<Counters>,
    /// When the last poll was, whichever rule it served.
    pub(super) stamp: Option<Stamp>,
}

/// PFC frames received up to a poll.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frames {
    pub(super) all: u64,
    pub(super) xon: u64,
}

impl Frames {
    pub(super) fn of(now: &Counters) -> Frames {
        Frames { all: now.pfc_rx_pkts, xon: now.xon_rx_pkts }
    }
}

/// When a poll was, by the rig's time and by the port's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) at: Time,
    pub(super) port_ns: Option<u64>,
}

impl Saved {
    /// Time since the last poll: between the port's own timestamps where it has them. `None` at the first poll.
    pub(super) fn elapsed(&self, now: &Counters) -> Option<Dur> {
        let last = self.stamp?;
        Some(match (last.port_ns, now.port_counter_timestamp_ns) {
            (Some(last), Some(now)) => Dur::ns(now.saturating_sub(last)),
            _ => now.at - last.at,
        })
    }
}
