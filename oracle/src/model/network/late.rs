//! Hosts are brought up to date late: when one of their frames may arrive at its switch, when much is on the way to them,
//! and at the end of a run. Until then nothing that they do can be seen by anybody else.
//!
//! An event for a host's uplink is pending at or before every coming arrival of a frame of that host, so none is missed;
//! one that finds nothing is only a look too many.

use super::{NO_HOST, Network, Wiring};
use crate::model::host::Host;
use crate::model::link::Link;
use crate::model::packet::Kind;
use crate::model::queue::EventQueue;
use crate::model::tap::{Dir, Tap};
use rig_units::Time;

/// Frames on the way to a host before it is looked at whether they have arrived.
const PILE: usize = 16;

impl<Q: EventQueue> Network<Q> {
    /// Lets a host do everything that it does before `before`, in order.
    #[inline(always)]
    pub(super) fn advance(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        if self.hosts[host].is_nic() {
            return self.advance_nic(host, before, tap);
        }
        let at = &mut self.hosts[host];
        let Wiring { link, host, .. } = at.wiring;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        loop {
            let arrives = down.next_arrival();
            let now = arrives.min(at.gate()).min(at.starts());
            if now >= before {
                return;
            }
            if now == arrives {
                let Some(packet) = down.front() else { return };
                tap.frame(now, host, Dir::Rx, packet);
                let answer = if at.is_secured() {
                    at.receive_secured(now, packet, self.shortcuts.bypass)
                } else {
                    at.receive(now, packet, self.shortcuts.bypass)
                };
                down.finish();
                if let Some(answer) = answer {
                    self.wires.work.count(Kind::Ack);
                    let sent = up.send(now, &answer);
                    tap.frame(sent.last_bit, host, Dir::Tx, &answer);
                    at.answered(sent.free);
                }
            } else if now == at.gate() {
                at.on_gate(now);
            } else {
                let secured = if at.is_secured() { at.next_secured() } else { None };
                let Some(packet) = secured.as_ref().or_else(|| at.next()) else { return };
                self.wires.work.count(packet.kind);
                let sent = up.send(now, packet);
                tap.frame(sent.last_bit, host, Dir::Tx, packet);
                at.started(sent.free);
            }
        }
    }

    /// The same, seldom.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, host: usize, before: Time, tap: &mut impl Tap) {
        if self.bridge.is_none() || !self.advance_bridged(host, before, tap) {
            self.advance(host, before, tap);
        }
        self.hosts[host].seen(before);
    }

    /// Comes back at or before the next arrival of a frame of this host at its switch.
    #[inline(always)]
    pub(super) fn arm_host(&mut self, host: u16) {
        let at = &mut self.hosts[usize::from(host)];
        if at.peer != NO_HOST {
            let peer = at.peer;
            self.arm_step(host);
            return self.arm_step(peer);
        }
        let link = at.wiring.link;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        let wake = if up.next_arrival() == Time::MAX {
            let next = at.next_size().filter(|_| at.starts() != Time::MAX);
            let next = next.map(|size| up.arrival_of(at.starts(), size));
            // What arrives may be answered or lift a pause; what comes behind it may do so too.
            let behind = if at.is_nic() {
                at.heeds_answers() || down.carries_more_than_answers()
            } else {
                at.answers().is_some() || down.carries_pfc()
            };
            let caused = down.front().and_then(|packet| {
                let (busy, size) = at.least();
                let least = || behind.then(|| up.arrival_of(packet.at.max(busy), size));
                // What comes behind at a NIC may have an effect sooner.
                let own =
                    if at.is_nic() { None } else { consequence(at, up, packet.kind, packet.at) };
                own.or_else(least)
            });
            let lifted = (at.stirs() != Time::MAX).then(|| up.arrival_of(at.stirs(), 0));
            next.into_iter().chain(caused).chain(lifted).min().unwrap_or(Time::MAX)
        } else {
            up.next_arrival()
        };
        if at.uplink.set(wake) {
            self.wires.queue.push(wake, link);
        }
        if !self.shortcuts.late_hosts {
            self.arm_step(host);
        }
    }

    /// A frame of a switch is on its way to a host and arrives at `arrives`.
    #[inline]
    pub(super) fn toward_host(&mut self, host: u16, kind: Kind, arrives: Time, tap: &mut impl Tap) {
        let at = &mut self.hosts[usize::from(host)];
        let link = at.wiring.link;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        if at.uplink.earliest() > arrives
            && let Some(wake) = consequence(at, up, kind, arrives)
            && at.uplink.set(wake)
        {
            self.wires.queue.push(wake, link);
        }
        // A host that never sends is never looked at: what it received must not pile up.
        let now = self.wires.now;
        if down.under_way() >= PILE && down.next_arrival() < now {
            self.catch_up(host.into(), now, tap);
        }
        if !self.shortcuts.late_hosts {
            self.arm_step(host);
        }
    }

    /// A host does what it does now.
    pub(super) fn host_step(&mut self, host: u16, tap: &mut impl Tap) {
        self.hosts[usize::from(host)].step.rang();
        self.catch_up(host.into(), Time(self.wires.now.0 + 1), tap);
        self.arm_host(host);
        if let Some(partner) = self.partner(host) {
            self.arm_step(partner);
        }
    }

    /// Comes back at the next step of a host.
    #[cold]
    #[inline(never)]
    fn arm_step(&mut self, host: u16) {
        let step = self.next_step(&self.hosts[usize::from(host)]);
        let at = &mut self.hosts[usize::from(host)];
        if at.step.set(step) {
            self.wires.queue.push(step, at.wiring.link ^ 1);
        }
    }

    /// When a host does something next; [`Time::MAX`] if nothing is to come.
    pub(super) fn next_step(&self, host: &Host) -> Time {
        let arrives = self.wires.look(host.wiring.link ^ 1).next_arrival();
        let own = host.starts().min(host.gate()).min(host.nic_wake());
        arrives.min(own).min(self.passes_on(host.wiring.host))
    }
}

/// The link away from a host and the one toward it.
#[inline]
pub(super) fn both(cable: &mut [Link; 2], up: u16) -> (&mut Link, &mut Link) {
    let [first, second] = cable;
    if up & 1 == 0 { (first, second) } else { (second, first) }
}

/// When a frame of a host may arrive at its switch at the earliest because of one that arrives at the host, if it may.
#[inline]
fn consequence(host: &Host, up: &Link, kind: Kind, arrives: Time) -> Option<Time> {
    if let Some(after) = host.reaction(kind) {
        let (busy, size) = host.least();
        return Some(up.arrival_of((arrives + after).max(busy), size));
    }
    match (kind, host.answers()) {
        (Kind::Data, Some(size)) => Some(up.arrival_of(arrives.max(host.busy()), size)),
        (Kind::Pfc, _) => Some(up.arrival_of(arrives, 0)),
        _ => None,
    }
}
