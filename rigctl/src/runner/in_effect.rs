//! Which mutations a run can feel: nothing is said to be mutated that no device under test has, and what none can have is refused.

use super::choose::choose;
use crate::mutation::{self, Typed};
use rig_lab::keys::hidden;
use rig_lab::{Declared, Deviation, Kind, Lab, Mutation, Part, Profile, fields};
use rig_oracle::trials::points::groups;
use rig_testcases::Case;
use rig_testcases::case::CaseAction;
use std::collections::BTreeSet;

/// What becomes of the mutations in a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Those, as typed, that a device has on which a case runs.
    pub felt: Vec<String>,
    /// Of each that changes nothing there why it does not.
    pub idle: Vec<String>,
    /// Of each that no device there can have what is wrong, and what would be accepted.
    pub refused: Vec<String>,
}

/// Which mutations the cases feel.
pub fn split(lab: &Lab, only: Option<&str>, cases: &[&Case], texts: &[String]) -> Split {
    let chosen: Vec<(&Profile, Case)> = cases
        .iter()
        .filter_map(|case| choose(lab, only, case).ok())
        .map(|(profile, reach)| (profile, reach.case))
        .collect();
    let mut all = Split::default();
    for text in texts {
        let Ok(typed) = mutation::parse(text) else { continue };
        // The nearest that any case came to it.
        match chosen.iter().map(|(profile, case)| reach(profile, case, &typed)).max() {
            Some(Nearness::Felt) => all.felt.push(text.clone()),
            Some(Nearness::Unchanged) => {
                let path = typed.path();
                all.idle.push(format!("`--mutate {text}` changes nothing: `{path}` is unset, or it is that, where a case runs"));
            }
            // What no device at all has is told where mutations are read.
            Some(Nearness::OtherKind) if !is_known(&typed) => {}
            Some(Nearness::OtherKind) => {
                let part = typed.path().split('.').next().unwrap_or_default();
                let devices = chosen
                    .iter()
                    .flat_map(|(profile, _)| devices(profile, typed.device.as_deref()));
                let want = accepted(&devices.map(|device| device.kind).collect());
                let told = format!("`--mutate {text}`: no device that a case runs on has `{part}`");
                all.refused.push(format!("{}\n   = want: {want}", hidden(&told)));
            }
            Some(Nearness::Elsewhere) | None => {
                let where_to = match &typed.device {
                    Some(device) => format!("on a system with a device `{device}`"),
                    None => format!("in lab {}", lab.name),
                };
                all.idle
                    .push(format!("`--mutate {text}` changes nothing: no case runs {where_to}"));
            }
        }
    }
    all
}

/// Whether some device has what is broken.
fn is_known(typed: &Typed) -> bool {
    let is = |path: &str| fields::all().any(|(known, _)| known == path);
    !matches!(&typed.mutation, Mutation::Override { path, .. } if !is(path))
}

/// What can be mutated of devices of these kinds.
fn accepted(kinds: &BTreeSet<Kind>) -> String {
    /// So many deviations are told by name.
    const FEW: usize = 4;
    let has = |part: Part| kinds.iter().any(|kind| kind.has(part.key()));
    let parts: Vec<&str> =
        Part::NAMES.into_iter().filter(|&(_, part)| has(part)).map(|(name, _)| name).collect();
    let names: Vec<&str> =
        Deviation::all().filter(|deviation| has(deviation.part())).map(Deviation::name).collect();
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.called()).collect();
    let (few, more) = names.split_at(names.len().min(FEW));
    let more = if more.is_empty() { "" } else { " or another (rigctl mutants --list)" };
    format!(
        "of what {} has: {}; of deviations {}{more}",
        kinds.join(" or "),
        parts.join(", "),
        few.join(", ")
    )
}

/// How near a mutation comes to a case, the nearest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// No device of that name is on its device under test.
    Elsewhere,
    /// Its device has no such part.
    OtherKind,
    /// Whatever the case configures, it is the same with the mutation.
    Unchanged,
    Felt,
}

fn reach(profile: &Profile, case: &Case, typed: &Typed) -> Nearness {
    let devices = devices(profile, typed.device.as_deref());
    devices.iter().map(|device| on(device, case, typed)).max().unwrap_or(Nearness::Elsewhere)
}

/// The devices among those of a case that it is put into.
fn devices<'a>(profile: &'a Profile, name: Option<&str>) -> Vec<&'a Profile> {
    let Some(name) = name else { return profile.devices().iter().collect() };
    let Some(system) = &profile.system else { return Vec::new() };
    let named = |(index, device): (u16, &'a Profile)| match system.alone == Some(index) {
        true => (device.name == name).then_some(profile),
        false => (device.name == name).then_some(device),
    };
    (0..).zip(&system.devices).filter_map(named).collect()
}

