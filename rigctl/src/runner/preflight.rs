//! Everything that can be wrong with a case on its device, found before anything runs.

mod size;

use super::choose::choose;
use super::used_port::used;
use crate::executor::virtual_lab::speeds;
use rig_generator::Program;
use rig_lab::fault::Fault;
use rig_lab::{Curve, Declared, Lab, Profile, Wred};
use rig_oracle::measure;
use rig_oracle::trials::context::Context;
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::case::CaseAction;
use rig_testcases::{Case, Script};
use size::Size;

/// Every fault of the case on the device that it would run on; none when it would be skipped.
pub fn faults(lab: &Lab, only: Option<&str>, case: &Case) -> Vec<Fault> {
    choose(lab, only, case)
        .map_or_else(|_| Vec::new(), |(profile, reach)| on(lab, profile, &reach.case))
}

fn on(lab: &Lab, profile: &Profile, case: &Case) -> Vec<Fault> {
    let groups = match groups(case, &profile.declared) {
        Ok(groups) => groups,
        Err(bad) => {
            return vec![case.fault(
                "sweep",
                bad.to_string(),
                "a setting of the device and a value for it",
            )];
        }
    };
    let mut all = Vec::new();
    let mut size = Size::default();
    for group in groups {
        all.extend(crossed(case, &group.declared));
        all.extend(beyond(case, &group.declared));
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = match context.points() {
            Ok(points) => points,
            Err(name) => {
                let found = format!("`{name}` has no value on device {}", profile.name);
                all.push(case.fault(
                    "sweep",
                    found,
                    "a prediction that exists for this case and device",
                ));
                continue;
            }
        };
        let mut scripts = Vec::with_capacity(points.len());
        for point in &points {
            match context.script(point) {
                Err(fault) => all.push(*fault),
                Ok(script) => {
                    all.extend(senders(case, &context, &script));
                    scripts.push(script);
                }
            }
        }
        size.add(&context, &points, &scripts);
    }
    all.extend(size.faults(case, lab.transport.is_virtual()));
    // The same fault at every point of a sweep is one fault.
    all.dedup();
    all
}

/// Thresholds of early detection, cables and values of a NIC, that no device can hold to, once the case has set its own.
fn crossed(case: &Case, declared: &Declared) -> Vec<Fault> {
    let mut all: Vec<Fault> = Vec::new();
    if let Some(wred) = declared.switch().map(|switch| &switch.wred) {
        all.extend(wred.curves().into_iter().filter_map(|(path, curve)| {
            let (found, want) = Curve::crossed(curve.kmin, curve.kmax)?;
            Some(case.fault(&format!("dut.{path}"), found, &want))
        }));
        if wred.weight > Wred::MOST_WEIGHT {
            let want = format!("0, for no average, to {}", Wred::MOST_WEIGHT);
            all.push(case.fault("dut.wred.weight", format!("a weight of {}", wred.weight), &want));
        }
        if let Some((found, want)) = wred.steps_out_of_range() {
            all.push(case.fault("dut.wred.chance_steps", found, &want));
        }
        if let Some((found, want)) = wred.interval_out_of_range() {
            all.push(case.fault("dut.wred.average_interval", found, &want));
        }
        if let Some((found, want)) = wred.harddrop_out_of_place() {
            all.push(case.fault("dut.wred.harddrop", found, &want));
        }
    }
    let sized = declared.switch().and_then(|switch| switch.dynamic_buffer.out_of_range());
    all.extend(sized.map(|(path, found, want)| {
        case.fault(&format!("dut.dynamic_buffer.{path}"), found, &want)
    }));
    let ports = declared.switch().map(rig_lab::Switch::ports_out_of_range);
    all.extend(
        ports
            .into_iter()
            .flatten()
            .map(|(path, found, want)| case.fault(&format!("dut.{path}"), found, &want)),
    );
    all.extend(used(case, declared, true).map(|(path, found)| {
        case.fault(&format!("dut.{path}"), found, "a port that nothing of the case goes by")
    }));
    let beyond = declared.nics_out_of_range().into_iter();
    all.extend(beyond.map(|(path, found, want)| case.fault(&format!("dut.{path}"), found, &want)));
    all
}

