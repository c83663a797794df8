//! What of a case can be done in a lab. Where nobody can configure the device, ask it or hear it, a case runs as far as what
//! the device declares is what the case needs, and as far as the wire alone shows what is measured.

use super::misfit;
use rig_dut::control::{Ability, Order};
use rig_dut::{capabilities, lacking};
use rig_lab::{Action, ControlName, Kind, Lab, Profile, Setting, Switch, Transport, settings};
use rig_oracle::measure::{self, Needs};
use rig_testcases::case::CaseAction;
use rig_testcases::{Case, Measure, Sweep};
use rig_units::Dur;

/// A case as it can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Applicability {
    /// The case without what cannot be had.
    pub case: Case,
    /// What was left out, each with the reason.
    pub left_out: Vec<String>,
}

/// What of `case` can be done on the device of `profile`, which suits it.
///
/// # Errors
/// Why nothing can: the reason of a skip.
pub fn of(lab: &Lab, profile: &Profile, case: &Case) -> Result<Applicability, String> {
    let bound = lab.transport.bound();
    if let Some(precision) = case.precision.filter(|precision| *precision < bound) {
        return Err(format!(
            "it needs timestamps within {precision}, and this lab's are within {bound}"
        ));
    }
    if let Some(slot) = drained(profile, case).filter(|slot| *slot <= bound) {
        return Err(format!(
            "what it counts is drained meanwhile: it needs timestamps within a frame's {slot}, and this lab's are within {bound}"
        ));
    }
    if let Some(why) = misfit::of(lab, profile, case) {
        return Err(why);
    }
    if lab.transport != Transport::Virtual {
        for sweep in &case.sweep {
            let what = match sweep {
                Sweep::Cable { .. } => "cables of several lengths",
                Sweep::Speed { .. } => "ports of several speeds",
                _ => continue,
            };
            return Err(format!("it takes {what}, which only virtual ones have"));
        }
    }
    if let Transport::Interfaces(wire) = &lab.transport
        && wire.dpdk.is_some()
        && cuts(case)
    {
        return Err("it takes a link down, which the rig cannot do with a port of DPDK".to_owned());
    }
    steered(lab, profile, case)
}

/// The time of a frame on a port that empties a queue while several senders fill it: none may be off by as much, or another
/// number of frames is held than was sent.
fn drained(profile: &Profile, case: &Case) -> Option<Dur> {
    let mut drained = case.measure.iter().map(|one| (measure::of(one).drained)(one));
    let names = drained.find(|all| !all.is_empty())?;
    let sizes = case.streams.iter().filter(|(name, _)| names.contains(name));
    let speed = profile.declared.port_speed(0)?;
    sizes.map(|(_, stream)| speed.slot(stream.size)).min()
}

/// What of it the device's control does.
fn steered(lab: &Lab, profile: &Profile, case: &Case) -> Result<Applicability, String> {
    let control = lab.control(profile);
    if let Some(lack) = lacking(control, Ability::Snapshot) {
        return Err(format!("{lack}: nobody knows what the device is configured to"));
    }
    let can = capabilities(control);
    let mut case = case.clone();
    let mut left_out = Vec::new();
    if !can.offers(Ability::Configure) {
        unconfigured(profile, &mut case, &mut left_out)?;
    }
    if let Some(lack) = orders(&case).find_map(|order| lacking(control, order.needs())) {
        return Err(format!("a step of it asks for more: {lack}"));
    }
    let never = |switch: &Switch| switch.pfcwd.restoration_time.is_none();
    let restores = profile.rule.is_none() || !profile.declared.switch().is_some_and(never);
    if !case.storms.is_empty() && !restores && !can.offers(Ability::Boot) {
        return Err("it never restores a stormed queue, and nothing here can boot it".to_owned());
    }
    case.measure.retain(|measure| {
        let why = untold(lab, profile, measure).or_else(|| unseen(control, profile, measure));
        left_out.extend(why.iter().map(|why| format!("{}: {why}", measure.name())));
        why.is_none()
    });
    if case.measure.is_empty() && !left_out.is_empty() {
        return Err(format!("nothing of it can be measured: {}", left_out.join("; ")));
    }
    Ok(Applicability { case, left_out })
}

