//! Ports of which the databases say the same: a profile has one configuration for all of its ports, a switch one for each.

use super::asic::{self, Base};
use super::stated::{PortFacts, Stated, of_port, ports, speed};
use super::tables::Tables;
use rig_lab::{Fault, Place};
use rig_units::{Length, PortSpeed};

/// Ports that are configured alike, as a device of their own.
#[derive(Debug)]
pub struct PortSet {
    /// Their names, in order.
    pub ports: Vec<String>,
    /// The cable of each, where `CABLE_LENGTH` names it.
    pub cable: Option<Length>,
    pub(super) facts: PortFacts,
    pub(super) base: String,
    /// What the bundled profile declares, as JSON.
    pub(super) usual: serde_json::Value,
    pub(super) file: String,
}

impl PortSet {
    /// Where the file states the setting at `path` below `declared:`; `None` where it does not.
    pub fn place(&self, path: &str) -> Option<Place> {
        self.stated(path)?.place.clone()
    }

    pub(super) fn stated(&self, path: &str) -> Option<&Stated> {
        self.facts.stated.iter().find(|stated| stated.path == path)
    }

    /// Faults of the profile that was made of it, where they stand in the file: what is stated there is at fault.
    pub fn in_the_file(&self, faults: Vec<Fault>) -> Vec<Fault> {
        let moved = |fault: Fault| {
            let path = fault.place.path.trim_start_matches("declared.");
            let place = self.place(path).map_or(fault.place.clone(), Box::new);
            Fault { place, ..fault }
        };
        faults.into_iter().map(moved).collect()
    }
}

/// The ports in sets, the one with the most ports first. `base` names the bundled profile of the ASIC where the file does not tell it.
///
/// # Errors
/// Every value that cannot be used, with its place.
pub fn alike(tables: &Tables, base: Option<&str>) -> Result<Vec<PortSet>, Vec<Fault>> {
    let names = ports(tables);
    if names.is_empty() {
        let want = "a row such as PORT|Ethernet0 with its speed";
        return Err(vec![Fault::of_file(
            &tables.file,
            "PORT has no port of the front panel",
            want,
        )]);
    }
    let fastest = names.iter().filter_map(|port| speed(tables, port)).max();
    let base = asic::base(tables, base, fastest.unwrap_or(PortSpeed::G100));
    let sets = base.as_ref().ok().map(|base| sets(tables, &names, base)).unwrap_or_default();
    let mut faults = tables.faults.borrow().clone();
    faults.extend(base.err().unwrap_or_default());
    faults.sort();
    if faults.is_empty() { Ok(sets) } else { Err(faults) }
}

fn sets(tables: &Tables, names: &[&str], base: &Base) -> Vec<PortSet> {
    let mut sets: Vec<PortSet> = Vec::new();
    for port in names {
        let Some(facts) = of_port(tables, port, base) else { continue };
        match sets.iter_mut().find(|set| is_same(&set.facts, &facts)) {
            Some(set) => {
                set.ports.push((*port).to_owned());
                set.facts.beyond.extend(facts.beyond);
            }
            None => sets.push(PortSet {
                ports: vec![(*port).to_owned()],
                cable: facts.cable.as_ref().map(|(length, _)| *length),
                facts,
                base: base.name.clone(),
                usual: base.profile.written()["declared"].clone(),
                file: tables.file.clone(),
            }),
        }
    }
    sets.sort_by_key(|set| std::cmp::Reverse(set.ports.len()));
    sets
}

fn is_same(one: &PortFacts, other: &PortFacts) -> bool {
    let cable = |facts: &PortFacts| facts.cable.as_ref().map(|(length, _)| *length);
    let values = |facts: &PortFacts| -> Vec<(&str, String)> {
        facts.stated.iter().map(|stated| (stated.path, stated.value.clone())).collect()
    };
    one.speed == other.speed && cable(one) == cable(other) && values(one) == values(other)
}
