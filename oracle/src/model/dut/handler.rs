//! What is done to a stormed queue, and undone when it is restored (sonic.md section 3.4).
//!
//! Both actions take PFC off the class of the port: the queue sends whatever pauses arrive, and the port asks nobody to
//! pause. Dropping also discards what arrives for the queue; built with ACLs, what arrives at the port in that class
//! too. Alerting does nothing, and then no packet is counted either.

use crate::model::network::Network;
use crate::model::packet::bit;
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
    pub(super) port: u16,
    pub(super) class: u8,
    pub(super) effect: Effect,
    pub(super) config: &'a Pfcwd,
    /// Further queues that a drop takes.
    pub(super) also: Vec<(u16, u8)>,
    pub(super) faults: &'a PfcwdFaults,
}

/// A handler that is in effect.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    port: u16,
    class: u8,
    effect: Effect,
    drop_by: DropBy,
    /// Queues that it takes: its own first.
    queues: Vec<(u16, u8)>,
    /// Ports whose senders it keeps paused.
    holds: Vec<u16>,
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
    fn read(network: &Network, port: u16, class: u8) -> Packets {
        let counters = network.switch(0).counters(port, class);
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
        let &Order { port, class, effect, config, ref also, faults } = order;
        let mut handler = Handler {
            port,
            class,
            effect,
            drop_by: config.drop_by,
            queues: vec![(port, class)],
            holds: Vec::new(),
            before: Packets::read(network, port, class),
            miscount: faults.counters_off.unwrap_or(0).into(),
        };
        if effect == Effect::Drop {
            handler.queues.extend(also);
            if faults.pfc_continues_after_drop {
                let paused = |port: &u16| network.switch(0).xoff_sent(*port) & bit(class) != 0;
                let ports = u16::try_from(network.switch(0).port_count()).unwrap_or(u16::MAX);
                handler.holds = (0..ports).filter(|&other| other != port).filter(paused).collect();
            }
            network.leak(port, class, faults.drop_leaks.unwrap_or(0));
            if config.backlog == Backlog::Discarded {
                for &(port, class) in &handler.queues {
                    network.discard_backlog(port, class);
                }
            }
        }
        handler.set(network, true);
        handler
    }

    /// Gives the queue back to what it was.
    pub(super) fn end(self, network: &mut Network) {
        network.leak(self.port, self.class, 0);
        self.set(network, false);
    }

    fn set(&self, network: &mut Network, on: bool) {
        if self.effect == Effect::Nothing {
            return;
        }
        for &port in &self.holds {
            network.hold_xoff(port, self.class, on);
        }
        for &(port, class) in &self.queues {
            if self.effect == Effect::Drop {
                network.drop_egress(port, class, on);
                if self.drop_by == DropBy::Acl {
                    network.drop_ingress(port, class, on);
                }
            }
            network.ignore_pfc(port, class, on);
        }
    }

    /// Packets since it began.
    pub(super) fn packets(&self, network: &Network) -> Packets {
        if self.effect == Effect::Nothing {
            return Packets::default();
        }
        let now = Packets::read(network, self.port, self.class);
        now.combine(self.before, |now, before| now - before + self.miscount)
    }
}