fn on(device: &Profile, case: &Case, typed: &Typed) -> Nearness {
    if !device.kind.has(typed.path().split('.').next().unwrap_or_default()) {
        return Nearness::OtherKind;
    }
    let Mutation::Override { path, value } = &typed.mutation else { return Nearness::Felt };
    let steps = case.steps.iter().filter_map(|step| match &step.what {
        CaseAction::Configure(setting) => Some(setting),
        _ => None,
    });
    if steps.chain(&case.configure).any(|setting| setting.path == *path) {
        return Nearness::Felt;
    }
    // What stands between the rig and a NIC is as the lab has it: a case configures the NIC.
    let configured: Vec<Declared> = if case.kind == Kind::System || device.kind == case.kind {
        let groups = groups(case, &device.declared).unwrap_or_default();
        groups.into_iter().map(|group| group.declared).collect()
    } else {
        vec![device.declared.clone()]
    };
    let changes = |declared: &Declared| {
        declared.overridden(path, value).is_ok_and(|changed| changed != *declared)
    };
    let changed = configured.iter().any(changes);
    if changed { Nearness::Felt } else { Nearness::Unchanged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;

    /// What is told of a mutation in a run of a case; `None` where it is said to be in effect.
    fn told(lab: &Lab, case: &Case, mutation: &str) -> Option<String> {
        let (mut lab, texts) = (lab.clone(), [mutation.to_owned()]);
        mutation::apply(&mut lab, &texts).expect(mutation);
        let Split { felt, mut idle, mut refused } = split(&lab, None, &[case], &texts);
        assert_eq!(felt.len() + idle.len() + refused.len(), 1);
        idle.pop().or_else(|| refused.pop())
    }

    #[test]
    fn a_mutation_is_announced_where_a_device_under_test_has_it() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let told = |case: &str, mutation: &str| {
            let mut cases = bundled::cases().iter();
            told(&lab, cases.find(|one| one.id.to_string() == case).expect(case), mutation)
        };
        const ONE: &str = "pfcwd::action-drop-broadcom";
        const SYSTEM: &str = "system::latency-adds-up";
        for (case, mutation) in [
            (ONE, "pfcwd.detection_time=x2"),
            (ONE, "deviation=drop_leaks"),
            (SYSTEM, "far/deviation=latency_grows"),
            (SYSTEM, "far/forwarding_delay=x2"),
            (SYSTEM, "forwarding_delay=x2"),
            ("cnp::notified-over-a-switch", "tor/forwarding_delay=x2"),
            ("cnp::notified-over-a-switch", "nic/nic.np.latency=x2"),
            // Unset, and set by the case.
            ("pfcwd::shaped-port", "scheduler.pir=x2"),
        ] {
            assert_eq!(told(case, mutation), None, "{mutation}");
        }
        for (case, mutation, why) in [
            (ONE, "far/deviation=latency_grows", "no case runs on a system with a device `far`"),
            (ONE, "scheduler.pir=x2", "`scheduler.pir` is unset, or it is that, where a case runs"),
            (
                SYSTEM,
                "far/scheduler.pir=x2",
                "`scheduler.pir` is unset, or it is that, where a case runs",
            ),
            (ONE, "pfcwd.action=drop", "`pfcwd.action` is unset, or it is that, where a case runs"),
        ] {
            let want = format!("`--mutate {mutation}` changes nothing: {why}");
            assert_eq!(told(case, mutation), Some(want));
        }
        const SWITCH: &str = "of what a switch has: pfcwd, buffer, pfc, scheduler, dynamic_buffer, flex_counter, reboot, wred, macsec, forwarding_delay, clock; of deviations ";
        const ROUTER: &str =
            "of what a router has: forwarding_delay, clock; of deviations clock_fast, clock_slow";
        const OVER: &str = "system::latency-adds-up-over-a-router";
        for (case, mutation, part, want) in [
            (ONE, "nic.np.interval=x2", "nic", SWITCH),
            (ONE, "deviation=cnp_hidden_interval", "nic", SWITCH),
            (OVER, "router/deviation=latency_grows", "scheduler", ROUTER),
            ("router::delay-whatever-the-size", "deviation=latency_grows", "scheduler", ROUTER),
            ("router::delay-whatever-the-size", "pfc.refresh=x2", "pfc", ROUTER),
        ] {
            let why = format!(
                "`--mutate {mutation}`: no device that a case runs on has `{part}`\n   = want: {want}"
            );
            let told = told(case, mutation).expect("it is refused");
            assert!(told.starts_with(&why), "{told}");
        }
        assert_eq!(told("router::delay-whatever-the-size", "deviation=clock_fast"), None);
    }
}
