//! Several devices that are one under test: a system under test (RFC 2285, 3.1.2), a subgraph that a lab names.
//!
//! A lab that names one has it twice: as a whole, and each of its devices where it stands among the others. What follows from the
//! configuration of one device is measured on that device; what goes from one to the next, on the whole.

mod wire;

use crate::{BadSetting, Declared, Kind, Mutation, PortGroup, Ports, Profile, Setting, Switch};
use rig_units::{PortSpeed, Ppm};

/// A port of one of the devices of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DevicePort {
    /// Place of the device in the system.
    pub device: u16,
    /// Which of its ports, from 0.
    pub port: u16,
}

/// A cable between two devices of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemLink {
    /// The ports at its two ends, of one speed.
    pub ends: [DevicePort; 2],
    /// Its length in centimetres; `None`: as long as the cables to the rig.
    pub cable_cm: Option<u64>,
}

/// A device on the way of a frame through a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// Place of the device in the system.
    pub device: u16,
    /// The port that the frame comes in by.
    pub ingress: u16,
    /// The port that it leaves by.
    pub egress: u16,
    /// The link that it leaves over; `None` at the last device, which sends it to the rig.
    pub link: Option<SystemLink>,
}

/// The devices, what is between them, and where the rig is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// Each under the name that it has in the system.
    pub devices: Vec<Profile>,
    /// The cables between them. Between any two devices one way is the shortest.
    pub links: Vec<SystemLink>,
    /// What rig port `p1` is cabled to, then `p2`, and so on.
    pub ports: Vec<DevicePort>,
    /// The device that the profile is, where it is not the whole.
    pub alone: Option<u16>,
}

impl System {
    /// The speed of a port; `None` where there is no such port.
    pub fn speed(&self, at: DevicePort) -> Option<PortSpeed> {
        self.devices.get(usize::from(at.device))?.declared.port_speed(at.port)
    }

    /// A port by its name: `near/Ethernet4`.
    pub fn port_name(&self, at: DevicePort) -> String {
        let Some(device) = self.devices.get(usize::from(at.device)) else { return String::new() };
        format!("{}/{}", device.name, device.declared.name_of(at.port))
    }

    /// What passes frames on in it: all but NICs, at which they end.
    fn passing(&self) -> impl Iterator<Item = &Profile> {
        self.devices.iter().filter(|device| device.kind.is_passing())
    }

    /// The first ports of the rig, each of which has a side of the system for itself: two where two NICs send to each other by the rig, or
    /// else one.
    pub(crate) fn sides(&self) -> &[DevicePort] {
        let nics = self.devices.iter().filter(|device| device.kind == Kind::Nic);
        let most = nics.map(|device| device.declared.port_count()).max().unwrap_or(1).max(1);
        self.ports.get(..most.into()).unwrap_or(&self.ports)
    }

    /// How far off the worst clock may be by which frames go through it, where it is one device to whoever measures; `None` of one of its devices.
    pub(crate) fn greatest_clock(&self) -> Option<Ppm> {
        let all = self.passing().map(|device| device.declared.clock());
        all.max().filter(|_| self.alone.is_none())
    }

    /// The ports that the rig is cabled to, in its order.
    fn rig_ports(&self) -> Ports {
        let group = |speed| PortGroup { count: 1, speed };
        self.ports.iter().filter_map(|&at| self.speed(at)).map(group).collect()
    }

    /// The system as one device; `None` where no switch is in it, or one device and NICs, or sides that meet at the rig alone. It states what its first switch states, of the ports that are
    /// cabled to the rig.
    pub fn whole(self, name: String, about: String) -> Option<Profile> {
        let first = self.passing().find(|device| device.kind == Kind::Switch)?;
        self.passing().nth(1)?;
        // Sides that meet at the rig alone are no way through.
        if self.sides().len() > 1 {
            return None;
        }
        let ports = self.rig_ports();
        let mtu = self.passing().map(|device| device.declared.mtu()).min()?;
        let clock = self.greatest_clock().filter(|&clock| clock > Ppm(0));
        let switch = Switch { ports, mtu, clock, ..first.declared.switch()?.clone() };
        let declared = Declared::Switch(Box::new(switch));
        let mut whole = Profile::new(name, about, Kind::System, first.asic.clone(), None, declared);
        whole.system = Some(Box::new(self));
        Some(whole)
    }

