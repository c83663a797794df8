//! A router as a device under test.

use super::body::{self, CableEnd};
use crate::model::host::node::router::Config;
use crate::model::host::{self, HostKind};
use crate::model::network::Network;
use crate::model::oscillator::Oscillator;
use crate::model::topology::{End, Topology};
use rig_lab::Declared;
use rig_lab::declared::Router;
use std::collections::BTreeMap;

/// It counts nothing, and nothing of it can be changed while it runs.
#[derive(Debug)]
pub(in crate::model) struct Body;

impl Body {
    /// Adds a router with so many ports to `topology`.
    pub(in crate::model) fn of(
        running: &Router,
        clock: Oscillator,
        (ports, seed): (u16, u64),
        topology: &mut Topology,
    ) -> (Body, Vec<CableEnd>) {
        let first = u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX);
        let mtu = u16::try_from(running.mtu.0).unwrap_or(u16::MAX);
        let config = Config { first, ports, delay: running.forwarding_delay, seed, mtu };
        let kind = |port| match port {
            0 => HostKind::Router(config),
            port => HostKind::PortOf { first, port },
        };
        let host = |port| host::Config { kind: kind(port), ..host::Config::quiet().on(clock) };
        topology.hosts.extend((0..ports).map(host));
        let groups = running.ports.iter();
        let speeds = groups.flat_map(|group| (0..group.count).map(|_| group.speed));
        let plug = |(host, speed)| CableEnd { end: End::Host(host), speed };
        (Body, (first..).zip(speeds).take(ports.into()).map(plug).collect())
    }
}

impl body::Body for Body {
    fn name(&self, _: &Network, _: &mut BTreeMap<String, u64>) {}

    fn find(&self, _: &Network, _: &str) -> Option<u64> {
        None
    }

    fn apply(&mut self, _: &Declared, _: Declared, _: &mut Network) {}
}