/// What no device takes of MACsec, once the case has set its own, and step by step: a change that the device refuses would
/// leave the peers with another key than the device.
fn beyond(case: &Case, declared: &Declared) -> Vec<Fault> {
    let of = |key: &dyn Fn(&str) -> String, declared: &Declared| -> Vec<Fault> {
        let beyond = declared.switch().map(|switch| switch.macsec.out_of_range());
        let beyond = beyond.into_iter().flatten();
        beyond.map(|(path, found, want)| case.fault(&key(path), found, &want)).collect()
    };
    let mut all = of(&|path| format!("dut.{path}"), declared);
    let mut current = declared.clone();
    for (index, step) in case.steps.iter().enumerate() {
        let CaseAction::Configure(setting) = &step.what else { continue };
        let Ok(next) = current.with(setting) else { continue };
        let faults = of(&|_| format!("steps[{index}]"), &next);
        if faults.is_empty() {
            current = next;
        } else if setting.path.starts_with("macsec.") {
            all.extend(faults);
        }
    }
    all
}

/// What the ports cannot send, and storms that would have gaps by construction.
fn senders(case: &Case, context: &Context<'_>, script: &Script) -> Vec<Fault> {
    let program = match Program::of(script, &speeds(script, &context.group.declared)) {
        Ok(program) => program,
        Err(faults) => {
            let fault = |fault: &rig_generator::Impossible| {
                case.fault("", fault.to_string(), "a rate that the port can carry")
            };
            return faults.iter().map(fault).collect();
        }
    };
    if case.is_about_gaps() {
        return Vec::new();
    }
    let gap = |fault: &rig_generator::Impossible| {
        case.fault(
            "",
            fault.to_string(),
            "a refresh within the pause time, an own frame in flight included, or a case that expects storm-lapse",
        )
    };
    program.unholdable(script).iter().map(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use rig_lab::Setting;

    #[test]
    fn thresholds_that_cross_once_a_case_has_set_its_own_are_refused() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let dut = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("a device");
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.id.case == "curve-broadcom").expect("a case");
        assert!(crossed(case, &dut.declared).is_empty());
        let set = |declared: &Declared, path: &str, value: serde_json::Value| {
            let setting = Setting { path: path.to_owned(), value };
            declared.with(&setting).expect("it fits")
        };
        let declared = set(&dut.declared, "wred.kmin", "312001B".into());
        let declared = set(&declared, "wred.weight", 16.into());
        let declared = set(&declared, "wred.average_interval", "1ns".into());
        let faults = crossed(case, &declared);
        let found: Vec<&str> = faults.iter().map(|fault| fault.found.as_str()).collect();
        let average = "an average that is taken each 1ns";
        assert_eq!(found, ["a kmin of 312001B above a kmax of 312KB", "a weight of 16", average]);
        // The place is the line that the user wrote.
        assert!(faults[0].place.line > 1, "{}", faults[0]);
    }

    #[test]
    fn values_of_macsec_that_no_device_takes_are_refused_in_the_settings_and_in_the_steps() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let dut = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("a device");
        let mut cases = bundled::cases().iter();
        let mut case =
            cases.find(|case| case.id.case == "rekey-while-paused").expect("a case").clone();
        let declared = dut.declared.clone();
        assert!(beyond(&case, &declared).is_empty());
        for step in &mut case.steps {
            if let CaseAction::Configure(setting) = &mut step.what
                && setting.value == serde_json::json!(1)
            {
                setting.value = serde_json::json!(7);
            }
        }
        let found = |faults: &[Fault]| {
            let found = faults.iter().map(|fault| fault.found.clone());
            found.collect::<Vec<String>>()
        };
        let faults = beyond(&case, &declared);
        assert_eq!(found(&faults), ["the association 7"]);
        assert!(faults[0].place.path.contains("steps[2]"), "{}", faults[0]);
        let setting = Setting { path: "macsec.next_pn".to_owned(), value: 0.into() };
        let declared = declared.with(&setting).expect("it fits");
        case.steps.clear();
        let faults = beyond(&case, &declared);
        assert_eq!(found(&faults), ["a packet number of 0"]);
        assert_eq!(faults[0].want, "1 to 4294967295 with this cipher suite");
    }
}
