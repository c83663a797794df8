//! What of a case can be done in a lab. Where nobody can configure the device, ask it or hear it, a case runs as far as what
//! the device declares is what the case needs, and as far as the wire alone shows what is measured.

pub use super::unfit::{Missing, Unfit};
use super::{
    as_found, between, classes, consent, far, fits, in_bridge, in_guest, misfit, slow_ports,
    stamped, uneven,
};
use rig_dut::control::{Ability, Order};
use rig_dut::{can_set, capabilities, lacking};
use rig_lab::{
    Action, ConfigPath, ControlName, Kind, Lab, Profile, RedisAt, Switch, Transport, settings,
};
use rig_oracle::measure::{self, Needs, Stamps};
use rig_testcases::case::{CaseAction, CaseStep};
use rig_testcases::{Amount, Case, DeviceVerb, Measure, Sweep, Wanted};

/// A case as it can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Applicability {
    /// The case without what cannot be had.
    pub case: Case,
    /// What was left out, each with the reason.
    pub left_out: Vec<String>,
    /// What timestamps have to be for it to show anything; `None`: whatever they are.
    pub stamps: Option<Stamps>,
}

/// What of `case` can be done on the device of `profile`, which suits it.
///
/// # Errors
/// Why nothing can.
pub fn of(lab: &Lab, profile: &Profile, case: &Case) -> Result<Applicability, Unfit> {
    let mut left_out = Vec::new();
    let case = &case.of_its_classes(&profile.declared);
    let case = &*uneven::of(profile, case, &mut left_out);
    let case = &*fits::of(profile, case, &mut left_out)?;
    let case = &*classes::of(profile, case, &mut left_out)?;
    if let Some(why) = misfit::of(lab, profile, case) {
        return Err(Missing::Lab.so(why));
    }
    if let Transport::Interfaces(wire) = &lab.transport
        && wire.dpdk.is_some()
        && cuts(case)
    {
        return Err(
            Missing::Lab.so("it takes a link down, which the rig cannot do with a port of DPDK")
        );
    }
    if let Some(does) = consent::asks(lab, profile, case) {
        let name = &profile.name;
        return Err(Missing::Lab.so(format!(
            "{does} on a live switch, and the lab does not say of {name} that it may (disposable: true)"
        )));
    }
    steered(lab, profile, case, left_out)
}