    /// One of its devices where it stands, if the rig is cabled to its first ports in their order: a device of its own to whatever
    /// is measured there. A NIC is one that the rig's first port reaches over the others; the second of two NICs the second port.
    pub fn device(&self, index: u16, name: String) -> Option<Profile> {
        let mut device = self.devices.get(usize::from(index))?.clone();
        if device.kind == Kind::Nic {
            device.name = name;
            device.about.push_str(", where it stands in a system");
            let ports = self.ports.get(..device.declared.port_count().into())?.to_vec();
            device.system = Some(Box::new(System { ports, alone: Some(index), ..self.clone() }));
            return Some(device);
        }
        let ports: Vec<DevicePort> =
            self.ports.iter().copied().filter(|at| at.device == index).collect();
        if ports.is_empty() || !(0..).zip(&ports).all(|(port, at)| at.port == port) {
            return None;
        }
        let group = |at: &DevicePort| Some(PortGroup { count: 1, speed: self.speed(*at)? });
        device.name = name;
        device.about.push_str(", where it stands in a system");
        *device.declared.ports_mut() = ports.iter().filter_map(group).collect();
        device.system = Some(Box::new(System { ports, alone: Some(index), ..self.clone() }));
        Some(device)
    }

    /// How many links each device is away from the device `to`; `None` where none leads there.
    fn distances(&self, to: u16) -> Vec<Option<usize>> {
        let mut away = vec![None; self.devices.len()];
        if let Some(own) = away.get_mut(usize::from(to)) {
            *own = Some(0);
        }
        for round in 0..self.devices.len() {
            for (near, far) in self.directed().map(|(near, far, _)| (near.device, far.device)) {
                let (near, far) = (usize::from(near), usize::from(far));
                // Nothing goes through a NIC.
                let on = round == 0 || self.devices[far].kind.is_passing();
                if on && away[far] == Some(round) && away[near].is_none() {
                    away[near] = Some(round + 1);
                }
            }
        }
        away
    }

    /// Every link from either of its ends.
    fn directed(&self) -> impl Iterator<Item = (DevicePort, DevicePort, SystemLink)> {
        self.links.iter().flat_map(|&link| {
            let [a, b] = link.ends;
            [(a, b, link), (b, a, link)]
        })
    }

    /// The links over which a frame at the device `at` is nearer to the device `to`, each from its end here: several where the
    /// way is not one.
    pub fn onward(&self, at: u16, to: u16) -> Vec<(DevicePort, DevicePort, SystemLink)> {
        let away = self.distances(to);
        let away = |device: u16| away.get(usize::from(device)).copied().flatten();
        let nearer = |near: &DevicePort, far: &DevicePort| {
            near.device == at && away(at) == away(far.device).map(|far| far + 1)
        };
        self.directed().filter(|(near, far, _)| away(at).is_some() && nearer(near, far)).collect()
    }

    /// The way of a frame from one rig port to another, numbered from 0: over as few links as can be. `None` where there is none.
    pub fn way(&self, from: u16, to: u16) -> Option<Vec<Hop>> {
        let to = self.ports.get(usize::from(to))?;
        let (mut hops, at) = self.hops(from, to.device)?;
        hops.push(Hop { device: at.device, ingress: at.port, egress: to.port, link: None });
        Some(hops)
    }

    /// The devices between a rig port and the device `to`, and the port of that at which the way ends.
    pub(crate) fn hops(&self, from: u16, to: u16) -> Option<(Vec<Hop>, DevicePort)> {
        let mut at = *self.ports.get(usize::from(from))?;
        let mut hops = Vec::new();
        while at.device != to {
            let (near, far, link) = *self.onward(at.device, to).first()?;
            let (device, ingress, egress) = (at.device, at.port, near.port);
            hops.push(Hop { device, ingress, egress, link: Some(link) });
            at = far;
        }
        Some((hops, at))
    }
}

