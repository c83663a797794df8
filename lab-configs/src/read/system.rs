//! `system`, `devices`, `links` and `ports`: several devices that a lab makes one under test.

use super::{FILE, FindDut, pair};
use crate::fault::one_of;
use crate::walk::{At, Fields};
use crate::yaml::Value;
use crate::{DevicePort, Kind, Profile, System, SystemLink, system};
use rig_units::Length;
use rig_units::limits::{self, SYSTEM};
use std::collections::BTreeMap;

/// The keys of a system, in a lab.
pub(super) const KEYS: [&str; 5] = ["system", "about", "devices", "links", "ports"];

const NAME: &str = "a name in lower case with dashes, such as two-in-line";
const ABOUT: &str = "one line for people";
const DEVICES: &str =
    "a mapping of names to files, such as {near: duts/broadcom.yaml, far: duts/broadcom.yaml}";
const LINKS: &str = "a list of links, such as [{from: near/Ethernet28, to: far/Ethernet28}]";
const PORTS: &str =
    "a mapping of rig ports to ports, such as {p1: near/Ethernet0, p2: far/Ethernet0}";
const PORT: &str = "a device of the system and its port, such as near/Ethernet0";

/// Reads one: the whole, and its devices where they stand in it. Nothing when a fault was noted.
pub(super) fn read(at: &At<'_>, fields: &Fields<'_>, find: FindDut<'_>) -> Vec<Profile> {
    let name = fields.need("system", NAME).and_then(|at| named(&at));
    let about = fields.need("about", ABOUT).and_then(|at| at.text(ABOUT)).map(str::to_owned);
    let devices = fields.need("devices", DEVICES).and_then(|at| devices(&at, find));
    let links = fields.need("links", LINKS).and_then(|at| at.list(LINKS));
    let ports = fields.need("ports", PORTS).and_then(|at| at.entries(PORTS));
    let (Some(devices), Some(links), Some(ports)) = (devices, links, ports) else {
        return Vec::new();
    };
    let system = System { devices, links: Vec::new(), ports: Vec::new(), alone: None };
    let mut cabling = Cabling { system, used: BTreeMap::new() };
    for at in &links {
        let link = cabling.link(at);
        cabling.system.links.extend(link);
    }
    for (number, (key, at)) in (1..).zip(&ports) {
        if key.name != format!("p{number}") {
            at.at_key(
                format!("`{}` is not the next port of the rig", key.name),
                format!("`p{number}`"),
            );
        }
        let port = cabling.port(at);
        cabling.system.ports.extend(port);
    }
    let Cabling { system, used } = cabling;
    // A cable that could not be read is no reason to say that nothing leads to a device.
    if system.links.len() != links.len() || used.len() != links.len() * 2 + ports.len() {
        return Vec::new();
    }
    if ports.is_empty() {
        at.down("ports").fault("the rig has no port", PORTS);
    }
    misplaced(at, &system);
    unreached(at, &system);
    ambiguous(at, &system);
    let (Some(name), Some(about)) = (name, about) else { return Vec::new() };
    let alone = (0..).zip(&system.devices).filter_map(|(index, device)| {
        let name = system::alone(&name, device);
        at.is_short(&name).then(|| system.device(index, name))?
    });
    let alone: Vec<Profile> = alone.collect();
    system.whole(name, about).into_iter().chain(alone).collect()
}

fn named(at: &At<'_>) -> Option<String> {
    let text = at.text(NAME)?;
    if !crate::is_name(text) {
        at.wrong(NAME);
        return None;
    }
    at.is_short(text).then(|| text.to_owned())
}