/// What of it the device's control does.
fn steered(
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    mut left_out: Vec<String>,
) -> Result<Applicability, Unfit> {
    let control = lab.control(profile);
    if let Some(lack) = lacking(control, Ability::Snapshot) {
        let why = format!("{lack}: nobody knows what the device is configured to");
        return Err(Missing::Control.so(why));
    }
    let can = capabilities(control);
    let mut case = case.clone();
    if !lab.transport.is_virtual() {
        case.sweep.retain(|sweep| {
            let what = match sweep {
                Sweep::Cable { .. } => "cables of other lengths",
                Sweep::Speed { .. } => "ports of other speeds",
                _ => return true,
            };
            left_out.push(format!("{what}, which only virtual ones have"));
            false
        });
    }
    if let (Some(budget), Some(Amount::Exactly(length))) = (lab.transport.budget(), &case.length)
        && *length > budget
    {
        return Err(Missing::Lab.so(format!(
            "a trial of it lasts {length} by the clock, and the budget of the lab is {budget}"
        )));
    }
    case = between::of(lab, profile, case, &mut left_out)?;
    if !lab.transport.is_virtual() && case.flows.values().any(|flow| flow.app.is_some()) {
        return Err(Missing::Lab.so(
            "its messages are steps of an application, which the rig runs above NICs in virtual time alone",
        ));
    }
    if let Transport::Guests(wire) = &lab.transport {
        case = match profile.kind {
            Kind::Switch => in_bridge::of(profile, &case, &mut left_out)?,
            _ => in_guest::of(wire.into(), profile, &case, &mut left_out)?,
        };
    }
    if let Transport::Server(wire) = &lab.transport {
        case = in_guest::of(wire.into(), profile, &case, &mut left_out)?;
    }
    if lab.transport.is_virtual() && can.offers(Ability::Configure) {
        case = far::of(lab, profile, case, &mut left_out);
    }
    let sets = |path: &str| can.offers(Ability::Configure) && can_set(control, path);
    // What a control does not set may be as it is found, as where none sets anything.
    if !can.offers(Ability::Configure) || unset(control, profile, &case).is_some() {
        case = as_found::of(lab, profile, (&case, &sets), &mut left_out)?;
    }
    case = fits::paced(profile, case, &mut left_out)?;
    case = slow_ports::of(lab, profile, case, &mut left_out)?;
    if let Some(path) = unset(control, profile, &case) {
        let why =
            format!("it would have to be configured: {path}, and this control does not set that");
        return Err(Missing::Control.so(why));
    }
    if let Some(way) = front_door(&case).filter(|_| is_behind_redis_alone(lab, profile)) {
        let why = match way {
            ConfigPath::Cli => {
                "it is about what SONiC's commands refuse, which are typed over ssh, and the lab reaches its redis by another way"
            }
            _ => {
                "it is about what the YANG model refuses, which is asked over ssh, and the lab reaches its redis by another way"
            }
        };
        return Err(Missing::Lab.so(why));
    }
    if let Some(lack) = orders(&case).find_map(|order| lacking(control, order.needs())) {
        return Err(Missing::Control.so(format!("a step of it asks for more: {lack}")));
    }
    if unreached(lab, profile, &case) {
        let why = "a step of it reboots the switch, which is ordered over ssh, and the lab reaches its redis by another way";
        return Err(Missing::Lab.so(why));
    }
    let never = |switch: &Switch| switch.pfcwd.restoration_time.is_none();
    let restores = profile.rule.is_none() || !profile.declared.switch().is_some_and(never);
    if let Some(setting) = undeclared(profile, &case) {
        let why = format!("it does not say how long what a step asks of it takes: {setting}");
        return Err(Missing::Lab.so(why));
    }
    if !case.storms.is_empty() && !restores && !can.offers(Ability::Boot) {
        let why = "it never restores a stormed queue, and nothing here can boot it";
        return Err(Missing::Control.so(why));
    }
    let whole = case.clone();
    let asked = core::mem::take(&mut case.measure);
    let told = asked.into_iter().filter(|measure| {
        let why = untold(lab, profile, (&case, measure));
        let why = why.or_else(|| unseen((lab, control), profile, measure));
        let why = why.or_else(|| misfit::unpromised(lab, profile, &whole, measure));
        let why = why.or_else(|| misfit::limited(lab, profile, &whole, measure));
        left_out.extend(why.iter().map(|why| format!("{}: {why}", measure.name())));
        why.is_none()
    });
    case.measure = told.collect();
    if case.measure.is_empty() && !left_out.is_empty() {
        let why = format!("nothing of it can be measured: {}", left_out.join("; "));
        return Err(Missing::Control.so(why));
    }
    if let Some(why) = of_nothing(lab, profile, &whole, &case) {
        return Err(Missing::Lab.so(why));
    }
    let (case, stamps) = stamped::of(lab, profile, case, &mut left_out)?;
    Ok(Applicability { case, left_out, stamps })
}

/// Why what is `left` of a case shows nothing: something of it nothing promises, and all else is that something does not happen, which holds of a
/// device on which nothing does.
fn of_nothing(lab: &Lab, profile: &Profile, whole: &Case, left: &Case) -> Option<String> {
    if !left.measure.iter().all(|one| one.wanted("expect") == Wanted::None) {
        return None;
    }
    whole.measure.iter().find_map(|one| {
        let why = misfit::unpromised(lab, profile, whole, one)?;
        Some(format!("{}: {why}", one.name()))
    })
}

/// A setting that the case needs otherwise than the device declares it, and that its control cannot set.
fn unset(control: ControlName, profile: &Profile, case: &Case) -> Option<String> {
    let lacks = |path: &String| settings::configurable(path) && !can_set(control, path);
    let declared = &profile.declared;
    let once = case.settings.iter().filter(|one| declared.satisfies(one) != Ok(true));
    let all = once.map(|one| &one.path).chain(case.changed());
    all.filter(|path| lacks(path)).min().cloned()
}

/// By which of a switch's own ways it tries settings, where it is about one: who writes to the database itself meets none of them.
pub(super) fn front_door(case: &Case) -> Option<ConfigPath> {
    if case.configure.is_empty() {
        return None;
    }
    let mut settings = case.settings.iter();
    let way = settings.find(|one| one.path == "pfcwd.config_path")?.value.as_str()?;
    [(ConfigPath::Yang, "yang"), (ConfigPath::Cli, "cli")]
        .into_iter()
        .find_map(|(own, word)| (word == way).then_some(own))
}

