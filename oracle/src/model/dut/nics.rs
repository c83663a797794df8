//! A device under test of NICs: one behind each port, on a cable of its own.

use super::{Dut, Rig};
use crate::model::nic;
use crate::model::topology::{Cable, End, Topology};
use crate::model::{host, link};
use rig_lab::{BadSetting, Declared, NicFaults};
use rig_units::{Dur, Length};
use std::collections::BTreeMap;

/// The NICs of a device, if it is one of NICs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nics {
    /// How many, which is as many ports of the rig as are cabled.
    ports: u16,
}

impl Nics {
    pub(super) fn new(declared: &Declared, rig: &Rig) -> Nics {
        Nics { ports: rig.ports.min(declared.port_count()) }
    }

    /// Host number of the NIC behind a port: the rig's ports come first.
    const fn host(self, port: u16) -> u16 {
        self.ports + port
    }

    fn ports(self) -> impl Iterator<Item = u16> {
        0..self.ports
    }

    /// The rig's ports and the NICs, each pair on a cable.
    pub(super) fn topology(self, running: &Declared, faults: NicFaults, rig: &Rig) -> Topology {
        let nic = |port| host::Config::nic(config(running, port, faults));
        let cable = |port| {
            let speed = running.port_speed(port).unwrap_or(rig_units::PortSpeed::G100);
            let link = link::Config { delay: delay(rig), ..link::Config::ethernet(speed, 0) };
            Cable { ends: [End::Host(port), End::Host(self.host(port))], link }
        };
        let rigs = self.ports().map(|_| rig.host);
        Topology {
            hosts: rigs.chain(self.ports().map(nic)).collect(),
            switches: Vec::new(),
            cables: self.ports().map(cable).collect(),
        }
    }
}

/// How long a signal takes over the rig's cables.
pub(super) const fn delay(rig: &Rig) -> Dur {
    Length(rig.cable_cm).travel()
}

/// The NIC behind a port: the device's own behind the first, its peer behind the second.
fn config(running: &Declared, port: u16, faults: NicFaults) -> nic::Config {
    let declared = if port == 0 { &running.nic } else { &running.peer };
    nic::Config { faults, ..nic::Config::declared(declared) }
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

impl Dut {
    /// The host of the network that is the NIC behind a port.
    ///
    /// # Panics
    ///
    /// If the device is none of NICs, or has no such port.
    pub fn nic_host(&self, port: u16) -> u16 {
        let nics = self.nics.filter(|nics| port < nics.ports);
        nics.map(|nics| nics.host(port)).expect("a NIC is behind each port of a device of NICs")
    }

    /// Lets the NICs work as the running configuration says.
    pub(super) fn set_nics(&mut self) {
        for port in self.nics.into_iter().flat_map(Nics::ports) {
            let config = config(&self.running, port, self.faults.nic);
            self.network.set_nic(self.nic_host(port), &config);
        }
    }

    /// Adds what the NICs count: `Ethernet0 np_cnp_sent`.
    pub(super) fn name_nics(&self, into: &mut BTreeMap<String, u64>) {
        for port in self.nics.into_iter().flat_map(Nics::ports) {
            if let Some(nic) = self.network.nic(self.nic_host(port)) {
                nic.counters().name(&Declared::port_name(port), into);
            }
        }
    }

    /// One of it.
    pub(super) fn find_nic(&self, name: &str) -> Option<u64> {
        let (port, counter) = name.split_once(' ')?;
        let mut ports = self.nics?.ports();
        let port = ports.find(|&at| Declared::port_name(at) == port)?;
        self.network.nic(self.nic_host(port))?.counters().find(counter)
    }
}
