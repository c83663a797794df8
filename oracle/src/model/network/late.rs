//! Hosts are brought up to date late: when one of their frames may arrive at its switch, when much is on the way to them,
//! and at the end of a run. Until then nothing that they do can be seen by anybody else.
//!
//! An event for a host's uplink is pending at or before every coming arrival of a frame of that host, so none is missed;
//! one that finds nothing is only a look too many.

use super::{NO_HOST, Network};
use crate::model::host::{Device, Host, Node, Plug};
use crate::model::link::Link;
use crate::model::packet::PacketKind;
use crate::model::queue::EventQueue;
use crate::model::tap::{Dir, Tap};
use rig_units::Time;

/// Frames on the way to a host before it is looked at whether they have arrived.
const PILE: usize = 16;

/// What a host is brought up to date with.
struct CatchUp<'a, T> {
    before: Time,
    bypass: bool,
    cable: &'a mut [Link; 2],
    tap: &'a mut T,
}

impl<T: Tap> CatchUp<'_, T> {
    /// Lets a port do everything that it does before `before`, in order.
    #[inline(always)]
    fn advance<D: Device + ?Sized>(self, device: &mut D, port: usize, plug: &mut Plug) {
        let CatchUp { before, bypass, cable, tap } = self;
        let (link, host) = (plug.link, plug.host);
        let (up, down) = both(cable, link);
        loop {
            let arrives = down.next_arrival();
            let now = arrives.min(device.next(port, plug));
            if now >= before {
                return;
            }
            if now == arrives {
                let Some(packet) = down.front() else { return };
                tap.frame(now, host, Dir::Rx, packet);
                let answer = device.arrive(port, plug, now, packet, bypass);
                down.finish();
                if let Some(answer) = answer {
                    let sent = up.send(now, &answer);
                    tap.frame(sent.last_bit, host, Dir::Tx, &answer);
                    device.answered(port, plug, sent.free);
                }
            } else if let Some(packet) = device.wake(port, plug, now) {
                let sent = up.send(now, packet);
                tap.frame(sent.last_bit, host, Dir::Tx, packet);
                device.started(port, plug, sent.free);
            }
        }
    }
}

impl<Q: EventQueue> Network<Q> {
    /// Lets a host do everything that it does before `before`, in order.
    #[inline(always)]
    pub(super) fn advance(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        let Host { plug, node } = &mut self.hosts[host];
        let cables = &mut self.wires.cables;
        let cable = &mut cables[usize::from(plug.link >> 1)];
        let bypass = self.shortcuts.bypass;
        if let Node::RigPort(port) = node {
            return CatchUp { before, bypass, cable, tap }.advance(port, 0, plug);
        }
        self.advance_other(host, before, tap);
    }

    /// The same for what is no port of the rig by itself.
    #[inline(never)]
    fn advance_other(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        let cables = &mut self.wires.cables;
        let bypass = self.shortcuts.bypass;
        if let Host { plug, node: Node::Nic(nic) } = &mut self.hosts[host] {
            let cable = &mut cables[usize::from(plug.link >> 1)];
            return CatchUp { before, bypass, cable, tap }.advance(nic, 0, plug);
        }
        let (port, plug, node) = at(&mut self.hosts, host);
        let cable = &mut cables[usize::from(plug.link >> 1)];
        if let Some(device) = node.device() {
            CatchUp { before, bypass, cable, tap }.advance(device, port, plug);
        }
    }

