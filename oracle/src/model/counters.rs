//! Counters of one port and class, of a port and of the pools, and the names under which SONiC shows them.

use super::buffer::Pools;
use super::mac::Pauses;
use super::wred;
use rig_capture::DutCounter;
use rig_units::Time;

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
    /// Since when it has, without a break. Nobody outside of the ASIC can read this.
    pub paused_since: Option<Time>,
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
    pub(crate) discarded: u64,
}

impl PortShown {
    /// One of it, by what follows the port in its name.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        found(&self.all(), counter)
    }

    /// All of it.
    pub(crate) const fn all(&self) -> [(DutCounter, u64); 4] {
        [
            (DutCounter::PortReceived, self.received),
            (DutCounter::PortSent, self.sent),
            (DutCounter::PortReceivedOther, self.others),
            (DutCounter::PortDiscarded, self.discarded),
        ]
    }
}

/// One of the watermarks of the pools.
pub(crate) fn pool(pools: &Pools, name: &str) -> Option<u64> {
    found(&pools_shown(pools), name)
}

/// All of them.
pub(crate) const fn pools_shown(pools: &Pools) -> [(DutCounter, u64); 4] {
    let Pools { ingress, egress_lossless, egress_lossy, headroom } = pools;
    [
        (DutCounter::IngressPoolMost, ingress.peak()),
        (DutCounter::HeadroomPoolMost, headroom.peak()),
        (DutCounter::EgressPoolMost, egress_lossless.peak()),
        (DutCounter::LossyPoolMost, egress_lossy.peak()),
    ]
}

fn found(all: &[(DutCounter, u64)], wanted: &str) -> Option<u64> {
    all.iter().find(|(counter, _)| counter.name() == wanted).map(|&(_, value)| value)
}

impl Shown {
    /// All of it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (DutCounter, u64)> + use<> {
        self.of_port().into_iter().chain(self.of_queue())
    }

    /// One of it, by what follows the port in its name, and the class where the table is by queue.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        let pfc = || counter.strip_prefix(DutCounter::PFC)?.get(1..)?.strip_prefix('_');
        match pfc() {
            Some(wanted) => found(&self.of_port(), wanted),
            None => found(&self.of_queue(), counter),
        }
    }

    /// What the port counts in the class, without the `SAI_PORT_STAT_PFC_<c>_` before it.
    fn of_port(&self) -> [(DutCounter, u64); 4] {
        let Pauses { frames, xons: _, on_to_off, duration, paused: _, since: _ } = self.pauses;
        [
            (DutCounter::PfcReceived, frames),
            (DutCounter::PfcSent, self.pfc_sent),
            (DutCounter::PfcEnded, on_to_off),
            (DutCounter::PfcPaused, duration.0 / PS_PER_US),
        ]
    }

    /// What the queue and the priority group count.
    fn of_queue(&self) -> [(DutCounter, u64); 16] {
        let Counters { rx_packets, rx_bytes, tx_packets, tx_bytes, queue_drops, group_drops } =
            self.counters;
        let wred::Counts { marked, marked_bytes, dropped, dropped_bytes } = self.early;
        [
            (DutCounter::QueueSent, tx_packets),
            (DutCounter::QueueSentBytes, tx_bytes),
            (DutCounter::QueueDropped, queue_drops),
            (DutCounter::QueueMarked, marked),
            (DutCounter::QueueMarkedBytes, marked_bytes),
            (DutCounter::QueueDroppedEarly, dropped),
            (DutCounter::QueueDroppedEarlyBytes, dropped_bytes),
            (DutCounter::QueueHeld, self.queued),
            (DutCounter::QueueMost, self.queue_peak),
            (DutCounter::QueueIsPaused, u64::from(self.pauses.paused)),
            (DutCounter::GroupReceived, rx_packets),
            (DutCounter::GroupReceivedBytes, rx_bytes),
            (DutCounter::GroupDropped, group_drops),
            (DutCounter::GroupHeld, self.held),
            (DutCounter::GroupMost, self.share_peak),
            (DutCounter::GroupMostHeadroom, self.headroom_peak),
        ]
    }
}

/// Port and class that a counter's full name is about, and what follows them: `Ethernet4`, 3 and
/// `SAI_QUEUE_STAT_PACKETS` of `Ethernet4:3 SAI_QUEUE_STAT_PACKETS`.
pub(crate) fn split(name: &str) -> Option<(&str, u8, &str)> {
    let (at, counter) = name.split_once(' ')?;
    let (port, class) = match (at.split_once(':'), counter.strip_prefix(DutCounter::PFC)) {
        (Some((port, class)), None) => (port, class),
        (None, Some(rest)) => (at, rest.get(..1)?),
        _ => return None,
    };
    Some((port, class.parse().ok().filter(|class| *class < 8)?, counter))
}

pub(crate) const PS_PER_US: u64 = 1_000_000;
