//! NICs of blue-rdma as a device under test: one behind each of its ports.

use super::body::{self, CableEnd};
use crate::model::blue_rdma::Config;
use crate::model::host::{self, HostKind};
use crate::model::network::Network;
use crate::model::oscillator::Oscillator;
use crate::model::topology::{End, Topology};
use rig_lab::declared::BlueNics;
use rig_lab::{BlueRdmaFaults, Declared};
use std::collections::BTreeMap;

/// The NICs of a device.
#[derive(Debug)]
pub(super) struct Body {
    /// The host of the network that is the first; the others follow.
    first: u16,
    ports: u16,
    faults: BlueRdmaFaults,
    clock: Oscillator,
}

impl Body {
    /// Adds so many NICs to `topology`.
    pub(super) fn of(
        running: &BlueNics,
        (faults, clock): (BlueRdmaFaults, Oscillator),
        ports: u16,
        topology: &mut Topology,
    ) -> (Body, Vec<CableEnd>) {
        let first = u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX);
        let body = Body { first, ports, faults, clock };
        let kind = HostKind::BlueRdma(body.config(running));
        let quiet = host::Config::quiet().on(clock);
        topology.hosts.extend((0..ports).map(|_| host::Config { kind, ..quiet }));
        let groups = running.ports.iter();
        let speeds = groups.flat_map(|group| (0..group.count).map(|_| group.speed));
        let plug = |(host, speed)| CableEnd { end: End::Host(host), speed };
        let plugs = (first..).zip(speeds).take(ports.into()).map(plug).collect();
        (body, plugs)
    }

    const fn config(&self, running: &BlueNics) -> Config {
        Config { declared: running.blue_rdma, faults: self.faults, clock: self.clock }
    }
}

impl body::Body for Body {
    /// As those of any device with NICs: `nic descriptors`, `peer descriptors`.
    fn name(&self, network: &Network, into: &mut BTreeMap<String, u64>) {
        for port in 0..self.ports {
            let named = network.blue_rdma_counters(self.first + port).into_iter();
            let nic = rig_lab::Nics::port_name(port);
            into.extend(named.map(|(name, value)| (format!("{nic} {name}"), value)));
        }
    }

    fn find(&self, network: &Network, name: &str) -> Option<u64> {
        let mut all = BTreeMap::new();
        self.name(network, &mut all);
        all.get(name).copied()
    }

    fn apply(&mut self, _: &Declared, running: Declared, network: &mut Network) {
        let Declared::BlueRdma(running) = running else { return };
        let config = self.config(&running);
        for host in (self.first..).take(self.ports.into()) {
            network.set_blue_rdma(host, &config);
        }
    }
}