/// Leaves out what the device would have to be configured for.
fn unconfigured(
    profile: &Profile,
    case: &mut Case,
    left_out: &mut Vec<String>,
) -> Result<(), String> {
    let lacks = lacks(profile, case);
    if !lacks.is_empty() {
        return Err(format!("it would have to be configured: {}", lacks.join(", ")));
    }
    if let Some(path) = configures(case) {
        return Err(format!("the case changes {path} on the way, and nothing here can"));
    }
    // Points of a sweep over settings that the device is not at.
    for sweep in &mut case.sweep {
        let Sweep::Setting { path, values } = sweep else { continue };
        values.retain(|value| {
            let setting = Setting { path: path.clone(), value: value.clone() };
            let lack = lack(profile, &setting);
            left_out
                .extend(lack.as_ref().map(|lack| format!("{lack}: nothing here configures it")));
            lack.is_none()
        });
    }
    let swept = case.sweep.iter().any(|sweep| matches!(sweep, Sweep::Setting { .. }));
    case.sweep.retain(|sweep| !matches!(sweep, Sweep::Setting { values, .. } if values.is_empty()));
    if swept && !case.sweep.iter().any(|sweep| matches!(sweep, Sweep::Setting { .. })) {
        let points: Vec<&str> =
            left_out.iter().filter_map(|point| point.split_once(": ")).map(|(at, _)| at).collect();
        return Err(format!("it would have to be configured: {}", points.join(", ")));
    }
    Ok(())
}

/// Settings of the case, those that it sweeps left out, that the device does not declare.
fn lacks(profile: &Profile, case: &Case) -> Vec<String> {
    let swept = |path: &str| {
        case.sweep
            .iter()
            .any(|sweep| matches!(sweep, Sweep::Setting { path: other, .. } if other == path))
    };
    let once = case
        .settings
        .iter()
        .filter(|setting| settings::configurable(&setting.path) && !swept(&setting.path));
    once.filter_map(|setting| lack(profile, setting)).collect()
}

/// What the device declares in place of `setting`; `None` where it is that.
fn lack(profile: &Profile, setting: &Setting) -> Option<String> {
    let Setting { path, value } = setting;
    let show = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "never".to_owned(),
        other => other.to_string(),
    };
    if profile.declared.satisfies(setting) == Ok(true) {
        return None;
    }
    let has = profile.declared.get(path).map_or_else(|| "never".to_owned(), |has| show(&has));
    Some(format!("{path}={} (it declares {has})", show(value)))
}

/// A setting that the case changes while it runs.
fn configures(case: &Case) -> Option<&str> {
    case.steps.iter().find_map(|step| match &step.what {
        CaseAction::Configure(setting) => Some(setting.path.as_str()),
        _ => None,
    })
}

/// What it asks of the device on the way.
fn orders(case: &Case) -> impl Iterator<Item = Order> {
    case.steps.iter().filter_map(|step| match step.what {
        CaseAction::Device(verb) => Some(Order::from(verb)),
        _ => None,
    })
}

/// Whether a link is taken down on the way.
fn cuts(case: &Case) -> bool {
    case.steps.iter().any(|step| matches!(step.what, CaseAction::LinkDown { .. }))
}

/// Why what is measured is not held against several devices; `None` where it is, or they are one.
fn untold(lab: &Lab, profile: &Profile, measure: &Measure) -> Option<String> {
    let several = profile.kind == Kind::System && !(measure::of(measure).crosses)(measure);
    several.then(|| {
        let name = &profile.name;
        let alone = lab.alone(profile).map(|one| one.name.as_str()).collect::<Vec<_>>();
        let alone = match alone.as_slice() {
            [] => String::new(),
            names => format!(": {} is one", names.join(" or ")),
        };
        format!("it follows from the configuration of one device, and {name} is several{alone}")
    })
}