/// What it asks of the device on the way.
fn orders(case: &Case) -> impl Iterator<Item = Order> {
    case.steps.iter().filter_map(|step| match step.what {
        CaseAction::Device(verb) => Some(Order::from(verb)),
        _ => None,
    })
}

/// Whether it reboots a switch with SONiC to which there is no `ssh`: it is SONiC's own commands that do that. A stand-in that the rig has
/// made hears of it without them.
fn unreached(lab: &Lab, profile: &Profile, case: &Case) -> bool {
    let is_own = !lab.redis.contains_key(&profile.name);
    !is_own && is_behind_redis_alone(lab, profile) && reboots(case)
}

/// Whether it is a switch with SONiC of which no command can be run.
fn is_behind_redis_alone(lab: &Lab, profile: &Profile) -> bool {
    let by_ssh = matches!(lab.redis.get(&profile.name), Some(RedisAt::Ssh { .. }));
    lab.control(profile) == ControlName::Sonic && !by_ssh
}

/// Whether it reboots the device.
pub(super) fn reboots(case: &Case) -> bool {
    let is = |step: &CaseStep| matches!(step.what, CaseAction::Device(DeviceVerb::Reboot(_)));
    case.steps.iter().any(is)
}

/// What it would have to say of how long something takes that a step asks of it, and does not.
fn undeclared(profile: &Profile, case: &Case) -> Option<&'static str> {
    let lasts = |verb: DeviceVerb| verb.row().lasts;
    let asked = case.steps.iter().filter_map(|step| match step.what {
        CaseAction::Device(verb) => lasts(verb),
        _ => None,
    });
    asked.into_iter().find(|setting: &&str| profile.declared.get(setting).is_none())
}

/// Whether a link is taken down on the way.
fn cuts(case: &Case) -> bool {
    case.steps.iter().any(|step| matches!(step.what, CaseAction::LinkDown { .. }))
}

/// Why what is measured is not held against several devices; `None` where it is, or they are one.
fn untold(lab: &Lab, profile: &Profile, (case, measure): (&Case, &Measure)) -> Option<String> {
    let (name, over) = (&profile.name, (measure::of(measure).crosses)(measure, case));
    if let Some((between, _)) =
        profile.approaches().find(|(device, _)| !over.contains(&device.kind))
    {
        let (kind, between) = (between.kind.called(), &between.name);
        return Some(format!(
            "it is not told over {kind}, and {name} stands behind one: {between}"
        ));
    }
    if profile.kind != Kind::System {
        return None;
    }
    // A NIC stands at the end of a way, and says nothing unless it is asked.
    let mut passing = profile.devices().iter().filter(|device| device.kind.is_passing());
    let other = passing.find(|device| !over.contains(&device.kind));
    other.map(|other| {
        if !over.is_empty() {
            let (kind, other) = (other.kind.called(), &other.name);
            return format!(
                "what becomes of it at {kind} is not predicted, and {name} has one: {other}"
            );
        }
        let alone = lab.alone(profile).map(|one| one.name.as_str()).collect::<Vec<_>>();
        let alone = match alone.as_slice() {
            [] => String::new(),
            names => format!(": {} is one", names.join(" or ")),
        };
        format!("it follows from the configuration of one device, and {name} is several{alone}")
    })
}

