//! The emulated device under test: devices of the model, alone or as a subgraph, with what they do beside moving frames.
//!
//! What an executor does with it:
//!
//! - [`Dut::new`] builds it from a profile, the configuration that the case asks for, the rig's side of the cables and
//!   a seed. Rig port `i` is host `i` of the network, cabled to port `i` of the whole. Where that is no port of a switch it is
//!   a host itself, [`Dut::nic_host`], on which flows are started. Of a system, the devices and the cables between them are those
//!   that the lab names; one of them may be under test alone.
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
//! Left out: the second between two commits of the watchdog's counters.

mod actions;
mod blue_rdma;
pub(in crate::model) mod body;
mod buffer_manager;
mod configure;
mod device;
mod faults;
mod flex_counters;
mod guard;
mod handler;
mod nics;
mod polls;
mod reboot;
mod resting;
mod routed;
mod switched;
mod system;
mod verbs;
mod watermarks;

pub use body::Acted;
pub use configure::Refused;

use super::host;
use super::link;
use super::network::{Delivered, Network};
use super::packet::Packet;
use super::pfcwd::{Counters, Event};
use super::tap::Tap;
use super::topology::{Cable, End, Topology};
use body::CableEnd;
use device::Device;
use rig_capture::AtRest;
use rig_lab::{BadSetting, Declared, Profile, Setting};
use rig_testcases::DeviceVerb;
use rig_units::{Length, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use system::{alone, among};

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

/// What a port of the rig is about: a port of one of the devices, and the end in the network that it is cabled to. That is the same, but
/// for a NIC that stands behind other devices.
#[derive(Debug, Clone, Copy)]
struct CabledPort {
    device: usize,
    port: u16,
    at: CableEnd,
    /// The host that the device's port is, where it is one.
    host: Option<u16>,
}

/// The device under test and the network around it.
#[derive(Debug)]
pub struct Dut {
    network: Network,
    /// The device that is under test; `None`: all of them together are.
    shown: Option<usize>,
    /// What it says it is configured to.
    configured: Declared,
    devices: Vec<Device>,
    ports: Vec<CabledPort>,
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
        let mut topology = Topology::default();
        let (devices, ports, links) = match profile.system.as_deref() {
            None => alone(profile, configured, (rig, seed), &mut topology)?,
            Some(system) => among(system, profile, configured, (rig, seed), &mut topology)?,
        };
        let cable = |end: End, far: &CableEnd, cm: u64| Cable {
            ends: [end, far.end],
            link: link::Config {
                delay: Length(cm).travel(),
                ..link::Config::ethernet(far.speed, 0)
            },
        };
        let to_rig = (0..).zip(&ports);
        let to_rig = to_rig.map(|(host, behind)| cable(End::Host(host), &behind.at, rig.cable_cm));
        let between = links.iter().map(|(near, far, cm)| cable(near.end, far, *cm));
        topology.cables = to_rig.chain(between).collect();
        let mut dut = Dut {
            network: Network::new(&topology, Time::ZERO),
            shown: profile.system.as_ref().map_or(Some(0), |system| system.alone.map(usize::from)),
            configured: configured.clone(),
            devices,
            ports,
            events: Vec::new(),
        };
        for device in &mut dut.devices {
            device.body.start_pfcwd(&mut dut.network);
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
                if self.shown.is_some_and(|shown| shown != usize::from(index)) {
                    self.events.truncate(before);
                }
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
        match self.ports[usize::from(port)].at.end {
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
        self.ports[usize::from(port)].host.expect("a NIC is behind each port of a device of NICs")
    }

    /// Cuts or mends the cable of a rig port, now.
    pub fn set_link(&mut self, port: u16, up: bool) {
        self.network.set_link(port, up);
        if up {
            let CabledPort { device, port, .. } = self.ports[usize::from(port)];
            self.devices[device].body.mended(port);
        }
    }

    /// Clears every watermark of the chips: it becomes what is in use now.
    pub fn clear_watermarks(&mut self) {
        for device in &mut self.devices {
            device.body.clear_watermarks(&mut self.network);
        }
    }

    /// Every device does at once what a step asks for. Whether one of them has what that is about.
    pub fn perform(&mut self, verb: DeviceVerb) -> bool {
        let perform = |device: &mut Device| device.body.perform(verb, &mut self.network);
        self.devices.iter_mut().map(perform).filter(|&done| done).count() > 0
    }

    /// Has the watchdogs of every device decide nothing by themselves from now on; whether one has any.
    pub fn yield_pfcwd(&mut self) -> bool {
        self.devices.iter_mut().map(|device| device.body.yield_pfcwd()).filter(|&has| has).count()
            > 0
    }

    /// What a poll of a watchdog reads now of each queue that is guarded: the name of its port, its class, and that.
    pub fn polled(&mut self) -> Vec<(String, u8, Counters)> {
        let mut all = Vec::new();
        for device in &mut self.devices {
            let own = device.body.polled(&self.network);
            all.extend(
                own.into_iter().map(|(port, class, read)| (device.port_name(port), class, read)),
            );
        }
        all
    }

    /// What somebody else has decided of a queue, by the name of its port, is done as if its own watchdog had; whether one guards it.
    pub fn decided(&mut self, name: &str, class: u8, event: Event) -> bool {
        for (index, device) in (0..).zip(&mut self.devices) {
            let ports = device.configured.port_count();
            let Some(port) = (0..ports).find(|&port| device.port_name(port) == name) else {
                continue;
            };
            let before = self.events.len();
            let done =
                device.body.decided((port, class), event, &mut self.network, &mut self.events);
            self.events[before..].iter_mut().for_each(|acted| acted.device = index);
            return done;
        }
        false
    }

    /// The configuration as the device states it.
    pub const fn configured(&self) -> &Declared {
        &self.configured
    }

    /// The name of a port of one of the devices: `Ethernet4`, or `near/Ethernet4` where it is one of several.
    pub fn port_name(&self, device: u16, port: u16) -> String {
        self.devices[usize::from(device)].port_name(port)
    }

    /// The name of what is behind a rig port.
    pub fn name_behind(&self, port: u16) -> String {
        let CabledPort { device, port, .. } = self.ports[usize::from(port)];
        self.devices[device].port_name(port)
    }

    /// Whether a device is under test, or one of those that are.
    fn is_shown(&self, device: usize) -> bool {
        self.shown.is_none_or(|shown| shown == device)
    }

    /// Changes settings of every device under test that has them while it runs, all or none, now; what may be changed is for each to
    /// say.
    ///
    /// # Errors
    /// When a device refuses them; nothing has changed then.
    pub fn configure(&mut self, settings: &[Setting]) -> Result<(), Refused> {
        let shown: Vec<usize> = (0..self.devices.len()).filter(|&at| self.is_shown(at)).collect();
        let among = shown.len() > 1;
        let with = |&at: &usize| {
            let device = &self.devices[at];
            let own = settings.iter().filter(|one| !among || device.has(one));
            Ok((at, device.with(own)?))
        };
        let asked: Result<Vec<_>, Refused> = shown.iter().map(with).collect();
        let asked = asked?;
        let whole = settings.iter().try_fold(self.configured.clone(), |all, one| all.with(one))?;
        for (at, asked) in asked {
            self.devices[at].take(asked, &mut self.network);
        }
        self.configured = whole;
        Ok(())
    }

    /// Everything that watchdogs of what is under test did so far, in order of time, device, port and class.
    pub const fn events(&self) -> &[Acted] {
        self.events.as_slice()
    }

    /// Every counter now: those of a switch under SONiC's names, those of NICs under NVIDIA's.
    pub fn counters(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for Device { prefix, body, .. } in &self.devices {
            let mut own = BTreeMap::new();
            body.name(&self.network, &mut own);
            if prefix.is_empty() {
                all.append(&mut own);
            }
            all.extend(own.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
        }
        all
    }

    /// Every counter now but those that are 0 and [at rest](Self::at_rest): what a trial moves is little of a device of many ports.
    pub fn stirred(&self) -> BTreeMap<String, u64> {
        let mut all = BTreeMap::new();
        for Device { prefix, body, .. } in &self.devices {
            let mut own = BTreeMap::new();
            body.stirred(&self.network, &mut own);
            if prefix.is_empty() {
                all.append(&mut own);
            }
            all.extend(own.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
        }
        all
    }

    /// Which counters [`stirred`](Self::stirred) leaves out where they are 0.
    pub fn at_rest(&self) -> Vec<Arc<AtRest>> {
        let of = |Device { prefix, body, .. }: &Device| body.at_rest(&self.network, prefix);
        self.devices.iter().filter_map(of).collect()
    }

    /// One of them; `None` when there is no such counter.
    pub fn counter(&self, name: &str) -> Option<u64> {
        let find = |Device { prefix, body, .. }: &Device| {
            body.find(&self.network, name.strip_prefix(prefix.as_str())?)
        };
        self.devices.iter().find_map(find)
    }
}

#[cfg(test)]
mod tests;
