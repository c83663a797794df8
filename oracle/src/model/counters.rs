//! Counters of one port and class, of a port and of the pools, and the names under which SONiC shows them.

use super::buffer::Pools;
use super::mac::Pauses;
use super::wred;
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
    pub(crate) early: wred::Counts,
    pub(crate) queued: u64,
    pub(crate) queue_peak: u64,
    pub(crate) held: u64,
    pub(crate) share_peak: u64,
    pub(crate) headroom_peak: u64,
}

/// What is shown of one port as a whole: frames of data, whatever became of them, and all others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortShown {
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) others: u64,
}

impl PortShown {
    /// Adds all of it under SONiC's names, for the port called `port`.
    pub(crate) fn name(&self, port: &str, into: &mut BTreeMap<String, u64>) {
        for (name, value) in self.all() {
            into.insert(format!("{port} {name}"), value);
        }
    }

    /// One of it, by what follows the port in its name.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        found(&self.all(), counter)
    }

    const fn all(&self) -> [(&'static str, u64); 3] {
        [
            ("SAI_PORT_STAT_IF_IN_UCAST_PKTS", self.received),
            ("SAI_PORT_STAT_IF_OUT_UCAST_PKTS", self.sent),
            // PFC is MAC control and counts nowhere but in counters of its own.
            ("SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS", self.others),
        ]
    }
}

/// Adds the watermarks of the pools under SONiC's names.
pub(crate) fn name_pools(pools: &Pools, into: &mut BTreeMap<String, u64>) {
    into.extend(pools_shown(pools).map(|(name, value)| (name.to_owned(), value)));
}

/// One of them.
pub(crate) fn pool(pools: &Pools, name: &str) -> Option<u64> {
    found(&pools_shown(pools), name)
}

/// The headroom pool is no pool of SONiC's: it is a part of the ingress pool (`xoff`).
const fn pools_shown(pools: &Pools) -> [(&'static str, u64); 4] {
    let Pools { ingress, egress_lossless, egress_lossy, headroom } = pools;
    [
        ("ingress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", ingress.peak()),
        ("ingress_lossless_pool SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES", headroom.peak()),
        ("egress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", egress_lossless.peak()),
        ("egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", egress_lossy.peak()),
    ]
}

fn found(all: &[(&str, u64)], wanted: &str) -> Option<u64> {
    all.iter().find(|(name, _)| *name == wanted).map(|&(_, value)| value)
}

/// What the names of a port's PFC counters begin with, before the class.
const PFC: &str = "SAI_PORT_STAT_PFC_";

impl Shown {
    /// Adds all of it under SONiC's names, for `class` of the port called `port`.
    pub(crate) fn name(&self, port: &str, class: u8, into: &mut BTreeMap<String, u64>) {
        for (name, value) in self.of_port() {
            into.insert(format!("{port} {PFC}{class}_{name}"), value);
        }
        for (name, value) in self.of_queue() {
            into.insert(format!("{port}:{class} {name}"), value);
        }
    }

    /// One of it, by what follows the port in its name, and the class where the table is by queue.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        let pfc = || counter.strip_prefix(PFC)?.get(1..)?.strip_prefix('_');
        match pfc() {
            Some(wanted) => found(&self.of_port(), wanted),
            None => found(&self.of_queue(), counter),
        }
    }

    /// What the port counts in the class, without the `SAI_PORT_STAT_PFC_<c>_` before it.
    fn of_port(&self) -> [(&'static str, u64); 4] {
        let Pauses { frames, xons: _, on_to_off, duration, paused: _ } = self.pauses;
        [
            ("RX_PKTS", frames),
            ("TX_PKTS", self.pfc_sent),
            ("ON2OFF_RX_PKTS", on_to_off),
            ("RX_PAUSE_DURATION_US", duration.0 / PS_PER_US),
        ]
    }

    /// What the queue and the priority group count.
    fn of_queue(&self) -> [(&'static str, u64); 16] {
        let Counters { rx_packets, rx_bytes, tx_packets, tx_bytes, queue_drops, group_drops } =
            self.counters;
        let wred::Counts { marked, marked_bytes, dropped, dropped_bytes } = self.early;
        [
            ("SAI_QUEUE_STAT_PACKETS", tx_packets),
            ("SAI_QUEUE_STAT_BYTES", tx_bytes),
            ("SAI_QUEUE_STAT_DROPPED_PACKETS", queue_drops),
            ("SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", marked),
            ("SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES", marked_bytes),
            ("SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", dropped),
            ("SAI_QUEUE_STAT_WRED_DROPPED_BYTES", dropped_bytes),
            ("SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", self.queued),
            ("SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", self.queue_peak),
            ("SAI_QUEUE_ATTR_PAUSE_STATUS", u64::from(self.pauses.paused)),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", rx_packets),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_BYTES", rx_bytes),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", group_drops),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES", self.held),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", self.share_peak),
            ("SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", self.headroom_peak),
        ]
    }
}

/// Port and class that a counter's full name is about, and what follows them: `Ethernet4`, 3 and
/// `SAI_QUEUE_STAT_PACKETS` of `Ethernet4:3 SAI_QUEUE_STAT_PACKETS`.
pub(crate) fn split(name: &str) -> Option<(&str, u8, &str)> {
    let (at, counter) = name.split_once(' ')?;
    let (port, class) = match (at.split_once(':'), counter.strip_prefix(PFC)) {
        (Some((port, class)), None) => (port, class),
        (None, Some(rest)) => (at, rest.get(..1)?),
        _ => return None,
    };
    Some((port, class.parse().ok().filter(|class| *class < 8)?, counter))
}

pub(crate) const PS_PER_US: u64 = 1_000_000;
