//! A store-and-forward router: what has come in whole leaves a declared delay later by the port towards whom it is for, one frame after
//! the other. Every class is one.
//!
//! It knows no PFC: it obeys none, sends none and passes none on, as MAC control stays on its link.
//!
//! Left out: a limit of its buffer, and the TTL, which no measure looks at.

use crate::model::chance::{self, Draws};
use crate::model::host::{Device, Plug, way_to};
use crate::model::packet::{Packet, PacketKind};
use rig_units::{Time, Within};
use std::collections::VecDeque;

/// What a router is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The host of the network that is its first port; the others follow.
    pub first: u16,
    /// How many ports it has.
    pub ports: u16,
    /// From the last bit in to the first bit out, drawn of each frame; none overtakes another.
    pub delay: Within,
    /// What the draws follow from.
    pub seed: u64,
    /// Largest frame, FCS counted; longer ones are dropped.
    pub mtu: u16,
}

/// A router and what it holds of the frames under way.
#[derive(Debug, Clone)]
pub(crate) struct Router {
    delay: Within,
    draws: Draws,
    /// When the last frame was through.
    not_before: Time,
    mtu: u16,
    hosts: Vec<u16>,
    /// The port towards every host of the network.
    route: Vec<u16>,
    /// What leaves by each port, and when at the earliest.
    leaves: Vec<VecDeque<(Time, Packet)>>,
}

impl Router {
    pub(super) fn new(config: &Config) -> Router {
        let hosts: Vec<u16> = (0..config.ports).map(|port| config.first + port).collect();
        Router {
            delay: config.delay,
            draws: Draws::new(chance::stream(config.seed, *b"transits")),
            not_before: Time::ZERO,
            mtu: config.mtu,
            leaves: vec![VecDeque::new(); hosts.len()],
            route: Vec::new(),
            hosts,
        }
    }

    /// The hosts that are its ports.
    pub(super) fn hosts(&self) -> &[u16] {
        &self.hosts
    }

    /// From now on it knows the port towards every host of the network.
    pub(super) fn learn(&mut self, route: Vec<u16>) {
        self.route = route;
    }

    fn leaving(&self, port: usize, plug: &Plug) -> Time {
        let due = self.leaves[port].front().filter(|_| plug.is_up());
        due.map_or(Time::MAX, |&(due, _)| due.max(plug.busy))
    }
}

impl Device for Router {
    fn arrive(
        &mut self,
        _: usize,
        _: &mut Plug,
        now: Time,
        packet: &Packet,
        _: bool,
    ) -> Option<Packet> {
        let is_forwarded = packet.kind != PacketKind::Pfc && packet.size <= self.mtu;
        let to = way_to(&self.route, packet.dst).filter(|_| is_forwarded);
        if let Some(leaves) = to.and_then(|to| self.leaves.get_mut(usize::from(to))) {
            self.not_before = (now + self.draws.next(self.delay)).max(self.not_before);
            leaves.push_back((self.not_before, *packet));
        }
        None
    }

    fn next(&self, port: usize, plug: &Plug) -> Time {
        self.leaving(port, plug)
    }

    fn wake(&mut self, port: usize, _: &mut Plug, _: Time) -> Option<&Packet> {
        self.leaves[port].front().map(|(_, packet)| packet)
    }

    fn started(&mut self, port: usize, plug: &mut Plug, free: Time) {
        self.leaves[port].pop_front();
        plug.busy = free;
    }

    fn resume(&mut self, _: usize, _: &mut Plug, _: Time, _: u8) {}

    fn set_up(&mut self, port: usize, _: &mut Plug, _: Time) {
        self.leaves[port].clear();
    }
}

#[cfg(test)]
mod tests;
