//! Hosts that are NICs: brought up to date as the others are, late behind a switch, and step by step on a cable between hosts.

use super::late::both;
use super::{Network, Wiring};
use crate::model::network::control::Delivered;
use crate::model::nic::{Config, Flow, Nic, Verb};
use crate::model::packet::Packet;
use crate::model::queue::EventQueue;
use crate::model::tap::{Dir, Tap};
use rig_units::Time;

impl<Q: EventQueue> Network<Q> {
    /// Lets a NIC do everything that it does before `before`, in order.
    pub(super) fn advance_nic(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        let at = &mut self.hosts[host];
        let Wiring { link, host, .. } = at.wiring;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        loop {
            let arrives = down.next_arrival();
            let now = arrives.min(at.gate()).min(at.nic_wake()).min(at.starts());
            if now >= before {
                return;
            }
            if now == arrives {
                let Some(packet) = down.front() else { return };
                tap.frame(now, host, Dir::Rx, packet);
                at.receive_nic(now, packet);
                down.finish();
            } else if now == at.gate() {
                at.on_gate(now);
            } else if now == at.nic_wake() {
                at.on_nic_wake(now);
            } else {
                let Some(packet) = at.next_of_nic() else { return };
                self.wires.work.count(packet.kind);
                let sent = up.send(now, packet);
                tap.frame(sent.last_bit, host, Dir::Tx, packet);
                at.started_by_nic(sent.free);
            }
        }
    }

    /// A frame of the outside world whose last bit reaches a host now.
    pub fn deliver_to_host(&mut self, host: u16, packet: &Packet, tap: &mut impl Tap) -> Delivered {
        let now = self.wires.now;
        self.catch_up(host.into(), now, tap);
        let at = &mut self.hosts[usize::from(host)];
        if at.is_nic() {
            at.receive_nic(now, packet);
        } else {
            at.receive(now, packet, false);
        }
        self.arm_host(host);
        Delivered::Done
    }
}

/// What NICs are asked to do, at the present instant.
impl<Q: EventQueue> Network<Q> {
    /// Starts a flow; its first frame may leave now. A NIC at the far end is told the size of what a READ is answered with, as
    /// connection management would.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn start_flow(&mut self, host: u16, flow: &Flow) {
        self.hosts[usize::from(host)].start_flow(self.wires.now, flow);
        if flow.verb == Verb::Read
            && let Some(far) = self.hosts.get_mut(usize::from(flow.dst))
        {
            far.expect(flow.id, host, flow.mtu);
        }
        self.arm_host(host);
    }

    /// Sends nothing new of a flow of `host`. What was sent may be sent again.
    pub fn stop_flow(&mut self, host: u16, id: u16) {
        self.hosts[usize::from(host)].stop_flow(self.wires.now, id);
        self.arm_host(host);
    }

    /// Gives the NIC that is `host` another configuration. Its state stays; limiters that are kept for something else start
    /// afresh.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn set_nic(&mut self, host: u16, config: &Config) {
        self.hosts[usize::from(host)].set_nic(self.wires.now, config);
        self.arm_host(host);
    }

    /// Lets `host` answer each frame of data with an acknowledgement of so many bytes from now on, or not. A NIC answers as its
    /// connections do.
    pub fn answer(&mut self, host: u16, size: Option<u16>) {
        self.hosts[usize::from(host)].set_answer(size);
        self.arm_host(host);
    }

    /// The NIC that is `host`, to look at.
    pub fn nic(&self, host: u16) -> Option<&Nic> {
        self.hosts[usize::from(host)].nic()
    }
}