fn devices(at: &At<'_>, find: FindDut<'_>) -> Option<Vec<Profile>> {
    let entries = at.entries(DEVICES)?;
    if !(2..=SYSTEM).contains(&entries.len()) {
        at.fault(format!("a system of {} devices", entries.len()), limits::system().want);
        return None;
    }
    let mut all = Vec::new();
    for (key, at) in &entries {
        if !crate::is_name(&key.name) || !at.is_short(&key.name) {
            at.at_key(format!("`{}` cannot name a device", key.name), "lower case and dashes");
            continue;
        }
        let profile = match &at.node.value {
            Value::Map(_) => {
                at.fields(&["pair"]).and_then(|fields| pair(&fields.need("pair", FILE)?, find))
            }
            _ => at.text(FILE).and_then(|file| find(at, file)),
        };
        let Some(mut profile) = profile else { continue };
        if profile.declared.switch().is_some_and(|switch| switch.macsec.enable) {
            let found = format!("`{}`, which speaks MACsec, in a system", profile.name);
            at.fault(found, "a switch without MACsec: its neighbours would need keys of their own");
            continue;
        }
        if profile.kind.stands_alone() {
            let found = format!("{}, `{}`, in a system", profile.kind.called(), profile.name);
            at.fault(found, "a NIC, or what passes frames on");
            continue;
        }
        profile.name.clone_from(&key.name);
        all.push(profile);
    }
    if all.len() < entries.len() {
        return None;
    }
    if !all.iter().any(|profile| profile.kind == Kind::Switch) {
        at.fault(
            "a system without a switch",
            "a switch among its devices: what it states of the whole is what cases go by",
        );
        return None;
    }
    Some(all)
}

/// A system that is being cabled, and the ports that something is plugged into, each with the place that says so.
struct Cabling {
    system: System,
    used: BTreeMap<DevicePort, String>,
}

impl Cabling {
    /// A link of two ports of one speed.
    fn link(&mut self, at: &At<'_>) -> Option<SystemLink> {
        let fields = at.fields(&["from", "to", "length"])?;
        let from = fields.need("from", PORT).and_then(|at| self.port(&at));
        let to = fields.need("to", PORT).and_then(|at| self.port(&at));
        let length = match fields.get("length") {
            Some(at) => Some(at.quantity::<Length>()?),
            None => None,
        };
        let ends = [from?, to?];
        if ends[0].device == ends[1].device {
            let name = &self.system.devices[usize::from(ends[0].device)].name;
            at.fault(format!("a link from `{name}` to itself"), "a link between two devices");
            return None;
        }
        if let [Some(one), Some(other)] = ends.map(|end| self.system.speed(end))
            && one != other
        {
            at.fault(format!("a link from {one} to {other}"), "two ports of one speed");
        }
        Some(SystemLink { ends, cable_cm: length.map(|Length(cm)| cm) })
    }

    /// A port that nothing else is plugged into: `near/Ethernet0`.
    fn port(&mut self, at: &At<'_>) -> Option<DevicePort> {
        let text = at.text(PORT)?;
        let Some((device, port)) = text.split_once('/') else {
            at.wrong(PORT);
            return None;
        };
        let devices = &self.system.devices;
        let Some((index, profile)) = (0..).zip(devices).find(|(_, one)| one.name == device) else {
            let names = devices.iter().map(|one| one.name.as_str());
            at.fault(format!("there is no device `{device}` in the system"), one_of(device, names));
            return None;
        };
        let count = profile.declared.port_count();
        let Some(number) = (0..count).find(|&at| profile.declared.name_of(at) == port) else {
            let last = profile.declared.name_of(count.saturating_sub(1));
            let want = match profile.kind {
                Kind::Nic if count == 2 => {
                    format!("{device}/{} or {device}/{last}", profile.declared.name_of(0))
                }
                Kind::Nic => format!("{device}/{last}"),
                _ => format!("Ethernet0 to {last}, in steps of 4"),
            };
            at.fault(format!("`{device}` has no port `{port}`"), want);
            return None;
        };
        let place = at.place();
        let taken = DevicePort { device: index, port: number };
        let line = format!("line {}", place.line);
        if let Some(before) = self.used.insert(taken, line) {
            let found = format!("something is plugged into `{text}` already, in {before}");
            at.fault(found, "a port of its own for each end of a cable");
        }
        Some(taken)
    }
}

