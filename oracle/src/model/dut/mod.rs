//! The emulated device under test: devices of the model, alone or as a subgraph, with what they do beside moving frames.
//!
//! What an executor does with it:
//!
//! - [`Dut::new`] builds it from a profile, the configuration that the case asks for, the rig's side of the cables and
//!   a seed. Rig port `i` is host `i` of the network, cabled to port `i` of the whole. Where that is no port of a switch it is
//!   a host itself, [`Dut::nic_host`], on which flows are started.
//! - [`Dut::rig`] is the network, to start and stop streams and storms on hosts; links are cut and mended with
//!   [`Dut::set_link`].
//! - [`Dut::run_until`] advances the engine and the polls together. A poll sees what arrives at its own instant.
//! - [`Dut::configure`] changes the configuration while it runs, or refuses; [`Dut::configured`] reads it back.
//! - [`Dut::events`] and [`Dut::counters`] are what a SONiC device would show on `PFC_WD_ACTION` and in COUNTERS_DB.
//!
//! There is one poll loop per switch. Its phase is drawn from the seed, uniformly over the poll interval, and stays for
//! the life of the device. A poll reads the counters of all queues first and acts afterwards.
//!
//! A device does what its configuration says with the profile's overrides applied, and the deviations of the profile
//! on top: each part is built as it should be and given its faults. With neither it does what it declares.
//!
//! Left out: the second between two commits of the watchdog's counters, and the delay between a publication and its
//! action.

pub(in crate::model) mod body;
mod configure;
mod device;
mod faults;
mod guard;
mod handler;
mod nics;
mod polls;
mod switched;
mod watermarks;

pub use body::Acted;
pub use configure::Refused;

use super::host;
use super::link;
use super::network::{Delivered, Network};
use super::packet::Packet;
use super::tap::Tap;
use super::topology::{Cable, End, Topology};
use device::Device;
use rig_lab::{BadSetting, Declared, Profile, Setting, WatermarkCopy};
use rig_units::{Length, Time};
use std::collections::BTreeMap;

/// The rig's side of the cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rig {
    /// How many of the device's ports are cabled to the rig, from its first port on. The others do not exist.
    pub ports: u16,
    /// Length of each cable, in centimetres.
    pub cable_cm: u64,
    /// What each of the rig's ports does by itself.
    pub host: host::Config,
}

/// What a port of the rig is cabled to: a port of one of the devices, which is that end in the network.
#[derive(Debug, Clone, Copy)]
struct Behind {
    device: usize,
    port: u16,
    end: End,
}

/// The device under test and the network around it.
#[derive(Debug)]
pub struct Dut {
    network: Network,
    devices: Vec<Device>,
    ports: Vec<Behind>,
    events: Vec<Acted>,
}

impl Dut {
    /// The device of `profile`, configured to `configured`, silent at the start of time.
    ///
    /// # Errors
    /// When an override of the profile does not fit the configuration, or leaves no time between two polls.
    pub fn new(
        profile: &Profile,
        configured: &Declared,
        rig: &Rig,
        seed: u64,
    ) -> Result<Dut, BadSetting> {
        let ports = rig.ports.min(configured.port_count());
        let mut topology = Topology { hosts: vec![rig.host; ports.into()], ..Topology::default() };
        let (device, plugs) = Device::new(profile, configured, (ports, seed), &mut topology)?;
        let cable = |(port, plug): (u16, &body::CableEnd)| Cable {
            ends: [End::Host(port), plug.end],
            link: link::Config {
                delay: Length(rig.cable_cm).travel(),
                ..link::Config::ethernet(plug.speed, 0)
            },
        };
        topology.cables = (0..).zip(&plugs).map(cable).collect();
        let mut dut = Dut {
            network: Network::new(&topology, Time::ZERO),
            devices: vec![device],
            ports: (0..)
                .zip(&plugs)
                .map(|(port, plug)| Behind { device: 0, port, end: plug.end })
                .collect(),
            events: Vec::new(),
        };
        for device in &mut dut.devices {
            device.body.start(&mut dut.network);
        }
        Ok(dut)
    }