    /// The same, seldom.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        self.advance(host, before, tap);
        if let Node::Nic(nic) = &mut self.hosts[host].node {
            nic.seen(before);
        }
    }

    /// Comes back at or before the next arrival of a frame of this host at its switch.
    #[inline(always)]
    pub(super) fn arm_host(&mut self, host: u16) {
        let Host { plug, node } = &mut self.hosts[usize::from(host)];
        if plug.is_prompt {
            return self.arm_prompt(host);
        }
        let link = plug.link;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        let wake = if up.next_arrival() == Time::MAX {
            node.foresee(plug, up, down)
        } else {
            up.next_arrival()
        };
        if plug.uplink.set(wake) {
            self.wires.queue.push(wake, link);
        }
        if !self.shortcuts.late_hosts {
            self.arm_step(host);
        }
    }

    /// The same for a host that is never late: comes back at its next step, and at those of the hosts that it acts on.
    #[cold]
    #[inline(never)]
    fn arm_prompt(&mut self, host: u16) {
        self.arm_step(host);
        let peer = self.hosts[usize::from(host)].plug.peer;
        if peer == NO_HOST {
            let link = self.hosts[usize::from(host)].plug.link;
            let arrives = self.wires.look(link).next_arrival();
            if self.hosts[usize::from(host)].plug.uplink.set(arrives) {
                self.wires.queue.push(arrives, link);
            }
        } else {
            self.arm_step(peer);
        }
        for index in 0.. {
            let (_, _, node) = at(&mut self.hosts, host.into());
            let Some(&other) = node.hosts().get(index) else { break };
            self.arm_step(other);
        }
    }

    /// A frame of a switch is on its way to a host and arrives at `arrives`.
    #[inline]
    pub(super) fn toward_host(
        &mut self,
        host: u16,
        kind: PacketKind,
        arrives: Time,
        tap: &mut impl Tap,
    ) {
        let Host { plug, node } = &mut self.hosts[usize::from(host)];
        let link = plug.link;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        if plug.uplink.earliest() > arrives
            && let Some(wake) = node.consequence(plug, up, kind, arrives)
            && plug.uplink.set(wake)
        {
            self.wires.queue.push(wake, link);
        }
        // A host that never sends is never looked at: what it received must not pile up.
        let now = self.wires.now;
        if down.under_way() >= PILE && down.next_arrival() < now {
            self.catch_up(host.into(), now, tap);
        }
        if !self.shortcuts.late_hosts || self.hosts[usize::from(host)].plug.is_prompt {
            self.arm_step(host);
        }
    }

    /// A host does what it does now.
    pub(super) fn host_step(&mut self, host: u16, tap: &mut impl Tap) {
        self.hosts[usize::from(host)].plug.step.rang();
        self.catch_up(host.into(), Time(self.wires.now.0 + 1), tap);
        self.arm_host(host);
    }

    /// Comes back at the next step of a host.
    #[cold]
    #[inline(never)]
    fn arm_step(&mut self, host: u16) {
        let step = self.next_step(&self.hosts[usize::from(host)]);
        let plug = &mut self.hosts[usize::from(host)].plug;
        if plug.step.set(step) {
            self.wires.queue.push(step, plug.link ^ 1);
        }
    }

    /// When a host does something next; [`Time::MAX`] if nothing is to come.
    pub(super) fn next_step(&self, Host { plug, node }: &Host) -> Time {
        let arrives = self.wires.look(plug.link ^ 1).next_arrival();
        let (port, node) = match *node {
            Node::PortOf { first, port } => (port, &self.hosts[usize::from(first)].node),
            _ => (0, node),
        };
        node.look().map_or(arrives, |device| arrives.min(device.next(port, plug)))
    }
}

/// A host: which port of its node it is, its plug, and the node.
pub(super) fn at(hosts: &mut [Host], host: usize) -> (usize, &mut Plug, &mut Node) {
    if let Node::PortOf { first, port } = hosts[host].node {
        let [here, there] = hosts
            .get_disjoint_mut([host, usize::from(first)])
            .expect("a further port is not the first of its node");
        return (port, &mut here.plug, &mut there.node);
    }
    let Host { plug, node } = &mut hosts[host];
    (0, plug, node)
}

/// The link away from a host and the one toward it.
#[inline]
pub(super) fn both(cable: &mut [Link; 2], up: u16) -> (&mut Link, &mut Link) {
    let [first, second] = cable;
    if up & 1 == 0 { (first, second) } else { (second, first) }
}
