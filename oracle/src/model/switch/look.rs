//! What can be read of a switch.

use super::Switch;
use crate::model::counters::{
    self, Counters, PS_PER_US, PortShown, QueueView, Shown, pool, pools_shown,
};
use crate::model::memories::PacketMemories;
use crate::model::packet::slot;
use rig_capture::DutCounter;
use rig_units::Time;
use std::collections::BTreeMap;

/// The name of each counter, in their order, and which of those it is that [`Switch::each`] sees.
pub(super) type Names = Vec<(String, usize)>;

impl Switch {
    /// What a poller reads of one queue at `now`.
    pub fn queue_view(&self, port: u16, queue: u8, now: Time) -> QueueView {
        let index = usize::from(port);
        let port = &self.ports[index];
        let counters = &port.counters[slot(queue)];
        let pauses = port.mac.pauses(queue, now);
        QueueView {
            occupancy: self.buffer.queued(index, queue),
            packets: counters.tx_packets,
            dropped: counters.queue_drops,
            pfc_rx_pkts: pauses.frames,
            xon_rx_pkts: pauses.xons,
            pfc_tx_pkts: port.pfc.sent(queue),
            on2off_rx_pkts: pauses.on_to_off,
            rx_pause_duration_us: pauses.duration.0 / PS_PER_US,
            paused: pauses.paused,
            paused_since: pauses.since,
        }
    }

    /// Whether a poller reads nothing but zeros of a queue: no PFC frame has reached its port, and no frame the queue.
    pub(crate) fn is_blank(&self, port: u16, queue: u8) -> bool {
        let index = usize::from(port);
        let port = &self.ports[index];
        port.mac.received() == 0
            && port.counters[slot(queue)].tx_packets == 0
            && self.buffer.queued(index, queue) == 0
    }

    /// Counters of one port and class.
    pub fn counters(&self, port: u16, class: u8) -> &Counters {
        &self.ports[usize::from(port)].counters[slot(class)]
    }

    /// The packet memories, to look at.
    pub const fn buffer(&self) -> &PacketMemories {
        &self.buffer
    }

    /// Classes whose senders at `port` are told to pause.
    pub fn xoff_sent(&self, port: u16) -> u8 {
        self.ports[usize::from(port)].pfc.asserted()
    }

    /// How many ports there are.
    pub const fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// The numbers of its ports, from 0 on without a hole.
    pub(crate) fn port_numbers(&self) -> core::ops::Range<u16> {
        0..u16::try_from(self.ports.len()).unwrap_or(u16::MAX)
    }

    /// Every counter at `now` under the name SONiC has for it, such as `Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS` or
    /// `Ethernet4:3 SAI_QUEUE_STAT_PACKETS`, in the order of the names.
    pub fn snapshot(&self, now: Time) -> impl Iterator<Item = (&str, u64)> {
        // Thousands of names are made once, and not each time that somebody reads: most of what is read are idle ports.
        let names = self.counter_names.get_or_init(|| {
            let mut names = Names::new();
            self.each(now, |port, class, counter, _| {
                names.push((counter.of(port, class), names.len()));
            });
            names.sort_unstable();
            names
        });
        let mut values = Vec::with_capacity(names.len());
        self.each(now, |_, _, _, value| values.push(value));
        names.iter().map(move |(name, at)| (name.as_str(), values[*at]))
    }

    /// Adds every counter that is not 0, and those that are of no port.
    pub(crate) fn stirred(&self, now: Time, into: &mut BTreeMap<String, u64>) {
        for index in (0..self.names.len()).filter(|&index| !self.is_untouched(index)) {
            self.each_of(index, now, &mut |port, class, counter, value| {
                if value != 0 {
                    into.insert(counter.of(port, class), value);
                }
            });
        }
        for (counter, value) in pools_shown(&self.buffer.pools()) {
            into.insert(counter.of("", 0), value);
        }
    }

    /// Whether nothing has come in at a port so far and nothing was to leave by it: all that it counts is 0. That is
    /// found out at a tenth of what it takes to look at each counter.
    fn is_untouched(&self, index: usize) -> bool {
        let port = &self.ports[index];
        let classes = || 0..8;
        self.secys.is_empty()
            && port.mac.received() == 0
            && port.egress.is_empty()
            && port.counters.iter().all(|class| *class == Counters::default())
            && classes().all(|class| self.buffer.queue_peak(index, class) == 0)
            && classes().all(|class| self.buffer.queued(index, class) == 0)
            && classes().all(|class| port.pfc.sent(class) == 0)
    }

