//! A device under test of NICs: one behind each of its ports.

use super::body::{Body, CableEnd};
use crate::model::chance;
use crate::model::host;
use crate::model::network::Network;
use crate::model::nic;
use crate::model::topology::{End, Topology};
use rig_lab::{BadSetting, Declared, Nic, NicFaults};
use rig_units::PortSpeed;
use std::collections::BTreeMap;

/// The NICs of a device.
#[derive(Debug)]
pub(super) struct Nics {
    /// The host of the network that is the first; the others follow.
    first: u16,
    /// How many.
    ports: u16,
    faults: NicFaults,
    seed: u64,
}

impl Nics {
    /// Adds so many NICs to `topology`.
    pub(super) fn new(
        running: &Declared,
        faults: NicFaults,
        (ports, seed): (u16, u64),
        topology: &mut Topology,
    ) -> (Nics, Vec<CableEnd>) {
        let first = u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX);
        let nics = Nics { first, ports, faults, seed };
        let nic = |port| host::Config::nic(nics.config(running, port));
        topology.hosts.extend((0..ports).map(nic));
        let plug = |port| CableEnd {
            end: End::Host(first + port),
            speed: running.port_speed(port).unwrap_or(PortSpeed::G100),
        };
        (nics, (0..ports).map(plug).collect())
    }

    /// The NIC behind a port: the device's own behind the first, its peer behind the second.
    fn config(&self, running: &Declared, port: u16) -> nic::Config {
        let declared = if port == 0 { &running.nic } else { &running.peer };
        let seed = chance::draw(self.seed, port.into());
        nic::Config { faults: self.faults, seed, ..nic::Config::declared(declared) }
    }
}

/// Refuses NICs that cannot be.
///
/// # Errors
/// The first value that lies outside its range.
pub(super) fn check(declared: &Declared) -> Result<(), BadSetting> {
    for (part, nic) in [("nic", &declared.nic), ("peer", &declared.peer)] {
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
        for port in 0..self.ports {
            if let Some(nic) = network.nic(self.first + port) {
                nic.counters().name(&Nic::port_name(port), into);
            }
        }
    }

    fn find(&self, network: &Network, name: &str) -> Option<u64> {
        let (port, counter) = name.split_once(' ')?;
        let port = (0..self.ports).find(|&at| Nic::port_name(at) == port)?;
        network.nic(self.first + port)?.counters().find(counter)
    }

    fn apply(&mut self, _: &Declared, running: Declared, network: &mut Network) {
        for port in 0..self.ports {
            network.set_nic(self.first + port, &self.config(&running, port));
        }
    }
}