/// Why neither the wire nor the control shows what is measured; `None` where one does.
fn unseen(
    (lab, control): (&Lab, ControlName),
    profile: &Profile,
    measure: &Measure,
) -> Option<String> {
    let alerts = |switch: &Switch| switch.pfcwd.action == Action::Alert;
    let silent = profile.declared.switch().is_some_and(alerts);
    let (ability, before) = match (measure::of(measure).needs)(measure) {
        Needs::Counters => (Ability::Counters, ""),
        Needs::Told => (Ability::Events, ""),
        Needs::Settings if !capabilities(control).offers(Ability::Configure) => {
            (Ability::Configure, "")
        }
        Needs::Settings => (Ability::Refusals, ""),
        Needs::Events if silent => {
            (Ability::Events, "the action `alert` leaves no trace on the wire, and ")
        }
        Needs::Hosts => {
            let why = "what a host tells, of its completions or of its data, is read in virtual time alone";
            return (!lab.transport.is_virtual()).then(|| why.to_owned());
        }
        Needs::Events | Needs::Wire => return None,
    };
    let lack = lacking(control, ability)?;
    Some(format!("{before}{lack}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;
    use rig_lab::{Backend, DpdkWire, Interfaces, Setting};
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
            clock: rig_units::Ppm(0),
            bound: Dur::us(10),
            budget: Dur::s(60),
        });
        lab
    }

    fn set(dut: &mut Profile, path: &str, value: serde_json::Value) {
        let setting = Setting { path: path.to_owned(), value };
        dut.declared = dut.declared.with(&setting).expect("it fits");
    }

    fn all(lab: &Lab) -> Vec<(String, Result<Applicability, Unfit>)> {
        let cases = bundled::cases().iter().filter(|case| case.suits(&lab.duts[0]).is_ok());
        cases.map(|case| (case.id.to_string(), of(lab, &lab.duts[0], case))).collect()
    }

    #[test]
    fn a_case_that_takes_a_link_down_is_skipped_over_dpdk() {
        let mut lab = lab(|_| {});
        let Transport::Interfaces(wire) = &mut lab.transport else { panic!("it is at interfaces") };
        wire.backend = Backend::Dpdk;
        wire.dpdk = Some(DpdkWire { eal: Vec::new(), shim: None });
        let all = all(&lab).into_iter();
        let dpdk =
            all.filter(|(_, reach)| reach.as_ref().is_err_and(|unfit| unfit.why.contains("DPDK")));
        let want = [
            "buffers::drops-over-a-dead-link-are-not-the-queues-broadcom",
            "headroom::pauses-obeyed-after-a-link-was-down-broadcom",
            "headroom::pauses-asked-for-after-a-link-was-down-broadcom",
            "pfcwd::port-toggle-broadcom",
        ];
        assert_eq!(dpdk.map(|(id, _)| id).collect::<Vec<_>>(), want);
    }

    fn told(lab: &Lab) -> String {
        let line = |(id, reach): (String, Result<Applicability, Unfit>)| match reach {
            Err(unfit) => format!("{id}\n    skipped: {}\n", unfit.why),
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
            "about: a\ndevice: system\ncases:\n  one:\n    why: a\n    source: [a]\n    streams: {{load: {{from: p1, to: p3, class: 3, kind: udp, size: 64B, every: 1ms, count: 9}}}}\n    taps: {{p1: all, p3: all}}\n    trials: 1\n    steps: [{{at: 0ms, start: load}}]\n    length: 9ms\n    measure: [{measures}]\n"
        );
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let whole = lab.duts.iter().find(|dut| dut.kind == Kind::System).expect("a system");
        assert_eq!(case.suits(whole), Ok(()));
        of(lab, whole, &case).map(|reach| reach.left_out).map_err(|unfit| unfit.why)
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
    fn what_no_router_passes_on_is_left_out_of_a_case_over_one() {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        lab.duts.retain(|dut| dut.name.starts_with("over-a-router"));
        let on_a_system = |measures: &str| on_a_system(&lab, measures);
        let all = "loss: {stream: load, expect: none}, latency: {stream: load}, pfc.sent: {port: p1, expect: none}";
        assert_eq!(on_a_system(all), Ok(Vec::new()));
        let why = "pfc.backpressure: what becomes of it at a router is not predicted, and over-a-router has one: router";
        let told = on_a_system("pfc.backpressure: {stream: load}");
        assert_eq!(told, Err(format!("nothing of it can be measured: {why}")));
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

    /// The bus and the table of pages of a host take longer than the port and the way, by which the least of a flow is counted.
    #[test]
    fn nothing_is_promised_of_a_flow_that_a_host_keeps() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let case = bundled::case("queue-pairs::one-connection-alone");
        let on = |name: &str| {
            let dut = lab.duts.iter().find(|dut| dut.name == name).expect("a device");
            of(&lab, dut, &case).map_err(|unfit| unfit.why)
        };
        assert_eq!(on("gen2-to-gen2").map(|reach| reach.left_out), Ok(Vec::new()));
        let why = on("pcie-gen3-to-pcie-gen3").expect_err("nothing of it can be measured");
        assert!(why.contains("(host.pcie)"), "{why}");
    }

    #[test]
    fn an_emulated_device_is_asked_everything() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let left_out = |(id, reach): (String, Result<Applicability, Unfit>)| {
            assert_eq!(reach.map(|reach| reach.left_out), Ok(Vec::new()), "{id}");
        };
        all(&lab).into_iter().for_each(left_out);
    }
}
