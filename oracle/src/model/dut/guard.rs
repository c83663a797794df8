//! One guarded queue: its watchdog, the handler on it, and what is counted about both.

use super::handler::{Handler, Order, Packets};
use crate::model::network::Network;
use crate::model::pfcwd::{Counters, Paused, Watchdog};
use crate::model::topology::PortId;
use rig_lab::{PfcwdFaults, Switch};
use rig_units::Time;
use std::collections::BTreeMap;

/// One guarded queue.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) at: PortId,
    pub(super) class: u8,
    pub(super) watchdog: Watchdog,
    /// Makes detection see a storm until it fires.
    pub(super) debug_storm: bool,
    /// The last poll that it was not told of, as it would have read nothing but zeros.
    asleep: Option<Time>,
    handler: Option<Handler>,
    stats: Stats,
    /// PFC frames that the port itself had sent at the last poll.
    own_pfc: u64,
}

/// What a watchdog shows of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stats {
    detected: u64,
    restored: u64,
    /// Packets while there was a handler, over all storms.
    all: Packets,
    /// The same of the last storm.
    last: Packets,
}

impl Guard {
    pub(super) fn new(at: PortId, class: u8, watchdog: Watchdog) -> Guard {
        Guard {
            at,
            class,
            watchdog,
            debug_storm: false,
            asleep: None,
            handler: None,
            stats: Stats::default(),
            own_pfc: 0,
        }
    }

    /// Lets it sleep through a poll if that would read nothing but zeros; whether it does. Of a healthy watchdog each such poll but the last
    /// leaves no trace, and most queues of a switch with many ports are never used.
    pub(super) fn sleeps(&mut self, network: &Network) -> bool {
        let sleeps = network.switch(self.at.switch).is_blank(self.at.port, self.class);
        if sleeps {
            self.asleep = Some(network.now());
        } else if let Some(last) = self.asleep.take() {
            let published = self.watchdog.poll(&Counters::blank(last));
            debug_assert!(published.is_none(), "zeros are no storm");
        }
        sleeps
    }

    /// Begins anew with this watchdog.
    pub(super) fn begin(&mut self, watchdog: Watchdog) {
        (self.watchdog, self.asleep) = (watchdog, None);
    }

    /// Reads what a poll reads.
    pub(super) fn read(&mut self, network: &Network, faults: &PfcwdFaults) -> Counters {
        let view = network.queue_view(self.at, self.class);
        let mut counters = Counters {
            at: network.now(),
            pfc_rx_pkts: view.pfc_rx_pkts,
            xon_rx_pkts: view.xon_rx_pkts,
            on2off_rx_pkts: view.on2off_rx_pkts,
            rx_pause_duration_us: view.rx_pause_duration_us,
            queue_packets: view.packets,
            queue_occupancy_bytes: view.occupancy,
            paused: view.paused,
            port_counter_timestamp_ns: Some(network.now().0 / 1_000),
            debug_storm: self.debug_storm,
        };
        if faults.own_pfc_counts_as_storm {
            counters.pfc_rx_pkts += view.pfc_tx_pkts;
            counters.debug_storm |= view.pfc_tx_pkts > self.own_pfc;
            self.own_pfc = view.pfc_tx_pkts;
        }
        counters
    }

    /// What a watchdog in hardware knows; nothing of a pause that it overlooks.
    pub(super) fn paused(&self, network: &Network, overlooked: bool) -> Paused {
        let view = network.queue_view(self.at, self.class);
        let since = view.paused_since.filter(|_| !overlooked);
        Paused { at: network.now(), since, in_all_us: view.rx_pause_duration_us }
    }

    /// Puts a handler on the queue.
    pub(super) fn handle(&mut self, order: &Order<'_>, network: &mut Network) {
        self.stats.detected += 1;
        self.handler = Some(Handler::begin(order, network));
    }

    /// Takes the handler off, if there is one.
    pub(super) fn release(&mut self, network: &mut Network) {
        if self.handler.is_none() {
            return;
        }
        self.stats = Stats { restored: self.stats.restored + 1, ..self.stats(network) };
        if let Some(handler) = self.handler.take() {
            handler.end(network);
        }
    }

    /// What stands behind the port in the names of what the watchdog of a class shows.
    pub(super) fn behind_port(class: u8) -> impl Iterator<Item = String> {
        let all = Stats::default().all();
        all.into_iter().map(move |(name, _)| format!(":{class} {TABLE}{name}"))
    }

    /// What is counted until now.
    pub(super) fn stats(&self, network: &Network) -> Stats {
        let Some(handler) = &self.handler else { return self.stats };
        let last = handler.packets(network);
        Stats { all: self.stats.all.plus(last), last, ..self.stats }
    }
}

/// What the names of a watchdog's counters begin with, behind port and class.
const TABLE: &str = "PFC_WD_QUEUE_STATS_";

impl Stats {
    /// Adds all of it under SONiC's names, for the queue `class` of the port called `port`.
    pub(super) fn name(&self, port: &str, class: u8, into: &mut BTreeMap<String, u64>) {
        for (name, value) in self.all() {
            into.insert(format!("{port}:{class} {TABLE}{name}"), value);
        }
    }

    /// The same without what is 0.
    pub(super) fn stirred(&self, port: u16, class: u8, into: &mut BTreeMap<String, u64>) {
        if *self == Stats::default() {
            return;
        }
        let port = Switch::port_name(port);
        for (name, value) in self.all().into_iter().filter(|&(_, value)| value != 0) {
            into.insert(format!("{port}:{class} {TABLE}{name}"), value);
        }
    }

    /// One of it, by what follows port and class in its name.
    pub(super) fn find(&self, counter: &str) -> Option<u64> {
        let wanted = counter.strip_prefix(TABLE)?;
        self.all().iter().find(|(name, _)| *name == wanted).map(|&(_, value)| value)
    }

    const fn all(&self) -> [(&'static str, u64); 10] {
        let Stats { detected, restored, all, last } = self;
        [
            ("DEADLOCK_DETECTED", *detected),
            ("DEADLOCK_RESTORED", *restored),
            ("TX_PACKETS", all.tx),
            ("TX_DROPPED_PACKETS", all.tx_dropped),
            ("RX_PACKETS", all.rx),
            ("RX_DROPPED_PACKETS", all.rx_dropped),
            ("TX_PACKETS_LAST", last.tx),
            ("TX_DROPPED_PACKETS_LAST", last.tx_dropped),
            ("RX_PACKETS_LAST", last.rx),
            ("RX_DROPPED_PACKETS_LAST", last.rx_dropped),
        ]
    }
}