    /// The network, to start and stop what the rig's ports send.
    pub fn rig(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The network, to look at.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// The present.
    pub const fn now(&self) -> Time {
        self.network.now()
    }

    /// Handles everything before `until`, which becomes the present; a poll at `until` itself comes later.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        while !tap.is_over() && self.next_poll() < until {
            let due = self.next_poll();
            self.network.run_through(due, tap);
            for (index, device) in (0..).zip(&mut self.devices) {
                let before = self.events.len();
                device.body.wake(due, &mut self.network, &mut self.events);
                self.events[before..].iter_mut().for_each(|acted| acted.device = index);
            }
        }
        self.network.run_until(until, tap);
    }

    /// When something happens next by itself: an event of the network, or a poll.
    pub fn next_event(&self) -> Time {
        self.network.next_event().map_or(self.next_poll(), |event| event.min(self.next_poll()))
    }

    /// When something is polled next: by a watchdog, or for watermarks.
    fn next_poll(&self) -> Time {
        self.devices.iter().map(|device| device.body.next()).min().unwrap_or(Time::MAX)
    }

    /// A frame of the outside world whose last bit reaches the port behind rig port `port` now. A poll at this instant sees it.
    pub fn deliver(&mut self, port: u16, packet: Packet, tap: &mut impl Tap) -> Delivered {
        match self.ports[usize::from(port)].end {
            End::Host(host) => self.network.deliver_to_host(host, &packet, tap),
            End::Port(at) => self.network.deliver(at, packet, tap),
        }
    }

    /// The host of the network that is the NIC behind a rig port.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn nic_host(&self, port: u16) -> u16 {
        match self.ports[usize::from(port)].end {
            End::Host(host) => host,
            End::Port(_) => panic!("a NIC is behind each port of a device of NICs"),
        }
    }

    /// Cuts or mends the cable of a rig port, now.
    pub fn set_link(&mut self, port: u16, up: bool) {
        self.network.set_link(port, up);
        if up {
            let Behind { device, port, .. } = self.ports[usize::from(port)];
            self.devices[device].body.mended(port);
        }
    }

    /// Clears one copy of every watermark, as a request on `WATERMARK_CLEAR_REQUEST` does.
    pub fn clear_watermark_copy(&mut self, copy: WatermarkCopy) {
        self.devices.iter_mut().for_each(|device| device.body.clear_copy(copy));
    }

    /// Clears every watermark of the chips: it becomes what is in use now.
    pub fn clear_watermarks(&mut self) {
        for device in &mut self.devices {
            device.body.clear_watermarks(&mut self.network);
        }
    }

    /// The configuration as the device states it.
    pub fn configured(&self) -> &Declared {
        &self.devices[0].configured
    }

    /// Changes settings of every device while it runs, all or none, now; what may be changed is for each to say.
    ///
    /// # Errors
    /// When a device refuses them; nothing has changed then.
    pub fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused> {
        let asked: Result<Vec<_>, Refused> =
            self.devices.iter().map(|device| device.with(settings)).collect();
        for (device, asked) in self.devices.iter_mut().zip(asked?) {
            device.take(asked, &mut self.network);
        }
        Ok(())
    }

    /// Everything that watchdogs did so far, in order of time, device, port and class.
    pub fn events(&self) -> &[Acted] {
        &self.events
    }

    /// Every counter now: those of a switch under SONiC's names, those of NICs under NVIDIA's.
    pub fn counters(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        self.devices.iter().for_each(|device| device.body.name(&self.network, &mut all));
        all
    }

    /// One of them; `None` when there is no such counter.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.devices.iter().find_map(|device| device.body.find(&self.network, name))
    }
}

#[cfg(test)]
mod tests;