/// What a device of the system `whole` is called where it is under test alone.
pub(crate) fn alone(whole: &str, device: &Profile) -> String {
    format!("{whole}-{}", device.name)
}

impl Profile {
    /// Whether it is a device of the system `whole`, where it stands there.
    pub(crate) fn is_alone_in(&self, whole: &str) -> bool {
        let Some(system) = self.system.as_deref() else { return false };
        let device = system.alone.and_then(|index| system.devices.get(usize::from(index)));
        device.is_some_and(|device| self.name == alone(whole, device))
    }

    /// The devices that it stands for: those of a whole system, or itself.
    pub fn devices(&self) -> &[Profile] {
        match &self.system {
            Some(system) if system.alone.is_none() => &system.devices,
            _ => core::slice::from_ref(self),
        }
    }

    /// The devices between the rig and the NIC behind its port `port`, from the rig on, each with the cable beyond it, in centimetres, where
    /// that has a length of its own; none where it is no NIC, or the rig is cabled to it.
    pub fn approach(&self, port: u16) -> Vec<(&Profile, Option<u64>)> {
        let system = self.system.as_deref().filter(|_| self.kind == Kind::Nic);
        let hops = system.and_then(|system| Some((system, system.hops(port, system.alone?)?.0)));
        let Some((system, hops)) = hops else { return Vec::new() };
        let hop = |hop: &Hop| {
            let device = system.devices.get(usize::from(hop.device))?;
            Some((device, hop.link.and_then(|link| link.cable_cm)))
        };
        hops.iter().filter_map(hop).collect()
    }

    /// The same of all of its ports.
    pub fn approaches(&self) -> impl Iterator<Item = (&Profile, Option<u64>)> {
        (0..self.declared.port_count()).flat_map(|port| self.approach(port))
    }

    /// Whether such a device is among those that it stands for, or between it and the rig.
    pub fn is_over(&self, kind: Kind) -> bool {
        let between = self.approaches().map(|(device, _)| device);
        self.devices().iter().chain(between).any(|device| device.kind == kind)
    }

    /// The same device configured otherwise; of a whole system each of its devices that has what is set.
    ///
    /// # Errors
    /// The first setting that there is not, or that cannot hold its value.
    pub fn configured(mut self, settings: &[Setting]) -> Result<Profile, BadSetting> {
        let among = self.kind == Kind::System;
        self.each(&mut |device| {
            let has = |setting: &&Setting| device.kind.has(crate::settings::part(&setting.path));
            let is_whole = device.kind == Kind::System;
            device.declared = settings
                .iter()
                .filter(|setting| is_whole || !among || has(setting))
                .try_fold(device.declared.clone(), |declared, setting| declared.with(setting))?;
            Ok(())
        })?;
        Ok(self)
    }

    /// Makes every port run at another speed; of a system those of all devices.
    pub fn run_at(&mut self, speed: PortSpeed) {
        self.declared = self.declared.at(speed);
        for device in self.system.iter_mut().flat_map(|system| &mut system.devices) {
            device.declared = device.declared.at(speed);
        }
    }

    /// Breaks one device of the system that it is or stands in, by its name. Whether there is one.
    ///
    /// # Errors
    /// As [`Profile::mutate`].
    pub fn mutate_device(&mut self, name: &str, mutation: &Mutation) -> Result<bool, BadSetting> {
        let Some(system) = &mut self.system else { return Ok(false) };
        let alone = system.alone.map(usize::from);
        let mut named = (0..).zip(&mut system.devices).filter(|(_, device)| device.name == name);
        match named.next() {
            None => return Ok(false),
            Some((index, _)) if Some(index) == alone => self.mutate(mutation)?,
            Some((_, device)) => device.mutate(mutation)?,
        }
        Ok(true)
    }

    /// Does something to the device itself, and to each device of a whole system.
    pub(crate) fn each(
        &mut self,
        change: &mut dyn FnMut(&mut Profile) -> Result<(), BadSetting>,
    ) -> Result<(), BadSetting> {
        change(self)?;
        let whole = self.system.iter_mut().filter(|system| system.alone.is_none());
        whole.flat_map(|system| &mut system.devices).try_for_each(change)
    }
}

#[cfg(test)]
mod tests;
