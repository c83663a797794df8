//! Which mutations a run can feel: nothing is said to be mutated that no device under test has.

use super::choose::choose;
use crate::mutation::{self, Typed};
use rig_lab::{Declared, Kind, Lab, Mutation, Profile};
use rig_oracle::trials::points::groups;
use rig_testcases::Case;
use rig_testcases::case::CaseAction;

/// Those of the mutations, as typed, that a device has on which a case runs; and of each other one why it changes nothing.
pub fn split(
    lab: &Lab,
    only: Option<&str>,
    cases: &[&Case],
    texts: &[String],
) -> (Vec<String>, Vec<String>) {
    let chosen = || {
        let chosen = |case: &&Case| choose(lab, only, case).ok();
        cases.iter().filter_map(chosen).map(|(profile, reach)| (profile, reach.case))
    };
    let (mut felt, mut idle) = (Vec::new(), Vec::new());
    for text in texts {
        let Ok(typed) = mutation::parse(text) else { continue };
        // The nearest that any case came to it.
        match chosen().map(|(profile, case)| reach(profile, &case, &typed)).max() {
            Some(Reach::Felt) => felt.push(text.clone()),
            Some(Reach::Unchanged) => {
                let path = typed.path();
                idle.push(format!("`--mutate {text}` changes nothing: `{path}` is unset, or it is that, where a case runs"));
            }
            Some(Reach::OtherKind) => {
                let part = typed.path().split('.').next().unwrap_or_default();
                idle.push(format!(
                    "`--mutate {text}` changes nothing: no device that a case runs on has `{part}`"
                ));
            }
            Some(Reach::Elsewhere) | None => {
                let where_to = match &typed.device {
                    Some(device) => format!("on a system with a device `{device}`"),
                    None => format!("in lab {}", lab.name),
                };
                idle.push(format!("`--mutate {text}` changes nothing: no case runs {where_to}"));
            }
        }
    }
    (felt, idle)
}

/// How near a mutation comes to a case, the nearest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// No device of that name is on its device under test.
    Elsewhere,
    /// Its device has no such part.
    OtherKind,
    /// Whatever the case configures, it is the same with the mutation.
    Unchanged,
    Felt,
}

fn reach(profile: &Profile, case: &Case, typed: &Typed) -> Reach {
    let devices = devices(profile, typed.device.as_deref());
    devices.iter().map(|device| on(device, case, typed)).max().unwrap_or(Reach::Elsewhere)
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

fn on(device: &Profile, case: &Case, typed: &Typed) -> Reach {
    if !device.kind.has(typed.path().split('.').next().unwrap_or_default()) {
        return Reach::OtherKind;
    }
    let Mutation::Override { path, value } = &typed.mutation else { return Reach::Felt };
    let steps = case.steps.iter().filter_map(|step| match &step.what {
        CaseAction::Configure(setting) => Some(setting),
        _ => None,
    });
    if steps.chain(&case.configure).any(|setting| setting.path == *path) {
        return Reach::Felt;
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
    if changed { Reach::Felt } else { Reach::Unchanged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_oracle::measure::Registry;

    /// What is told of a mutation in a run of a case; `None` where it is said to be in effect.
    fn told(lab: &Lab, case: &Case, mutation: &str) -> Option<String> {
        let (mut lab, texts) = (lab.clone(), [mutation.to_owned()]);
        mutation::apply(&mut lab, &texts).expect(mutation);
        let (felt, mut idle) = split(&lab, None, &[case], &texts);
        assert_eq!(felt.len() + idle.len(), 1);
        idle.pop()
    }

    #[test]
    fn a_mutation_is_announced_where_a_device_under_test_has_it() {
        let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let told = |case: &str, mutation: &str| {
            let mut cases = suites.iter().flat_map(|suite| &suite.cases);
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
            (ONE, "nic.np.interval=x2", "no device that a case runs on has `nic`"),
            (ONE, "deviation=cnp_hidden_interval", "no device that a case runs on has `nic`"),
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
    }
}