/// Why neither the wire nor the control shows what is measured; `None` where one does.
fn unseen(control: ControlName, profile: &Profile, measure: &Measure) -> Option<String> {
    let alerts = |switch: &Switch| switch.pfcwd.action == Action::Alert;
    let silent = profile.declared.switch().is_some_and(alerts);
    let (ability, before) = match (measure::of(measure).needs)(measure) {
        Needs::Counters => (Ability::Counters, ""),
        Needs::Settings => (Ability::Configure, ""),
        Needs::Events if silent => {
            (Ability::Events, "the action `alert` leaves no trace on the wire, and ")
        }
        Needs::Events | Needs::Wire => return None,
    };
    let lack = lacking(control, ability)?;
    Some(format!("{before}{lack}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::{Backend, DpdkWire, Interfaces};
    use rig_units::Dur;

    fn lab(adapt: impl FnOnce(&mut Profile)) -> Lab {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.truncate(1);
        adapt(&mut lab.duts[0]);
        lab.transport = Transport::Interfaces(Interfaces {
            interfaces: (1..=4).map(|n| format!("eth{n}")).collect(),
            backend: Backend::AfXdp,
            dpdk: None,
            speed: None,
            bound: Dur::us(10),
            budget: Dur::s(60),
        });
        lab
    }

    fn set(dut: &mut Profile, path: &str, value: serde_json::Value) {
        let setting = Setting { path: path.to_owned(), value };
        dut.declared = dut.declared.with(&setting).expect("it fits");
    }

    fn all(lab: &Lab) -> Vec<(String, Result<Applicability, String>)> {
        let suites = rig_testcases::read::bundled(&measure::Registry).expect("the catalogue");
        let cases = suites.into_iter().flat_map(|suite| suite.cases);
        let cases = cases.filter(|case| case.suits(&lab.duts[0]).is_ok());
        cases.map(|case| (case.id.to_string(), of(lab, &lab.duts[0], &case))).collect()
    }

    #[test]
    fn a_case_that_takes_a_link_down_is_skipped_over_dpdk() {
        let mut lab = lab(|_| {});
        let Transport::Interfaces(wire) = &mut lab.transport else { panic!("it is at interfaces") };
        wire.backend = Backend::Dpdk;
        wire.dpdk = Some(DpdkWire { eal: Vec::new(), shim: None });
        let all = all(&lab).into_iter();
        let dpdk = all.filter(|(_, reach)| reach.as_ref().is_err_and(|why| why.contains("DPDK")));
        assert_eq!(dpdk.map(|(id, _)| id).collect::<Vec<_>>(), ["pfcwd::port-toggle-broadcom"]);
    }

    fn told(lab: &Lab) -> String {
        let line = |(id, reach): (String, Result<Applicability, String>)| match reach {
            Err(why) => format!("{id}\n    skipped: {why}\n"),
            Ok(reach) if reach.left_out.is_empty() => format!("{id}\n"),
            Ok(reach) => {
                format!("{id}\n    left out: {}\n", reach.left_out.join("\n    left out: "))
            }
        };
        all(lab).into_iter().map(line).collect()
    }

    #[test]
    fn what_a_device_without_a_control_channel_can_be_asked() {
        insta::assert_snapshot!(told(&lab(|_| {})));
    }

    #[test]
    fn a_silent_action_is_not_looked_for_on_the_wire() {
        insta::assert_snapshot!(told(&lab(|dut| set(dut, "pfcwd.action", "alert".into()))));
    }

    #[test]
    fn a_queue_that_stays_stormed_is_not_stormed() {
        let lab = lab(|dut| set(dut, "pfcwd.restoration_time", serde_json::Value::Null));
        for (id, reach) in all(&lab) {
            let Ok(reach) = reach else { continue };
            assert!(reach.case.storms.is_empty(), "{id}");
        }
    }

    /// What of a case that measures these can be done on the system of this lab.
    fn on_a_system(lab: &Lab, measures: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "about: a\ndevice: system\ncases:\n  one:\n    why: a\n    source: [a]\n    streams: {{load: {{from: p1, to: p3, class: 3, kind: udp, size: 64B, every: 1ms, count: 9}}}}\n    taps: {{p3: all}}\n    trials: 1\n    steps: [{{at: 0ms, start: load}}]\n    length: 9ms\n    measure: [{measures}]\n"
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let whole = lab.duts.iter().find(|dut| dut.kind == Kind::System).expect("a system");
        assert_eq!(case.suits(whole), Ok(()));
        of(lab, whole, &case).map(|reach| reach.left_out)
    }

    const OF_ONE: &str = "ecn.marks: {stream: load, expect: none}";

    #[test]
    fn what_follows_from_one_device_is_left_out_of_a_case_on_several() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let on_a_system = |measures: &str| on_a_system(&lab, measures);
        let loss = "loss: {stream: load, expect: none}";
        assert_eq!(on_a_system(loss), Ok(Vec::new()));
        let why = "ecn.marks: it follows from the configuration of one device, and two-in-a-row is several: two-in-a-row-near or two-in-a-row-far is one";
        assert_eq!(on_a_system(&format!("{OF_ONE}, {loss}")), Ok(vec![why.to_owned()]));
        assert_eq!(on_a_system(OF_ONE), Err(format!("nothing of it can be measured: {why}")));
        let predicted = on_a_system("loss: {stream: load}").expect_err("nothing is left");
        assert!(predicted.contains("loss: it follows"), "{predicted}");
    }

    #[test]
    fn what_is_left_out_of_a_case_on_a_system_names_the_devices_that_the_lab_has() {
        let told = |keep: fn(&Profile) -> bool| {
            let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
            lab.duts.retain(keep);
            on_a_system(&lab, OF_ONE).expect_err("nothing is left")
        };
        // A device is in no lab by itself where the rig is not cabled to its first ports.
        let near = told(|dut| dut.name != "two-in-a-row-far");
        assert!(near.ends_with("two-in-a-row is several: two-in-a-row-near is one"), "{near}");
        let none = told(|dut| dut.kind == Kind::System);
        assert!(none.ends_with("and two-in-a-row is several"), "{none}");
    }

    #[test]
    fn an_emulated_device_is_asked_everything() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let left_out = |(id, reach): (String, Result<Applicability, String>)| {
            assert_eq!(reach.map(|reach| reach.left_out), Ok(Vec::new()), "{id}");
        };
        all(&lab).into_iter().for_each(left_out);
    }
}
