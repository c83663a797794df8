//! What is done to a stormed queue, and undone when it is restored (sonic.md section 3.4).
//!
//! Both actions take PFC off the class of the port: the queue sends whatever pauses arrive, and the port asks nobody to
//! pause. Dropping also discards what arrives for the queue; built with ACLs, what arrives at the port in that class
//! too. Alerting does nothing, and then no packet is counted either.

use crate::model::network::Network;
use crate::model::packet::bit;
use crate::model::topology::PortId;
use rig_lab::{Backlog, DropBy, Pfcwd, PfcwdFaults};

/// What a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Drop,
    Forward,
    Nothing,
}

/// What a handler is to be.
pub(super) struct Order<'a> {
    pub(super) at: PortId,
    pub(super) class: u8,
    pub(super) effect: Effect,
    pub(super) config: &'a Pfcwd,
    /// Further queues that a drop takes.
    pub(super) also: Vec<(PortId, u8)>,
    pub(super) faults: &'a PfcwdFaults,
}

/// A handler that is in effect.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    at: PortId,
    class: u8,
    effect: Effect,
    drop_by: DropBy,
    /// Queues that it takes: its own first.
    queues: Vec<(PortId, u8)>,
    /// Ports whose senders it keeps paused.
    holds: Vec<PortId>,
    /// The port's counters when it began.
    before: Packets,
    miscount: u64,
}

/// Packets of one class of one port, by the queue (tx) and by the priority group (rx): passed and dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Packets {
    pub(super) tx: u64,
    pub(super) tx_dropped: u64,
    pub(super) rx: u64,
    pub(super) rx_dropped: u64,
}

impl Packets {
    fn read(network: &Network, at: PortId, class: u8) -> Packets {
        let counters = network.switch(at.switch).counters(at.port, class);
        Packets {
            tx: counters.tx_packets,
            tx_dropped: counters.queue_drops,
            rx: counters.rx_packets - counters.group_drops,
            rx_dropped: counters.group_drops,
        }
    }

    fn combine(self, other: Packets, f: impl Fn(u64, u64) -> u64) -> Packets {
        Packets {
            tx: f(self.tx, other.tx),
            tx_dropped: f(self.tx_dropped, other.tx_dropped),
            rx: f(self.rx, other.rx),
            rx_dropped: f(self.rx_dropped, other.rx_dropped),
        }
    }

    pub(super) fn plus(self, other: Packets) -> Packets {
        self.combine(other, |a, b| a + b)
    }
}

impl Handler {
    /// Takes effect now.
    pub(super) fn begin(order: &Order<'_>, network: &mut Network) -> Handler {
        let &Order { at, class, effect, config, ref also, faults } = order;
        let mut handler = Handler {
            at,
            class,
            effect,
            drop_by: config.drop_by,
            queues: vec![(at, class)],
            holds: Vec::new(),
            before: Packets::read(network, at, class),
            miscount: faults.counters_off.unwrap_or(0).into(),
        };
        if effect == Effect::Drop {
            handler.queues.extend(also);
            if faults.pfc_continues_after_drop {
                let switch = network.switch(at.switch);
                let paused = |other: &PortId| switch.xoff_sent(other.port) & bit(class) != 0;
                let others = switch.port_numbers().map(|port| PortId { port, ..at });
                let others = others.filter(|&other| other != at);
                handler.holds = others.filter(paused).collect();
            }
            network.leak(at, class, faults.drop_leaks.unwrap_or(0));
            if config.backlog == Backlog::Discarded {
                for &(at, class) in &handler.queues {
                    network.discard_backlog(at, class);
                }
            }
        }
        handler.set(network, true);
        handler
    }

    /// Gives the queue back to what it was.
    pub(super) fn end(self, network: &mut Network) {
        network.leak(self.at, self.class, 0);
        self.set(network, false);
    }

    fn set(&self, network: &mut Network, on: bool) {
        if self.effect == Effect::Nothing {
            return;
        }
        for &at in &self.holds {
            network.hold_xoff(at, self.class, on);
        }
        for &(at, class) in &self.queues {
            if self.effect == Effect::Drop {
                network.drop_egress(at, class, on);
                if self.drop_by == DropBy::Acl {
                    network.drop_ingress(at, class, on);
                }
            }
            network.ignore_pfc(at, class, on);
        }
    }

    /// Packets since it began.
    pub(super) fn packets(&self, network: &Network) -> Packets {
        if self.effect == Effect::Nothing {
            return Packets::default();
        }
        let now = Packets::read(network, self.at, self.class);
        now.combine(self.before, |now, before| now - before + self.miscount)
    }
}
