//! Switches with several packet memories: each has limits of its own, and what fills one is nothing to another. A case whose streams all take one is
//! predicted of that; where they take several, a measure has to know which of them each stream takes.

use rig_lab::{Declared, Lab, Profile, Switch};
use rig_oracle::measure;
use rig_oracle::trials::points::{Group, groups};
use rig_oracle::trials::seed::Seed;
use rig_testcases::vocabulary::ByMemory;
use rig_testcases::{Case, Script, StreamSpec};

/// Why a case says nothing of a device with several packet memories.
pub(super) fn of(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let row = profile.system.as_deref().filter(|system| system.alone.is_none());
    let devices = row.map_or(core::slice::from_ref(profile), |system| &system.devices);
    let sides = |declared: &Declared| {
        let buffer = declared.switch().map(|switch| &switch.buffer);
        buffer.map(|buffer| (buffer.ingress_memories.clone(), buffer.egress_memories.clone()))
    };
    let other = |group: &Group| sides(&group.declared) != sides(&profile.declared);
    if row.is_none() && groups(case, &profile.declared).ok()?.iter().any(other) {
        return Some("which packet memories it has nobody sets of a device".to_owned());
    }
    let device = devices.iter().find(|device| {
        device.declared.switch().is_some_and(|switch| switch.buffer.memories() > 1)
    })?;
    let memories = device.declared.switch()?.buffer.memories();
    let has = format!(
        "{} has {memories} packet memories (buffer.ingress_memories, buffer.egress_memories)",
        device.name
    );
    // Such a device is predicted from its own part alone, whatever port of it the next one is at.
    if row.is_some() {
        return Some(format!("{has}, and it is one of several devices in a row"));
    }
    groups(case, &profile.declared).ok()?.into_iter().find_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        let script = points.iter().find_map(|point| context.script(point).ok())?;
        Some(format!("{has}, {}", apart(context.switch(), case, &script)?))
    })
}

/// What of the case goes over several memories and is not known to; `None`: nothing.
fn apart(switch: &Switch, case: &Case, script: &Script) -> Option<String> {
    let memory = |spec: &StreamSpec| {
        let port = |port: u16| script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        switch.memory(port(spec.from), port(spec.to))
    };
    let (first, others) = script.streams.split_first()?;
    let other = others.iter().find(|other| memory(other) != memory(first))?;
    if let Some(one) = case.measure.iter().find(|one| !(measure::of(one).over_memories)(one)) {
        return Some(format!(
            "{} takes another of them than {}, and {} is predicted of streams that take one",
            other.name,
            first.name,
            one.name()
        ));
    }
    // An XOFF that stands because of one part hides that of the other.
    let one = case.measure.iter().find(|one| one.entry.memory != ByMemory::No)?;
    let pairs = script.streams.iter().enumerate();
    let mut pairs =
        pairs.flat_map(|(at, one)| script.streams[..at].iter().map(move |of| (of, one)));
    let (one_part, other) = pairs.find(|(one, other)| {
        (one.from, one.class) == (other.from, other.class) && memory(one) != memory(other)
    })?;
    Some(format!(
        "{} and {} fill parts of one group in two of them, and {} is predicted of a group in one",
        one_part.name,
        other.name,
        one.name()
    ))
}

#[cfg(test)]
mod tests;
