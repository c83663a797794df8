//! What a device under test is made of: one device, or the devices of a system and the cables between them.

use super::body::CableEnd;
use super::device::Device;
use super::{CabledPort, Rig};
use crate::model::chance;
use crate::model::host;
use crate::model::topology::{End, Topology};
use rig_lab::{BadSetting, Declared, DevicePort, Kind, Profile, System};

/// Devices, what each rig port is cabled to, and the two ends and the length in centimetres of each cable between devices.
type Parts = (Vec<Device>, Vec<CabledPort>, Vec<(CableEnd, CableEnd, u64)>);

/// One device: the rig is cabled to its first ports, the others do not exist.
pub(super) fn alone(
    profile: &Profile,
    configured: &Declared,
    (rig, seed): (&Rig, u64),
    topology: &mut Topology,
) -> Result<Parts, BadSetting> {
    let ports = rig.ports.min(configured.port_count());
    topology.hosts = vec![rig.host; ports.into()];
    let (device, ends) = Device::new(profile, configured, (ports, seed), topology)?;
    let behind =
        |(port, at): (u16, CableEnd)| CabledPort { device: 0, port, at, host: host_at(at) };
    Ok((vec![device], (0..).zip(ends).map(behind).collect(), Vec::new()))
}

/// The devices of a system, each with all of its ports. Where one of them is under test alone, that one is the device of `profile`,
/// configured to `configured`; the others are as the lab has them.
pub(super) fn among(
    system: &System,
    profile: &Profile,
    configured: &Declared,
    (rig, seed): (&Rig, u64),
    topology: &mut Topology,
) -> Result<Parts, BadSetting> {
    topology.hosts = vec![rig.host; system.ports.len()];
    let (mut devices, mut ends) = (Vec::new(), Vec::new());
    for (index, own) in (0..).zip(&system.devices) {
        let is_alone = system.alone == Some(index);
        let of = if is_alone { profile } else { own };
        let ports = own.declared.ports().clone();
        let configured = if is_alone { configured } else { &own.declared };
        let mut all = configured.clone();
        *all.ports_mut() = ports;
        let drawn = (all.port_count(), seed_of(seed, index));
        let (mut device, its) = Device::new(of, &all, drawn, topology)?;
        if !is_alone {
            device.prefix = format!("{}/", own.name);
        }
        devices.push(device);
        ends.push(its);
    }
    let end = |at: &DevicePort| ends[usize::from(at.device)][usize::from(at.port)];
    // What a NIC does that stands behind other devices is what the rig's port is about.
    let nic = system.alone.map(usize::from).filter(|_| profile.kind == Kind::Nic);
    let behind = |(index, at): (u16, &DevicePort)| {
        let (device, port) = nic.map_or((at.device.into(), at.port), |nic| (nic, index));
        CabledPort { device, port, at: end(at), host: host_at(ends[device][usize::from(port)]) }
    };
    let links = system.links.iter().map(|link| {
        let [near, far] = &link.ends;
        (end(near), end(far), link.cable_cm.unwrap_or(rig.cable_cm))
    });
    let mut links: Vec<_> = links.collect();
    let cabled = system.links.iter().flat_map(|link| link.ends).chain(system.ports.iter().copied());
    let cabled: Vec<End> = cabled.map(|at| end(&at).end).collect();
    // A port of a switch may have no cable, a host always has one: what nothing is plugged into has a host that is silent.
    for own in ends.iter().flatten().filter(|own| !cabled.contains(&own.end)) {
        if let End::Host(_) = own.end {
            let silent = End::Host(u16::try_from(topology.hosts.len()).unwrap_or(u16::MAX));
            topology.hosts.push(host::Config::quiet());
            links.push((*own, CableEnd { end: silent, ..*own }, rig.cable_cm));
        }
    }
    // Two NICs of which each has a side of its own: whoever sends to the other one's sends by the rig.
    if nic.is_some() && system.ports.len() == 2 {
        topology.passed_on = Some([0, 1]);
    }
    Ok((devices, (0..).zip(&system.ports).map(behind).collect(), links))
}

/// The host that an end of a cable is, if it is one.
const fn host_at(end: CableEnd) -> Option<u16> {
    match end.end {
        End::Host(host) => Some(host),
        End::Port(_) => None,
    }
}

/// What a device draws from, so that none moves the draws of another. The first draws as one that is alone.
fn seed_of(seed: u64, device: u16) -> u64 {
    match device {
        0 => seed,
        device => chance::draw(chance::stream(seed, *b"dut-part"), device.into()),
    }
}
