//! Everything that can be wrong with a case on its device, found before anything runs.

use super::choose::choose;
use super::points::{groups, points};
use super::reach;
use super::seed::Seed;
use super::session::Session;
use crate::executor::virtual_lab::speeds;
use rig_generator::Program;
use rig_lab::fault::Fault;
use rig_lab::{Lab, Profile};
use rig_testcases::{Case, Expect, Measure};

/// Every fault of the case on the device that it would run on; none when it would be skipped.
pub fn faults(lab: &Lab, only: Option<&str>, case: &Case) -> Vec<Fault> {
    let chosen =
        choose(lab, only, case).and_then(|profile| Ok((profile, reach::of(lab, profile, case)?)));
    chosen.map_or_else(|_| Vec::new(), |(profile, reach)| on(lab, profile, &reach.case))
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
    for group in groups {
        let session = Session::new(lab, profile, case, group, Seed::of_run(0));
        let points = match points(case, &session.values(), session.cadence()) {
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
        for point in &points {
            match session.script(point) {
                Err(fault) => all.push(*fault),
                Ok(script) => all.extend(senders(case, &session, &script)),
            }
        }
    }
    // The same fault at every point of a sweep is one fault.
    all.dedup();
    all
}

/// What the ports cannot send, and storms that would have gaps by construction.
fn senders(case: &Case, session: &Session<'_>, script: &rig_testcases::Script) -> Vec<Fault> {
    let program = match Program::of(script, &speeds(script, &session.group.declared)) {
        Ok(program) => program,
        Err(faults) => {
            let fault = |fault: &rig_generator::Impossible| {
                case.fault("", fault.to_string(), "a rate that the port can carry")
            };
            return faults.iter().map(fault).collect();
        }
    };
    let about_gaps = matches!(case.expect, Expect::Inconclusive { .. })
        || case.measure.iter().any(|measure| matches!(measure, Measure::Coverage { .. }));
    if about_gaps {
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
