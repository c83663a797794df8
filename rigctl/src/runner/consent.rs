//! What a case does to a live switch that others on it may feel: nothing of it is done unless the lab says that it may be.

use super::applicability;
use rig_lab::{Lab, Profile};
use rig_testcases::Case;
use rig_testcases::case::{CaseAction, CaseStep};

/// What of the case the lab has to allow on this device, and does not, in words.
pub(super) fn asks(lab: &Lab, profile: &Profile, case: &Case) -> Option<&'static str> {
    if lab.is_disposable(profile) {
        return None;
    }
    let pauses = |step: &CaseStep| matches!(step.what, CaseAction::Pfc { .. });
    let cuts = |step: &CaseStep| matches!(step.what, CaseAction::LinkDown { .. });
    let drops = |path: &str| path == "pfcwd.big_red_switch";
    // Of the whole switch, whatever its ports are cabled to.
    let set = case.settings.iter().any(|one| drops(&one.path) && one.value != false);
    // Its own end of a link, and with it that of whoever is cabled there.
    let shuts = |path: &str| ["shut_port", "dynamic_buffer.autoneg_port"].contains(&path);
    let shut = case.settings.iter().any(|one| shuts(&one.path) && !one.value.is_null());
    if set || case.changed().any(|path| drops(path)) {
        Some("it has every guarded queue dropped")
    } else if !case.storms.is_empty() || case.steps.iter().any(pauses) {
        Some("it pauses ports")
    } else if case.steps.iter().any(cuts) {
        Some("it takes a link down")
    } else if shut || case.changed().any(|path| shuts(path)) {
        Some("it shuts a port of the switch, or has one negotiate")
    } else if applicability::reboots(case) {
        Some("it reboots the switch")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use rig_lab::{Backend, ControlName, Interfaces, Transport};
    use rig_units::{Dur, Ppm};

    /// How many of the catalogue's cases for a switch have which answer, on one with SONiC at interfaces.
    fn told(disposable: bool, device: &str) -> (usize, Vec<String>) {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.retain(|dut| dut.name == device);
        let name = lab.duts[0].name.clone();
        lab.transport = Transport::Interfaces(Interfaces {
            interfaces: (1..=4).map(|n| format!("eth{n}")).collect(),
            backend: Backend::AfXdp,
            dpdk: None,
            speed: None,
            clock: Ppm(0),
            bound: Dur::us(10),
            budget: Dur::s(60),
        });
        lab.controls.insert(name.clone(), ControlName::Sonic);
        lab.disposable.extend(disposable.then_some(name));
        let cases = bundled::cases().iter();
        let suited: Vec<&Case> = cases.filter(|case| case.suits(&lab.duts[0]).is_ok()).collect();
        let of = |case: &&Case| applicability::of(&lab, &lab.duts[0], case);
        let run = suited.iter().filter_map(|case| of(case).ok());
        let harms = run.filter(|reach| {
            let case = &reach.case;
            let acts = |step: &CaseStep| {
                matches!(step.what, CaseAction::Pfc { .. } | CaseAction::LinkDown { .. })
            };
            !case.storms.is_empty() || case.steps.iter().any(acts)
        });
        let refused = suited.iter().filter_map(|case| Some(of(case).err()?.why));
        let mut refused: Vec<String> = refused.filter(|why| why.contains("disposable")).collect();
        refused.sort();
        refused.dedup();
        (harms.count(), refused)
    }

    #[test]
    fn a_live_switch_takes_no_storm_unless_the_lab_says_so() {
        let (harms, refused) = told(false, "broadcom");
        assert_eq!(harms, 0);
        let does = [
            "it has every guarded queue dropped",
            "it pauses ports",
            "it reboots the switch",
            "it takes a link down",
        ];
        let why = " on a live switch, and the lab does not say of broadcom that it may (disposable: true)";
        assert_eq!(refused, does.map(|does| format!("{does}{why}")));
        let (harms, refused) = told(true, "broadcom");
        assert!(harms > 20 && refused.is_empty(), "{harms} {refused:?}");
        let shuts = |disposable| {
            let (_, refused) = told(disposable, "mellanox-dynamic");
            refused.iter().any(|why| {
                why.starts_with(
                    "it shuts a port of the switch, or has one negotiate on a live switch",
                )
            })
        };
        assert!(shuts(false) && !shuts(true));
    }
}