/// Notes each NIC that does not stand behind another device, at the speed of the rig's port from which it is told what it does: the first,
/// and of the second of two NICs the second.
fn misplaced(at: &At<'_>, system: &System) {
    let is_nic = |port: &DevicePort| system.devices[usize::from(port.device)].kind == Kind::Nic;
    for nic in system.ports.iter().copied().filter(is_nic) {
        let found =
            format!("the rig at the NIC `{}`", system.devices[usize::from(nic.device)].name);
        let want = format!("a port of {}: a NIC stands behind one of those", Kind::any_passing());
        at.down("ports").fault(found, want);
    }
    for link in &system.links {
        if link.ends.iter().all(is_nic) {
            let [one, other] = link.ends.map(|end| system.port_name(end));
            at.down("links").fault(
                format!("two NICs at one cable, {one} and {other}"),
                format!("a NIC at a port of {}", Kind::any_passing()),
            );
        }
    }
    for (index, device) in (0..).zip(&system.devices).filter(|(_, one)| one.kind == Kind::Nic) {
        let fault = |found: String, want: String| {
            at.down("devices").down(&device.name).fault(found, want);
        };
        for port in 0..device.declared.port_count() {
            let own = DevicePort { device: index, port };
            let (name, rig) = (system.port_name(own), port + 1);
            let Some(&first) = system.ports.get(usize::from(port)) else {
                fault(format!("`{name}`, and no p{rig}"), format!("a port p{rig} on its side"));
                continue;
            };
            let Some((hops, end)) = system.hops(port, index) else {
                // One to which no way leads at all is told once, as such.
                if is_reached(system, index) {
                    fault(
                        format!("no way from p{rig} to `{name}`"),
                        format!(
                            "`{name}` on the side of p{rig}, from which it is told what it does"
                        ),
                    );
                }
                continue;
            };
            if end != own {
                let end = system.port_name(end);
                fault(
                    format!("from p{rig} the way to `{}` ends at `{end}`", device.name),
                    format!("`{name}` on the side of p{rig}"),
                );
                continue;
            }
            // The last one is at the NIC's own cable, which has its speed.
            let over = hops.iter().map(|hop| DevicePort { device: hop.device, port: hop.egress });
            let mut way = core::iter::once(first).chain(over);
            let own = system.speed(own);
            if let Some(slow) = way.find(|port| system.speed(*port) != own) {
                let speed = system.speed(slow).map(|speed| speed.to_string()).unwrap_or_default();
                fault(
                    format!("a NIC that is reached over {}, of {speed}", system.port_name(slow)),
                    format!(
                        "its own speed all the way from p{rig}: what waits where that changes is not predicted"
                    ),
                );
            }
        }
        if let (2, [one, other, ..]) = (device.declared.port_count(), &system.ports[..])
            && (one.device == other.device || !system.onward(one.device, other.device).is_empty())
        {
            let found = format!(
                "a way from `{name}/nic` to `{name}/peer` that is not by the rig",
                name = device.name
            );
            fault(found, "each of the two behind devices of its own: what one sends to the other goes from p1 to p2".to_owned());
        }
    }
}

/// Whether a frame of the rig can come to the device at that place, from whichever of its sides.
fn is_reached(system: &System, index: u16) -> bool {
    let comes =
        |port: &DevicePort| port.device == index || !system.onward(port.device, index).is_empty();
    system.sides().iter().any(comes)
}

/// Notes each device that no frame of the rig can come to.
fn unreached(at: &At<'_>, system: &System) {
    let Some(first) = system.ports.first() else { return };
    for (index, device) in (0..).zip(&system.devices) {
        if !is_reached(system, index) {
            let found = format!("no link leads to `{}`", device.name);
            let want =
                format!("a way to it from `{}`", system.devices[usize::from(first.device)].name);
            at.down("devices").down(&device.name).fault(found, want);
        }
    }
}

