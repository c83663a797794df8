//! Reading how a lab's devices are reached, and what that makes of their ports.

use crate::declared::{PortGroup, Ports};
use crate::lab::{DeclaredWire, EmulatedWire};
use crate::walk::{At, Fields};
use crate::{Adapter, Backend, Declared};
use rig_units::{Dur, PortSpeed};

/// The words for the adapters.
pub(crate) const ADAPTERS: [(&str, Word); 3] = [
    ("emulated", Word::Emulated),
    ("emulated-wire", Word::EmulatedWire),
    ("declared", Word::Declared),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Emulated,
    EmulatedWire,
    Declared,
}

/// Most ports of an emulated device in real time, and most devices side by side.
const MOST: i64 = 64;

/// How the devices of a lab are reached.
pub(super) fn read(lab: &At<'_>, fields: &Fields<'_>) -> Option<Adapter> {
    let word = fields.need("adapter", "emulated, emulated-wire or declared");
    let word = word.and_then(|at| at.choice(&ADAPTERS))?;
    let wire = fields.get("wire");
    match (word, wire) {
        (Word::Emulated, None) => Some(Adapter::Emulated),
        (Word::Emulated, Some(wire)) => {
            wire.at_key(
                "the adapter `emulated` has no wire",
                "no `wire`, or adapter: emulated-wire",
            );
            None
        }
        (_, None) => {
            let want = "wire: with what the adapter needs, as in lab-configs/veth.yaml";
            lab.fault("the lab says nothing of its wire", want);
            None
        }
        (Word::EmulatedWire, Some(wire)) => emulated(&wire).map(Adapter::EmulatedWire),
        (Word::Declared, Some(wire)) => declared(&wire).map(Adapter::Declared),
    }
}

fn emulated(at: &At<'_>) -> Option<EmulatedWire> {
    let fields = at.fields(&["speed", "ports", "bound", "benches", "budget"])?;
    let speed = fields.need("speed", "a port speed such as 1Gbps").and_then(|at| at.quantity());
    let ports = fields.need("ports", "how many ports each device has");
    let ports = ports.and_then(|at| at.whole(2..=MOST, "a number of ports"));
    let bound = length(&fields, "bound", "1ms");
    let benches = match fields.get("benches") {
        Some(at) => at.whole(1..=MOST, "a number of devices side by side"),
        None => Some(1),
    };
    let budget = length(&fields, "budget", "240s");
    Some(EmulatedWire {
        speed: speed?,
        ports: ports?,
        bound: bound?,
        benches: benches?,
        budget: budget?,
    })
}

fn declared(at: &At<'_>) -> Option<DeclaredWire> {
    const INTERFACES: &str = "a list of interfaces, such as [enp65s0f0, enp65s0f1]";
    let fields = at.fields(&["interfaces", "backend", "bound", "budget"])?;
    let listed = fields.need("interfaces", INTERFACES).and_then(|at| at.list(INTERFACES))?;
    let mut interfaces: Vec<String> = Vec::new();
    for at in &listed {
        let Some(name) = at.text("the name of an interface") else { continue };
        if interfaces.iter().any(|other| other == name) {
            at.fault(format!("`{name}` is already a port of the rig"), "another interface");
        }
        interfaces.push(name.to_owned());
    }
    if listed.is_empty() {
        at.fault("the rig has no port", INTERFACES);
    }
    let backend = match fields.get("backend") {
        Some(at) => at.choice(&Backend::NAMES),
        None => Some(Backend::AfXdp),
    };
    let (bound, budget) = (length(&fields, "bound", "10us"), length(&fields, "budget", "1200s"));
    let whole = interfaces.len() == listed.len() && !interfaces.is_empty();
    whole.then_some(())?;
    Some(DeclaredWire { interfaces, backend: backend?, bound: bound?, budget: budget? })
}

/// A length of time that is not zero.
fn length(fields: &Fields<'_>, name: &str, example: &str) -> Option<Dur> {
    let want = format!("a length of time such as {example}");
    let at = fields.need(name, &want)?;
    let dur: Dur = at.quantity()?;
    if dur == Dur::ZERO {
        at.fault("no time at all", want);
        return None;
    }
    Some(dur)
}

/// The ports that an emulated device has in real time: its first ones, the fastest at the speed of the wire and slower
/// ones at their share of it.
pub(super) fn scaled(declared: &Declared, wire: &EmulatedWire) -> Ports {
    let speeds = (0..wire.ports).filter_map(|port| declared.port_speed(port));
    let speeds: Vec<PortSpeed> = spread(speeds.collect(), declared, wire.ports);
    let fastest = speeds.iter().max().map_or(1, |speed| speed.bps());
    let mut ports: Ports = Vec::new();
    for speed in speeds {
        let share = u128::from(wire.speed.bps()) * u128::from(speed.bps()) / u128::from(fastest);
        let share = u64::try_from(share).ok().and_then(PortSpeed::from_bps);
        // A share at which no byte lasts whole picoseconds: the speed of the wire itself.
        let speed = share.unwrap_or(wire.speed);
        match ports.last_mut().filter(|group| group.speed == speed) {
            Some(group) => group.count += 1,
            None => ports.push(PortGroup { count: 1, speed }),
        }
    }
    ports
}

/// Where the first ports all have one speed and others another, one of the others takes the last place: a case may ask
/// for both.
fn spread(mut first: Vec<PortSpeed>, declared: &Declared, ports: u16) -> Vec<PortSpeed> {
    let rest = (ports..declared.port_count()).filter_map(|port| declared.port_speed(port));
    let other = rest.into_iter().find(|speed| first.iter().all(|known| known != speed));
    if let (Some(other), Some(last)) = (other, first.last_mut()) {
        *last = other;
    }
    first
}

#[cfg(test)]
mod tests {
    use crate::read::tests::{faults_of_lab, lab_of};

    const EMULATED: &str =
        "about: a\nadapter: emulated-wire\ncable: 3m\nduts: [duts/broadcom-mixed.yaml]\n";

    fn wire(text: &str) -> String {
        format!("{EMULATED}wire: {text}\n")
    }

    #[test]
    fn ports_run_at_the_speed_of_the_wire_and_keep_their_shares() {
        let lab = lab_of(&wire("{speed: 1Gbps, ports: 4, bound: 1ms, budget: 240s}"));
        let ports = &lab.duts[0].declared;
        assert_eq!(ports.port_count(), 4);
        let speeds: Vec<String> =
            (0..4).filter_map(|port| ports.port_speed(port)).map(|s| s.to_string()).collect();
        assert!(speeds.contains(&"1Gbps".to_owned()), "{speeds:?}");
        assert!(speeds.iter().any(|speed| speed != "1Gbps"), "{speeds:?}");
    }

    #[test]
    fn what_a_wire_lacks_is_told_at_once() {
        insta::assert_snapshot!(faults_of_lab(&wire(
            "{speed: 1furlong, ports: 1, benches: 0, pots: 3}"
        )));
        insta::assert_snapshot!(faults_of_lab(EMULATED));
        let declared = EMULATED.replace("emulated-wire", "declared");
        insta::assert_snapshot!(faults_of_lab(&format!(
            "{declared}wire: {{interfaces: [eth1, eth1, 3], backend: af_xdp, bound: 0us}}\n"
        )));
        let desk = EMULATED.replace("emulated-wire", "emulated");
        insta::assert_snapshot!(faults_of_lab(&format!("{desk}wire: {{ports: 3}}\n")));
    }
}