    /// What stands behind every port in the names of its counters, and whether that is a watermark.
    pub(crate) fn behind_ports(&self) -> Vec<(String, bool)> {
        let mut behind = Vec::new();
        self.each_of(0, Time::ZERO, &mut |_, class, counter, _| {
            behind.push((counter.of("", class), counter.is_watermark()));
        });
        behind
    }

    /// The names of its ports.
    pub(crate) fn port_names(&self) -> &[String] {
        &self.names
    }

    /// Every watermark of the chip, with the port and the class that it is about; those of the pools last.
    pub(crate) fn watermarks(&self, mut see: impl FnMut(&str, u8, DutCounter, u64)) {
        for (index, name) in self.names.iter().enumerate() {
            for class in 0..8 {
                let buffer = &self.buffer;
                see(name, class, DutCounter::QueueMost, buffer.queue_peak(index, class));
                see(name, class, DutCounter::GroupMost, buffer.share_peak(index, class));
                see(name, class, DutCounter::GroupMostHeadroom, buffer.headroom_peak(index, class));
            }
        }
        for (counter, value) in pools_shown(&self.buffer.pools()) {
            see("", 0, counter, value);
        }
    }

    /// Every counter, with the port and the class that it is about, always in one order.
    pub(crate) fn each(&self, now: Time, mut see: impl FnMut(&str, u8, DutCounter, u64)) {
        for index in 0..self.names.len() {
            self.each_of(index, now, &mut see);
        }
        for (counter, value) in pools_shown(&self.buffer.pools()) {
            see("", 0, counter, value);
        }
    }

    /// Every counter of one port.
    fn each_of(&self, index: usize, now: Time, see: &mut impl FnMut(&str, u8, DutCounter, u64)) {
        let Some(name) = self.names.get(index) else { return };
        let secured = self.secys.get(index).map(|secy| secy.counters().all());
        let whole = self.port_shown(index).all().into_iter();
        whole
            .chain(secured.into_iter().flatten())
            .for_each(|(counter, value)| see(name, 0, counter, value));
        for class in 0..8 {
            let all = self.shown(index, class, now).all();
            all.for_each(|(counter, value)| see(name, class, counter, value));
        }
    }

    /// One of them; `None` when there is no such counter.
    pub fn counter(&self, name: &str, now: Time) -> Option<u64> {
        if let Some(value) = pool(&self.buffer.pools(), name) {
            return Some(value);
        }
        let index = |port: &str| self.names.iter().position(|name| name == port);
        match counters::split(name) {
            Some((port, class, counter)) => self.shown(index(port)?, class, now).find(counter),
            None => {
                let (port, counter) = name.split_once(' ')?;
                let index = index(port)?;
                let secured = || self.secys.get(index)?.counters().find(counter);
                self.port_shown(index).find(counter).or_else(secured)
            }
        }
    }

    /// What is shown of one port as a whole.
    fn port_shown(&self, index: usize) -> PortShown {
        let port = &self.ports[index];
        let faults = self.buffer.faults();
        let off_by = u64::from(faults.port_counters_off.unwrap_or(0));
        let sum = |of: fn(&Counters) -> u64| {
            let sum: u64 = port.counters.iter().map(of).sum();
            sum + off_by * u64::from(sum > 0)
        };
        PortShown {
            received: sum(|class| class.rx_packets),
            sent: sum(|class| class.tx_packets),
            others: if faults.counter_counts_pfc_as_data { port.mac.received() } else { 0 },
            discarded: port.counters.iter().map(|class| class.queue_drops).sum(),
        }
    }

    /// Everything that is shown of one port and class.
    fn shown(&self, index: usize, class: u8, now: Time) -> Shown {
        let port = &self.ports[index];
        let (headroom, rest) = self.buffer.held(index, class);
        let mut counters = port.counters[slot(class)];
        let off_by = u64::from(self.buffer.faults().drop_counter_off.unwrap_or(0));
        for drops in [&mut counters.queue_drops, &mut counters.group_drops] {
            *drops += off_by * u64::from(*drops > 0);
        }
        Shown {
            counters,
            pauses: port.mac.pauses(class, now),
            pfc_sent: port.pfc.sent(class),
            early: self.wred.counts(index, class),
            queued: self.buffer.queued(index, class),
            queue_peak: self.buffer.queue_peak(index, class),
            held: headroom + rest,
            share_peak: self.buffer.share_peak(index, class),
            headroom_peak: self.buffer.headroom_peak(index, class),
        }
    }
}
