//! Counters of one port and class, and the names under which SONiC shows them.

use super::mac::Pauses;
use std::collections::BTreeMap;

/// What passed one port in one class; PFC frames are counted elsewhere. One cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(align(64))]
pub struct Counters {
    /// Frames received into the priority group, those dropped included.
    pub rx_packets: u64,
    /// Their bytes, FCS counted.
    pub rx_bytes: u64,
    /// Frames sent from the queue.
    pub tx_packets: u64,
    /// Their bytes, FCS counted.
    pub tx_bytes: u64,
    /// Frames dropped on their way into the queue, or out of it unsent.
    pub queue_drops: u64,
    /// Frames dropped on their way into the priority group.
    pub group_drops: u64,
}

const _: () = assert!(size_of::<Counters>() == 64);

/// What a poller reads of one queue: the counters and attributes that watchdog rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueView {
    /// `SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES`
    pub occupancy: u64,
    /// `SAI_QUEUE_STAT_PACKETS`: frames sent from the queue.
    pub packets: u64,
    /// `SAI_QUEUE_STAT_DROPPED_PACKETS`
    pub dropped: u64,
    /// `SAI_PORT_STAT_PFC_<c>_RX_PKTS`
    pub pfc_rx_pkts: u64,
    /// XON frames received, whether they count among `pfc_rx_pkts` or not.
    pub xon_rx_pkts: u64,
    /// `SAI_PORT_STAT_PFC_<c>_TX_PKTS`
    pub pfc_tx_pkts: u64,
    /// `SAI_PORT_STAT_PFC_<c>_ON2OFF_RX_PKTS`
    pub on2off_rx_pkts: u64,
    /// `SAI_PORT_STAT_PFC_<c>_RX_PAUSE_DURATION_US`, whole microseconds.
    pub rx_pause_duration_us: u64,
    /// `SAI_QUEUE_ATTR_PAUSE_STATUS`: whether PFC pauses the class, obeyed or not.
    pub paused: bool,
}

/// Everything that is shown of one port and class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) counters: Counters,
    pub(crate) pauses: Pauses,
    pub(crate) pfc_sent: u64,
    pub(crate) queued: u64,
    pub(crate) queue_peak: u64,
    pub(crate) held: u64,
    pub(crate) group_peak: u64,
}

impl Shown {
    /// Adds all of it under SONiC's names, for `class` of the port called `port`.
    pub(crate) fn name(&self, port: &str, class: u8, into: &mut BTreeMap<String, u64>) {
        let Counters { rx_packets, rx_bytes, tx_packets, tx_bytes, queue_drops, group_drops } =
            self.counters;
        let Pauses { frames, xons: _, on_to_off, duration, paused } = self.pauses;
        for (name, value) in [
            ("RX_PKTS", frames),
            ("TX_PKTS", self.pfc_sent),
            ("ON2OFF_RX_PKTS", on_to_off),
            ("RX_PAUSE_DURATION_US", duration.0 / PS_PER_US),
        ] {
            into.insert(format!("{port} SAI_PORT_STAT_PFC_{class}_{name}"), value);
        }
        for (name, value) in [
            ("QUEUE_STAT_PACKETS", tx_packets),
            ("QUEUE_STAT_BYTES", tx_bytes),
            ("QUEUE_STAT_DROPPED_PACKETS", queue_drops),
            ("QUEUE_STAT_CURR_OCCUPANCY_BYTES", self.queued),
            ("QUEUE_STAT_WATERMARK_BYTES", self.queue_peak),
            ("QUEUE_ATTR_PAUSE_STATUS", u64::from(paused)),
            ("INGRESS_PRIORITY_GROUP_STAT_PACKETS", rx_packets),
            ("INGRESS_PRIORITY_GROUP_STAT_BYTES", rx_bytes),
            ("INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", group_drops),
            ("INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES", self.held),
            ("INGRESS_PRIORITY_GROUP_STAT_WATERMARK_BYTES", self.group_peak),
        ] {
            into.insert(format!("{port}:{class} SAI_{name}"), value);
        }
    }
}

pub(crate) const PS_PER_US: u64 = 1_000_000;
