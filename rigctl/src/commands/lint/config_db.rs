//! The same of a switch with SONiC, by its CONFIG_DB: each set of ports that are configured alike is a switch of its own.

use super::{Found, Looked, Memory, of_switch};
use crate::cli::LintArgs;
use rig_dut::sonic::{self, PortSet};
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;
use rig_lab::{Fault, Profile};
use rig_oracle::lint::Flaw;
use rig_units::Bytes;
use std::collections::BTreeSet;
use std::path::Path;

/// Whether a file is CONFIG_DB, by its name.
pub(super) fn is_one(file: Option<&Path>) -> Option<&Path> {
    file.filter(|file| file.extension().is_some_and(|end| end == "json"))
}

/// What is wrong with the switch.
pub(super) fn of_file(
    args: &LintArgs,
    file: &Path,
    found: &mut Vec<Found>,
) -> Result<Looked, Vec<Fault>> {
    let tables = sonic::read(file, args.namespace.as_deref())?;
    let sets = sonic::alike(&tables, args.base.as_deref())?;
    let mut faults = Vec::new();
    let mut profiles = Vec::new();
    for set in &sets {
        match profile_from(&Source::new("the profile", &set.written("ports"))) {
            Ok(profile) => profiles.push((set, profile)),
            Err(own) => faults.extend(set.in_the_file(own)),
        }
    }
    faults.sort();
    faults.dedup();
    if !faults.is_empty() {
        return Err(faults);
    }
    found.extend(sonic::flaws(&tables).into_iter().map(of_tables));
    let kept: Vec<u64> = profiles.iter().map(|(set, of)| keeps(set, of)).collect();
    let mut left_out = BTreeSet::new();
    for (index, (set, profile)) in profiles.iter().enumerate() {
        // The memory is that of all: it is asked for once, with the largest set. A port alone stands as two in its profile.
        let memory = args.memory.filter(|_| index == 0 && set.ports.len() > 1);
        let of = Memory { memory, elsewhere: Bytes(kept[1..].iter().sum()) };
        let mut own = Vec::new();
        let place = |path: &str| set.place(path).unwrap_or_default();
        let cable = set.cable.unwrap_or(args.cable);
        of_switch(profile, cable, of, place, &mut own);
        for mut one in own {
            if !sonic::is_of_file(set, one.rule, one.flaw.path) {
                left_out.insert(one.rule);
            } else if !found.iter().any(|known| is_same(known, &one)) {
                one.device = of_ports(set);
                found.push(one);
            }
        }
    }
    found.sort_by(|one, other| (one.place.line, one.rule).cmp(&(other.place.line, other.rule)));
    Ok(Looked { switches: sets.len(), of: "set of ports that are alike", left_out })
}

/// Two sets may share a profile of a buffer: what is wrong with that is told once.
fn is_same(one: &Found, other: &Found) -> bool {
    (one.rule, &one.place, &one.flaw) == (other.rule, &other.place, &other.flaw)
}

/// What the groups of these ports keep for themselves, in bytes, as far as the file says it. What all share is counted with the pool.
fn keeps(set: &PortSet, profile: &Profile) -> u64 {
    let Some(switch) = profile.declared.switch() else { return 0 };
    let ports = set.ports.len() as u64;
    let buffer = &switch.buffer;
    let stated = |path: &str, bytes: Bytes| if set.place(path).is_some() { bytes.0 } else { 0 };
    let headroom = match buffer.headroom_pool {
        Some(_) => 0,
        None => stated("buffer.xoff", buffer.xoff),
    };
    let reserved = stated("buffer.reserved", buffer.reserved);
    ports * switch.qos.pfc_enable.len() as u64 * (reserved + headroom)
}

fn of_ports(set: &PortSet) -> String {
    match set.ports.as_slice() {
        [only] => only.clone(),
        [first, .., last] => format!("{} ports, {first} to {last}", set.ports.len()),
        [] => String::new(),
    }
}

fn of_tables(flaw: sonic::FileFlaw) -> Found {
    let sonic::FileFlaw { rule, place, found, want, numbers } = flaw;
    let device = place.path.split('|').nth(1).unwrap_or_default().to_owned();
    Found {
        rule: rule.name,
        about: rule.about,
        source: rule.source,
        device,
        place,
        flaw: Flaw { path: "", found, want, numbers },
    }
}
