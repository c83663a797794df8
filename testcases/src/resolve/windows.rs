//! Stretches of a trial in which something is measured: they lie within it. Where flows share a path: those that are named, all the
//! time, and nobody else.

use crate::{Action, Case, Measure, Script, Window};
use rig_lab::Fault;
use rig_units::Dur;
use std::collections::BTreeSet;

/// Refuses a stretch that ends before it begins, or after the trial.
pub(super) fn within(
    case: &Case,
    measure: &Measure,
    (from, until): (Dur, Dur),
    length: Dur,
) -> Result<(), Fault> {
    let name = measure.name();
    if until <= from {
        let found = format!("`{name}` from {from} until {until}");
        return Err(case.fault("measure", found, "an end after the beginning"));
    }
    if until > length {
        let found = format!("`{name}` from {from} until {until}: the trial ends at {length}");
        return Err(case.fault("measure", found, "an end within the trial"));
    }
    Ok(())
}

/// The first window whose flows are not those that are under way.
pub(super) fn check(case: &Case, script: &Script) -> Result<(), Fault> {
    let times = under_way(script);
    for measure in &case.measure {
        for window in &measure.windows() {
            one((case, script), &times, measure.name(), window)?;
        }
    }
    Ok(())
}

fn one(
    (case, script): (&Case, &Script),
    times: &[Vec<(Dur, Dur)>],
    name: &str,
    window: &Window,
) -> Result<(), Fault> {
    let Window { flows, from, until } = window;
    let refused = |found: String, want: &str| {
        let found = format!("`{name}` from {from} until {until}: {found}");
        Err(case.fault("measure", found, want))
    };
    if *until > script.length {
        return refused(format!("the trial ends at {}", script.length), "an end within the trial");
    }
    let named: BTreeSet<&str> = flows.iter().map(String::as_str).collect();
    for (flow, times) in script.flows.iter().zip(times) {
        if named.contains(flow.name.as_str()) {
            if flow.count.is_some() || !times.iter().any(|(a, b)| a <= from && b >= until) {
                let found = format!("`{}` is not under way all the time", flow.name);
                return refused(found, "flows that begin before and are stopped after");
            }
        } else if times.iter().any(|(a, b)| a < until && b > from) {
            let found = format!("`{}` is under way, too", flow.name);
            return refused(found, "a list of every flow that is under way");
        }
    }
    Ok(())
}

/// From when until when each flow is under way, each time.
fn under_way(script: &Script) -> Vec<Vec<(Dur, Dur)>> {
    let mut times = vec![Vec::new(); script.flows.len()];
    for step in &script.steps {
        match step.action {
            Action::StartFlow(flow) => {
                if let Some(times) = times.get_mut(usize::from(flow)) {
                    times.push((step.at, script.length));
                }
            }
            Action::StopFlow(flow) => {
                if let Some((_, end)) =
                    times.get_mut(usize::from(flow)).and_then(|times| times.last_mut())
                {
                    *end = step.at;
                }
            }
            _ => {}
        }
    }
    times
}
