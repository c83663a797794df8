//! Two hosts that pass on to each other what arrives: the rig between two NICs. They are not on the path of anything fast.

use super::late::both;
use super::{Network, Wiring};
use crate::model::bridge::{Bridge, Touched};
use crate::model::packet::Kind;
use crate::model::queue::EventQueue;
use crate::model::tap::{Dir, Tap};
use rig_testcases::{Bottleneck, Injection};
use rig_units::{Dur, Time};

impl<Q: EventQueue> Network<Q> {
    /// Lets two hosts, each cabled to a NIC, pass on what arrives from now on, `delay` from the last bit in to the first bit out.
    pub fn bridge(&mut self, hosts: [u16; 2], delay: Dur) {
        self.bridge = Some(Box::new(Bridge::new(self.wires.now, hosts, delay)));
    }

    /// Makes what is passed on to a host pass a bottleneck, from now on. Its draws are those of `seed`.
    pub fn narrow(&mut self, host: u16, bottleneck: &Bottleneck<u16>, seed: u64) {
        if let Some(bridge) = &mut self.bridge {
            bridge.narrow(host, bottleneck, seed);
        }
    }

    /// Does something to frames that are passed on, from now on.
    pub fn inject(&mut self, injection: Injection<u16>) {
        if let Some(bridge) = &mut self.bridge {
            bridge.inject(injection);
        }
    }

    /// Passes nothing on any more. What was under way between the hosts is lost; what was done to frames is told.
    pub fn unbridge(&mut self) -> Vec<Touched> {
        self.bridge.take().map(|bridge| bridge.into_touched()).unwrap_or_default()
    }

    /// When a host has something to pass on.
    pub(super) fn passes_on(&self, host: u16) -> Time {
        let due = |bridge: &Bridge| Some(bridge.due(bridge.side(host)?));
        let due = self.bridge.as_deref().and_then(due).unwrap_or(Time::MAX);
        if due == Time::MAX { due } else { due.max(self.hosts[usize::from(host)].busy()) }
    }

    /// The host that gets what `host` passes on.
    pub(super) fn partner(&self, host: u16) -> Option<u16> {
        let bridge = self.bridge.as_deref()?;
        bridge.side(host).map(|side| bridge.partner(side))
    }

    /// Lets a host that passes things on do all that it does before `before`; whether it is one.
    pub(super) fn advance_bridged(
        &mut self,
        host: usize,
        before: Time,
        tap: &mut impl Tap,
    ) -> bool {
        let index = self.hosts[host].wiring.host;
        let Some(mut bridge) = self.bridge.take() else { return false };
        let side = bridge.side(index);
        if let Some(side) = side {
            self.advance_side(host, side, before, &mut bridge, tap);
        }
        self.bridge = Some(bridge);
        side.is_some()
    }

    fn advance_side(
        &mut self,
        host: usize,
        side: usize,
        before: Time,
        bridge: &mut Bridge,
        tap: &mut impl Tap,
    ) {
        let at = &mut self.hosts[host];
        let Wiring { link, host, .. } = at.wiring;
        let (up, down) = both(&mut self.wires.cables[usize::from(link >> 1)], link);
        loop {
            let arrives = down.next_arrival();
            let passes = bridge.due(side);
            let passes = if passes == Time::MAX { passes } else { passes.max(at.busy()) };
            let now = arrives.min(at.gate()).min(at.starts()).min(passes);
            if now >= before {
                return;
            }
            if now == arrives {
                let Some(packet) = down.front() else { return };
                tap.frame(now, host, Dir::Rx, packet);
                if packet.kind == Kind::Pfc {
                    at.receive(now, packet, false);
                } else {
                    bridge.pass(now, side, packet);
                }
                down.finish();
            } else if now == at.gate() {
                at.on_gate(now);
            } else if now == passes {
                let Some(packet) = bridge.pop(side) else { return };
                self.wires.work.count(packet.kind);
                let sent = up.send(now, &packet);
                tap.frame(sent.last_bit, host, Dir::Tx, &packet);
                at.answered(sent.free);
            } else {
                let Some(packet) = at.next() else { return };
                self.wires.work.count(packet.kind);
                let sent = up.send(now, packet);
                tap.frame(sent.last_bit, host, Dir::Tx, packet);
                at.started(sent.free);
            }
        }
    }
}
