//! A device under test of NICs: one behind each of its ports.

use super::body::{Body, CableEnd};
use crate::model::chance;
use crate::model::host::{self, HostKind};
use crate::model::mac;
use crate::model::network::Network;
use crate::model::nic::{self, Shown};
use crate::model::oscillator::Oscillator;
use crate::model::topology::{End, Topology};
use rig_lab::{BadSetting, Declared, NicFaults};
use std::collections::BTreeMap;

/// The NICs of a device.
#[derive(Debug)]
pub(super) struct Nics {
    /// The host of the network that is the first; the others follow.
    first: u16,
    /// How many.
    ports: u16,
    faults: NicFaults,
    clock: Oscillator,
    seed: u64,
    /// The priorities in which each obeys PFC.
    priorities: Vec<u8>,
}

impl Nics {
    /// Adds so many NICs to `topology`.
    pub(super) fn new(
        running: &rig_lab::Nics,
        (faults, clock): (NicFaults, Oscillator),
        (ports, seed): (u16, u64),
        topology: &mut Topology,
    ) -> (Nics, Vec<CableEnd>) {
        let first = u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX);
        let groups = running.ports.iter();
        let speeds = groups.flat_map(|group| (0..group.count).map(|_| group.speed));
        let behind = configs(running, (faults, clock), seed).zip(speeds).take(ports.into());
        let mut plugs = Vec::new();
        for (host, ((config, mac), speed)) in (first..).zip(behind) {
            topology.hosts.push(host::Config { mac, kind: HostKind::Nic(config) }.on(clock));
            plugs.push(CableEnd { end: End::Host(host), speed });
        }
        let priorities = priorities(running);
        (Nics { first, ports, faults, clock, seed, priorities }, plugs)
    }

    /// What the host of a port of the device reads, with the PFC frames of these priorities.
    fn shown<'n>(
        &self,
        network: &'n Network,
        port: u16,
        pauses: &'n mut Vec<(u8, u64, u64)>,
    ) -> Option<Shown<'n>> {
        let (host, nic) = (self.first + port, network.nic(self.first + port)?);
        let enabled = self.priorities.get(usize::from(port)).copied().unwrap_or(0);
        pauses.clear();
        pauses.extend(
            (0..8)
                .filter(|class| enabled >> class & 1 == 1)
                .map(|class| (class, network.pauses_received(host, class), nic.pauses_sent(class))),
        );
        Some(Shown { counters: nic.counters(), pauses, stands: self.faults.rc.counter_stands })
    }
}

/// The NIC behind each port with how that obeys PFC: the device's own behind the first, its peer behind the second.
fn configs(
    running: &rig_lab::Nics,
    (faults, clock): (NicFaults, Oscillator),
    seed: u64,
) -> impl Iterator<Item = (nic::Config, mac::Config)> {
    let all = [Some(&running.nic), running.peer.as_ref()].into_iter().flatten();
    (0..).zip(all).map(move |(port, nic)| {
        let seed = chance::draw(seed, port);
        let router = running.rdma_router;
        let config = nic::Config { faults, seed, clock, router, ..nic::Config::declared(nic) };
        (config, config.mac(&nic.pfc))
    })
}

/// The priorities in which each NIC obeys PFC, as a vector of bits.
fn priorities(running: &rig_lab::Nics) -> Vec<u8> {
    let all = [Some(&running.nic), running.peer.as_ref()].into_iter().flatten();
    all.map(|nic| nic.pfc.enabled()).collect()
}

/// Refuses NICs that cannot be.
///
/// # Errors
/// The first value that lies outside its range.
pub(super) fn check(declared: &Declared) -> Result<(), BadSetting> {
    let Declared::Nic(nics) = declared else { return Ok(()) };
    for (part, nic) in [("nic", Some(&nics.nic)), ("peer", nics.peer.as_ref())] {
        let Some(nic) = nic else { continue };
        if let Some((path, found, want)) = nic.out_of_range().into_iter().next() {
            let why = format!("{found}: want {want}");
            return Err(BadSetting::BadValue { path: format!("{part}.{path}"), why });
        }
    }
    Ok(())
}

impl Body for Nics {
    /// Under NVIDIA's names: `nic np_cnp_sent`.
    fn name(&self, network: &Network, into: &mut BTreeMap<String, u64>) {
        let mut pauses = Vec::new();
        for port in 0..self.ports {
            if let Some(shown) = self.shown(network, port, &mut pauses) {
                shown.name(&rig_lab::Nics::port_name(port), into);
            }
        }
    }

    fn find(&self, network: &Network, name: &str) -> Option<u64> {
        let (port, counter) = name.split_once(' ')?;
        let port = (0..self.ports).find(|&at| rig_lab::Nics::port_name(at) == port)?;
        self.shown(network, port, &mut Vec::new())?.find(counter)
    }

    fn apply(&mut self, _: &Declared, running: Declared, network: &mut Network) {
        let Declared::Nic(running) = running else { return };
        self.priorities = priorities(&running);
        let configs = configs(&running, (self.faults, self.clock), self.seed);
        for (host, (config, mac)) in (self.first..).zip(configs).take(self.ports.into()) {
            network.set_nic(host, &config);
            network.enable_pfc(host, mac.obeys);
        }
    }
}
