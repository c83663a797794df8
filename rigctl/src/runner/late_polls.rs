//! Cases of a watchdog on a device that may leave polls out. Storms last as long as one that leaves none out needs to act on them, and what follows
//! begins when that has let go: where several times as many intervals may pass, all that happens takes as many times as long.

use rig_lab::{Profile, Switch};
use rig_testcases::Case;
use rig_units::{Bytes, Dur, PortSpeed};

/// The case as it is run there; what is otherwise is added to `left_out`.
pub(super) fn of(profile: &Profile, case: Case, left_out: &mut Vec<String>) -> Case {
    let skips = |switch: &Switch| switch.pfcwd.skipped_polls;
    let Some(skips) = profile.declared.switch().and_then(skips).filter(|&skips| skips > 0) else {
        return case;
    };
    let own = case.settings.iter().any(|setting| setting.path == "pfcwd.skipped_polls");
    if own || !case.measure.iter().any(|one| one.entry.guarded) {
        return case;
    }
    let Ok(dut_ports) = case.dut_ports(&profile.declared) else { return case };
    let ports = case.rig_ports();
    let slot = |port: &str, size: Bytes| -> Dur {
        let at = ports.iter().position(|name| name == port).and_then(|at| dut_ports.get(at));
        let speed = at.and_then(|port| profile.declared.port_speed(*port));
        speed.unwrap_or(PortSpeed::G100).slot(size)
    };
    let times = u64::from(skips) + 1;
    left_out.push(format!(
        "times for a watchdog that leaves no poll out: all are {times} times as long (pfcwd.skipped_polls)"
    ));
    case.stretched((times, 1), (1, 1), slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Setting;
    use rig_oracle::measure::Registry;
    use rig_testcases::Amount;
    use rig_testcases::case::CaseAction;
    use serde_json::json;

    /// How long the first storm of a bundled case lasts on a switch that may leave so many polls out, and what is said of that.
    fn lasts(id: &str, skips: u32) -> (Dur, String) {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut profile = lab.duts.into_iter().find(|dut| dut.name == "broadcom").expect("one");
        let setting = Setting { path: "pfcwd.skipped_polls".to_owned(), value: json!(skips) };
        profile.declared = profile.declared.with(&setting).expect("a number");
        let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
        let mut cases = suites.into_iter().flat_map(|suite| suite.cases);
        let case = cases.find(|case| case.id.to_string() == id).expect("a case");
        let mut left_out = Vec::new();
        let case = of(&profile, case, &mut left_out);
        let lasting = case.steps.iter().find_map(|step| match &step.what {
            CaseAction::Start { names, lasting: Some(Amount::Exactly(lasts)) } => {
                names.iter().any(|name| case.storms.contains_key(name)).then_some(*lasts)
            }
            _ => None,
        });
        (lasting.expect("a storm"), left_out.join("; "))
    }

    #[test]
    fn a_storm_lasts_as_many_times_longer_as_polls_may_be_left_out_and_one_more() {
        let storm = "pfcwd::shares-after-a-storm";
        assert_eq!(lasts(storm, 0), (Dur::ms(400), String::new()));
        for skips in [1, 2] {
            let (long, said) = lasts(storm, skips);
            assert_eq!(long, Dur::ms(400 * (u64::from(skips) + 1)));
            assert!(said.contains(&format!("all are {} times as long", skips + 1)), "{said}");
        }
    }
}