/// Notes two ways of which neither is the shorter: what goes by which is not for the lab to leave open.
fn ambiguous(at: &At<'_>, system: &System) {
    let count = (0..).zip(&system.devices).map(|(index, _)| index);
    let pairs = count.clone().flat_map(|from| count.clone().map(move |to| (from, to)));
    for (from, to) in pairs {
        if let [(one, ..), (other, ..), ..] = system.onward(from, to)[..] {
            let name = |index: u16| &system.devices[usize::from(index)].name;
            let [one, other] = [one, other].map(|port| system.port_name(port));
            at.down("links").fault(
                format!(
                    "two ways from `{}` to `{}`, as short: by {one} and by {other}",
                    name(from),
                    name(to)
                ),
                "links of which one way is the shortest between any two devices",
            );
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::read::lab_from;
    use crate::read::tests::{faults_of_lab, lab_of};
    use crate::yaml::Source;
    use crate::{DevicePort, Kind, Profile, bundled};
    use insta::assert_snapshot;

    const TWO: &str = "devices: {near: duts/broadcom.yaml, far: duts/mellanox.yaml}";
    const LINKS: &str = "links: [{from: near/Ethernet28, to: far/Ethernet0, length: 40m}]";
    const PORTS: &str = "ports: {p1: near/Ethernet0, p2: far/Ethernet4}";

    fn lab(devices: &str, links: &str, ports: &str) -> String {
        let head =
            "about: a\ntransport: virtual\ncable: 3m\nduts:\n  - system: line\n    about: a\n";
        format!("{head}    {devices}\n    {links}\n    {ports}\n")
    }

    fn devices(links: &str, ports: &str) -> Vec<Profile> {
        lab_of(&lab(TWO, links, ports)).duts
    }

    #[test]
    fn a_system_has_the_ports_that_are_cabled_to_the_rig() {
        let whole = &devices(LINKS, PORTS)[0];
        assert_eq!((whole.name.as_str(), whole.kind), ("line", Kind::System));
        assert_eq!(whole.declared.port_count(), 2);
        let system = whole.system.as_ref().expect("a system");
        let at = |device, port| DevicePort { device, port };
        assert_eq!(system.ports, [at(0, 0), at(1, 1)]);
        assert_eq!(
            (system.links[0].ends, system.links[0].cable_cm),
            ([at(0, 7), at(1, 0)], Some(4_000))
        );
    }

    #[test]
    fn a_device_of_a_system_is_one_under_test_where_its_first_ports_are_cabled_to_the_rig() {
        let names = |ports: &str| -> Vec<String> {
            devices(LINKS, ports).into_iter().map(|dut| dut.name).collect()
        };
        assert_eq!(names(PORTS), ["line", "line-near"]);
        let far = "ports: {p1: near/Ethernet0, p2: near/Ethernet4}";
        assert_eq!(names(far), ["line", "line-near"]);
        let near = &devices(LINKS, far)[1];
        assert_eq!((near.kind, near.declared.port_count()), (Kind::Switch, 2));
        assert_eq!(
            near.family(),
            lab_of(&lab(TWO, LINKS, far)).duts[0].system.as_ref().expect("a system").devices[0]
                .family()
        );
    }

    #[test]
    fn a_router_may_stand_between_switches_and_has_ports_of_the_same_names() {
        let three = TWO.replace("{near", "{router: duts/router.yaml, near");
        let links = "links: [{from: near/Ethernet28, to: router/Ethernet0}, {from: router/Ethernet12, to: far/Ethernet0}]";
        let whole = &lab_of(&lab(&three, links, PORTS)).duts[0];
        let system = whole.system.as_ref().expect("a system");
        let kinds: Vec<Kind> = system.devices.iter().map(|device| device.kind).collect();
        assert_eq!(kinds, [Kind::Router, Kind::Switch, Kind::Switch]);
        assert_eq!(system.port_name(system.links[1].ends[0]), "router/Ethernet12");
        // It states what its first switch does, whatever stands before that.
        assert_eq!(whole.asic, system.devices[1].asic);
        assert_eq!(system.way(0, 1).map(|way| way.len()), Some(3));
    }

    #[test]
    fn a_nic_is_one_under_test_where_it_stands_behind_others() {
        let row =
            "devices: {tor: duts/broadcom.yaml, router: duts/router.yaml, nic: duts/gen2.yaml}";
        let links = "links: [{from: tor/Ethernet28, to: router/Ethernet0, length: 40m}, {from: router/Ethernet4, to: nic/nic}]";
        let duts = lab_of(&lab(row, links, "ports: {p1: tor/Ethernet0, p2: tor/Ethernet4}")).duts;
        let names: Vec<&str> = duts.iter().map(|dut| dut.name.as_str()).collect();
        assert_eq!(names, ["line", "line-tor", "line-nic"]);
        let nic = &duts[2];
        assert_eq!((nic.kind, nic.declared.port_count()), (Kind::Nic, 1));
        let way = nic.approach(0);
        let way: Vec<(&str, Option<u64>)> =
            way.into_iter().map(|(device, cable)| (device.name.as_str(), cable)).collect();
        assert_eq!(way, [("tor", Some(4_000)), ("router", None)]);
        assert!(nic.is_over(Kind::Switch) && nic.is_over(Kind::Router));
        // What goes from switch to router does not end at the NIC.
        assert!(duts[0].approach(0).is_empty() && duts[1].approach(0).is_empty());
        assert!(!duts[1].is_over(Kind::Router));
        // One switch and a NIC: there is nothing that frames go over besides that switch.
        let one = "devices: {tor: duts/broadcom.yaml, nic: duts/gen2.yaml}";
        let links = "links: [{from: tor/Ethernet28, to: nic/nic}]";
        let duts = lab_of(&lab(one, links, "ports: {p1: tor/Ethernet0}")).duts;
        let names: Vec<&str> = duts.iter().map(|dut| dut.name.as_str()).collect();
        assert_eq!(names, ["line-tor", "line-nic"]);
    }

    const PAIR: &str = "devices: {near: duts/broadcom.yaml, far: duts/mellanox.yaml, nics: {pair: [duts/gen1.yaml, duts/gen2.yaml]}}";
    const SIDES: &str = "links: [{from: near/Ethernet28, to: nics/nic}, {from: far/Ethernet4, to: nics/peer, length: 40m}]";

    #[test]
    fn two_nics_stand_on_either_side_of_the_rig() {
        let ports = "ports: {p1: near/Ethernet0, p2: far/Ethernet0}";
        let duts = lab_of(&lab(PAIR, SIDES, ports)).duts;
        // The two sides together pass nothing on: there is no whole.
        let names: Vec<&str> = duts.iter().map(|dut| dut.name.as_str()).collect();
        assert_eq!(names, ["line-near", "line-far", "line-nics"]);
        let nics = &duts[2];
        assert_eq!((nics.kind, nics.declared.port_count()), (Kind::Nic, 2));
        let way = |port| -> Vec<(&str, Option<u64>)> {
            nics.approach(port)
                .into_iter()
                .map(|(device, cable)| (device.name.as_str(), cable))
                .collect()
        };
        assert_eq!((way(0), way(1)), (vec![("near", None)], vec![("far", Some(4_000))]));
        assert_eq!(nics.approaches().count(), 2);
    }

    #[test]
    fn several_nics_stand_at_one_switch_each_by_itself() {
        let three = "devices: {tor: duts/broadcom.yaml, one: duts/gen1.yaml, two: duts/gen2.yaml}";
        let links =
            "links: [{from: tor/Ethernet28, to: one/nic}, {from: tor/Ethernet24, to: two/nic}]";
        let duts = lab_of(&lab(three, links, "ports: {p1: tor/Ethernet0}")).duts;
        let names: Vec<&str> = duts.iter().map(|dut| dut.name.as_str()).collect();
        assert_eq!(names, ["line-tor", "line-one", "line-two"]);
        assert!(duts[1..].iter().all(|nic| nic.approaches().count() == 1));
    }

    #[test]
    fn a_pair_whose_frames_could_go_past_the_rig_or_to_the_wrong_side_is_told() {
        let ports = "ports: {p1: near/Ethernet0, p2: far/Ethernet0}";
        let linked =
            SIDES.replace("links: [", "links: [{from: near/Ethernet4, to: far/Ethernet8}, ");
        assert_snapshot!(faults_of_lab(&lab(PAIR, &linked, ports)));
        let turned = SIDES
            .replace("nics/nic", "nics/x")
            .replace("nics/peer", "nics/nic")
            .replace("nics/x", "nics/peer");
        assert_snapshot!(faults_of_lab(&lab(PAIR, &turned, ports)));
        assert_snapshot!(faults_of_lab(&lab(PAIR, SIDES, "ports: {p1: near/Ethernet0}")));
        let three = PAIR.replace("duts/gen1.yaml, ", "duts/gen1.yaml, duts/gen3.yaml, ");
        assert_snapshot!(faults_of_lab(&lab(&three, SIDES, ports)));
        let beyond = PAIR.replace("nics:", "extra: duts/gen2.yaml, nics:");
        let linked = SIDES.replace("links: [", "links: [{from: far/Ethernet8, to: extra/nic}, ");
        assert_snapshot!(faults_of_lab(&lab(&beyond, &linked, ports)));
    }

    #[test]
    fn a_switch_that_speaks_macsec_is_in_no_system() {
        let find = |name: &str| {
            let text = include_str!("../../duts/broadcom-macsec.yaml");
            match name {
                "duts/broadcom-macsec.yaml" => {
                    Ok(Source::new(name, &text.replace("    enable: false", "    enable: true")))
                }
                other => bundled::dut(other),
            }
        };
        let two = TWO.replace("duts/mellanox.yaml", "duts/broadcom-macsec.yaml");
        let lab = lab_from(&Source::new("lab.yaml", &lab(&two, LINKS, PORTS)), &find);
        let faults = lab.expect_err("a fault");
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].found, "`broadcom-macsec`, which speaks MACsec, in a system");
    }

    #[test]
    fn what_is_wrong_with_a_system_is_told_in_its_place() {
        let links = "links: [{from: near/Ethernet28, to: fra/Ethernet0}, {from: near/Ethernet0}, {from: near/Ethernet4, to: near/Ethernet8}]";
        let ports = "ports: {p1: near/Ethernet4, p3: far/Ethernet99, p2: Ethernet0}";
        assert_snapshot!(faults_of_lab(&lab(TWO, links, ports)));
        let slow = TWO.replace("near: duts/broadcom.yaml", "near: duts/broadcom-400g.yaml");
        assert_snapshot!(faults_of_lab(&lab(&slow, LINKS, PORTS)));
        assert_snapshot!(faults_of_lab(&lab(TWO, "links: []", PORTS)));
        let parallel = "links: [{from: near/Ethernet28, to: far/Ethernet28}, {from: near/Ethernet24, to: far/Ethernet24}]";
        assert_snapshot!(faults_of_lab(&lab(TWO, parallel, PORTS)));
        let nic = TWO.replace("near: duts/broadcom.yaml", "near: duts/gen1.yaml");
        assert_snapshot!(faults_of_lab(&lab(&nic, LINKS, PORTS)));
        let at_nic = "devices: {tor: duts/broadcom.yaml, nic: duts/gen2.yaml}";
        let ports = "ports: {p1: tor/Ethernet0, p2: nic/nic}";
        assert_snapshot!(faults_of_lab(&lab(at_nic, "links: []", ports)));
        let nics = "devices: {tor: duts/broadcom.yaml, one: duts/gen1.yaml, two: duts/gen2.yaml}";
        let between = "links: [{from: one/nic, to: two/nic}]";
        assert_snapshot!(faults_of_lab(&lab(nics, between, "ports: {p1: tor/Ethernet0}")));
        let slow = "devices: {tor: duts/broadcom-mixed.yaml, nic: duts/gen2.yaml}";
        let links = "links: [{from: tor/Ethernet16, to: nic/nic}]";
        assert_snapshot!(faults_of_lab(&lab(slow, links, "ports: {p1: tor/Ethernet0}")));
        assert_snapshot!(faults_of_lab(&lab("devices: {near: duts/broadcom.yaml}", LINKS, PORTS)));
        let profile = "profile: duts/broadcom.yaml";
        assert_snapshot!(faults_of_lab(&lab(TWO, "control: served", profile)));
        let routers = TWO.replace("broadcom", "router").replace("mellanox", "router");
        assert_snapshot!(faults_of_lab(&lab(&routers, LINKS, PORTS)));
    }
}
