//! A case on the NIC of a guest, or of a server. Its flows are clients of perftest there, of which a trial has one, or several that have always something to
//! send: what a case asks of more than that is not done. Or the rig sends streams to that NIC, in a case without flows. Where the other end is the rig's own, what it measures of that says nothing of a device; where it is a second guest, it is one.

use super::unfit::{Missing, Unfit};
use super::{side_by_side, to_nic};
use rig_dut::PerftestControl;
use rig_dut::host::knob_of;
use rig_lab::{Guests, IpVersion, OtherEnd, Profile, Server, Setting};
use rig_oracle::measure::{self, FromStart};
use rig_testcases::case::CaseAction;
use rig_testcases::{Amount, Case, Flow, Injected, Injection, Measure, Sweep, Target, Verb, Which};
use rig_units::{Dur, PortSpeed};

/// Fewest messages of one run that perftest takes.
const FEWEST: u32 = 5;
/// Ports that the rig's ends are: in front of the guest's NIC, and its own.
const GUEST: &str = "p1";

/// What it is run over.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowWire {
    other_end: OtherEnd,
    bound: Dur,
    trial: Dur,
    /// Whether the NIC has knobs beside what perftest asks of a connection.
    knobs: bool,
    /// Whether the rig's other end sends streams to it.
    streams: bool,
}

impl From<&Guests> for FlowWire {
    fn from(&Guests { other_end, bound, trial, .. }: &Guests) -> FlowWire {
        let streams = other_end == OtherEnd::Rig;
        FlowWire { other_end, bound, trial, knobs: false, streams }
    }
}

impl From<&Server> for FlowWire {
    fn from(wire: &Server) -> FlowWire {
        let other_end = wire.other_end();
        let streams = other_end == OtherEnd::Rig;
        FlowWire { other_end, bound: wire.bound, trial: wire.trial, knobs: true, streams }
    }
}

/// The case as it is run there; what it does without is added to `left_out`.
///
/// # Errors
/// What it asks for that nothing there does.
pub(super) fn of(
    wire: FlowWire,
    profile: &Profile,
    case: &Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let lab = |why: String| Missing::Lab.so(why);
    if wire.streams && !case.streams.is_empty() {
        let speed = profile.declared.port_speed(0).unwrap_or(PortSpeed::G100);
        return match to_nic::unsent(case, speed) {
            Some(why) => Err(lab(why)),
            None => configured(wire, profile, case, left_out),
        };
    }
    if wire.streams && side_by_side::is_one(case) {
        let why = side_by_side::unmade(case).or_else(|| side_by_side::beyond(profile, case));
        if let Some(why) = why {
            return Err(lab(why));
        }
        let mut case = configured(wire, profile, case, left_out)?;
        case.measure.retain(|one| {
            let why = side_by_side::unshown(one);
            left_out.extend(why.iter().cloned());
            why.is_none()
        });
        return Ok(side_by_side::timed(case, wire.trial));
    }
    let ends = ending(profile, case);
    if let Some((_, why)) = &ends {
        left_out.push(why.clone());
    }
    let case = ends.as_ref().map_or(case, |(ends, _)| ends);
    let name = flow_of(case).map_err(lab)?;
    let flow = case.flows.get(name).ok_or_else(|| lab(format!("`{name}` is no flow")))?;
    if let Some(why) = unmade(name, flow).or_else(|| bridged(wire, case)) {
        return Err(lab(why));
    }
    let mut case = configured(wire, profile, case, left_out)?;
    let sleeps = case.length.as_ref().map_or(Dur::ZERO, |length| match length {
        Amount::Exactly(length) => *length,
        Amount::Of { .. } | Amount::Swept(_) => Dur::ZERO,
    });
    // How long it lasts is of no meaning to a flow that ends by itself: time for the program, and for what the case is about.
    case.length = Some(Amount::Exactly(wire.trial + sleeps));
    let mut measures = Vec::new();
    for mut one in core::mem::take(&mut case.measure) {
        match unshown(wire, &mut one, &case) {
            Shown::All => measures.push(one),
            Shown::But(what) => {
                left_out.push(what);
                measures.push(one);
            }
            Shown::Nothing(why) => left_out.push(why),
        }
    }
    case.measure = measures;
    Ok(case)
}

/// A case whose one flow goes on for a while, as one that sends what its port lets out in that time: perftest's ends by itself. `None` of any other.
fn ending(profile: &Profile, case: &Case) -> Option<(Case, String)> {
    let [one] = case.steps.as_slice() else { return None };
    let CaseAction::Start { names, lasting: Some(Amount::Exactly(lasts)) } = &one.what else {
        return None;
    };
    let [name] = names.as_slice() else { return None };
    let flow = case.flows.get(name).filter(|flow| flow.count.is_none())?;
    let speed = profile.declared.port_speed(0)?;
    let message = u128::from(flow.message.0.max(1)) * 8 * 1_000_000_000_000;
    let count = u128::from(speed.bps()) * u128::from(lasts.0) / message;
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(FEWEST);
    let why = format!(
        "{name} sends {count} messages in place of {lasts}: perftest's programs end by a number"
    );
    let mut case = case.clone();
    case.flows.get_mut(name)?.count = Some(count);
    if let CaseAction::Start { lasting, .. } = &mut case.steps[0].what {
        *lasting = None;
    }
    Some((case, why))
}

/// The one flow that a case starts; else why it is not run.
fn flow_of(case: &Case) -> Result<&str, String> {
    if !case.streams.is_empty() {
        return Err("the rig sends streams in it, and here it sends none of its own".to_owned());
    }
    if !case.configure.is_empty() {
        return Err("it tries settings, and perftest has but one".to_owned());
    }
    match case.steps.as_slice() {
        [one] => match &one.what {
            CaseAction::Start { names, lasting: None } if names.len() == 1 => Ok(&names[0]),
            CaseAction::Start { names, lasting: None } => {
                Err(format!("it has {} flows at a time, and a trial in a guest one", names.len()))
            }
            CaseAction::Start { names, lasting: Some(_) } => Err(format!(
                "it has {} that it stops after a while, and a trial in a guest has one that ends by itself",
                if names.len() == 1 {
                    "a flow".to_owned()
                } else {
                    format!("{} flows", names.len())
                }
            )),
            _ => Err("it does something else than start a flow".to_owned()),
        },
        _ => Err("more happens in it than that a flow is started".to_owned()),
    }
}

/// Why perftest does not make this flow; `None` where it does.
fn unmade(name: &str, flow: &Flow) -> Option<String> {
    if flow.nic != GUEST || flow.to == GUEST {
        return Some(format!(
            "{name} is sent by the NIC behind {}, which is the other end: perftest's clients are at this one",
            flow.nic
        ));
    }
    unmade_by_perftest(name, flow).or_else(|| match flow.count {
        None => Some(format!("{name} never ends, and perftest sends a number of messages")),
        Some(count) if count < FEWEST => {
            Some(format!("{name} has {count} messages, and perftest sends {FEWEST} or more"))
        }
        Some(_) => None,
    })
}

/// Why no client of perftest makes it, however many messages it has.
pub(super) fn unmade_by_perftest(name: &str, flow: &Flow) -> Option<String> {
    if flow.psn != 0 {
        return Some(format!(
            "the first packet of {name} has number {}, and perftest draws its own",
            flow.psn
        ));
    }
    if flow.vlan.is_some() {
        return Some(format!("frames of {name} are tagged, and guests have no VLAN"));
    }
    if flow.over == IpVersion::V6 {
        return Some(format!(
            "{name} goes over IPv6, and what a guest's flows go over its lab says"
        ));
    }
    if flow.gid != 0 || flow.nic != flow.to && flow.address != 0 {
        return Some(format!(
            "{name} is at another GID, and which one a guest's flows have its lab says"
        ));
    }
    if flow.verb == Verb::SendRegistered {
        return Some(format!(
            "{name} registers memory for each message, and perftest once for all"
        ));
    }
    let does = format!("{name} does what the rig asks no program of perftest for");
    let other = flow.verb.has_tail() || flow.verb.is_atomic() || flow.verb.is_unreliable();
    other.then_some(does)
}

/// Why what the case does between the NICs is not done; `None` where it is.
fn bridged(wire: FlowWire, case: &Case) -> Option<String> {
    if case.between.bottleneck.is_some() {
        return Some("it has a bottleneck between the NICs, and there is none".to_owned());
    }
    let undone = |one: &Injection<String>| match (one.frames, one.tamper, one.which) {
        (Target::Cnp, ..) => Some("it is about CNPs, and neither end sends one".to_owned()),
        (_, Injected::Ce, _) if wire.other_end == OtherEnd::Rig => {
            Some("it marks frames, and neither end looks at marks".to_owned())
        }
        (_, Injected::BlueRdma, _) => Some(
            "it sends packets of blue-rdma, which the rig does in virtual time alone".to_owned(),
        ),
        (_, Injected::NotReady(_), _) if wire.other_end == OtherEnd::Nic => {
            Some("its receiver is not ready, and perftest's always is".to_owned())
        }
        (_, Injected::Delay(by), _) if by < wire.bound => Some(format!(
            "it delays a frame by {by}, and this lab's stamps are within {}",
            wire.bound
        )),
        (_, _, Which::During { .. }) => Some(
            "it counts from the trial's start, and a flow starts when its program can".to_owned(),
        ),
        _ => None,
    };
    case.between.inject.iter().find_map(undone)
}

/// The case without those points of its sweeps that perftest does not set.
fn configured(
    wire: FlowWire,
    profile: &Profile,
    case: &Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let mut case = case.clone();
    let swept: Vec<String> = case
        .sweep
        .iter()
        .filter_map(|sweep| match sweep {
            Sweep::Setting { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    // Some are one knob together.
    let whole = case.settings.iter().try_fold(profile.declared.clone(), |all, one| all.with(one));
    let unset = |setting: &Setting| {
        let lack = PerftestControl::with(&profile.declared, setting, wire.other_end).err()?;
        if !wire.knobs {
            return Some(lack);
        }
        // The rig's own end has no knobs.
        let of_nic = wire.other_end == OtherEnd::Nic || setting.path.starts_with("nic.");
        let made = whole.as_ref().ok().and_then(|whole| whole.with(setting).ok());
        let is_knob = made.is_some_and(|made| knob_of(&made, &setting.path).is_ok());
        (!is_knob || !of_nic).then_some(lack)
    };
    let lack = case.settings.iter().filter(|one| !swept.contains(&one.path)).find_map(unset);
    if let Some(lack) = lack {
        return Err(Missing::Control.so(lack));
    }
    // What a sweep varies is set to its points alone.
    case.settings.retain(|one| unset(one).is_none());
    let mut lacks = Vec::new();
    for sweep in &mut case.sweep {
        let Sweep::Setting { path, values } = sweep else { continue };
        values.retain(|value| {
            let lack = unset(&Setting { path: path.clone(), value: value.clone() });
            lacks.extend(lack.iter().cloned());
            lack.is_none()
        });
        if values.is_empty() {
            return Err(Missing::Control.so(lacks.join("; ")));
        }
    }
    left_out.extend(lacks);
    Ok(case)
}

/// What of a measure is shown there.
enum Shown {
    All,
    /// All but something.
    But(String),
    Nothing(String),
}

/// Takes out of a measure what a guest does not show.
fn unshown(wire: FlowWire, one: &mut Measure, case: &Case) -> Shown {
    let known = measure::of(one);
    let name = one.name();
    let of_rig = |port: &String| port != GUEST && wire.other_end == OtherEnd::Rig;
    if let Some(port) = (known.of_nic)(one, case).filter(of_rig) {
        return Shown::Nothing(format!("{name}: the NIC behind {port} is the rig's own end"));
    }
    if known.of_class {
        let why = "perftest asks for the class of a connection, not the case";
        return Shown::Nothing(format!("{name}: {why}"));
    }
    const WHEN: &str = "counts from when the flow is started, and perftest starts it when it can";
    match known.from_start {
        FromStart::Unless(key) if one.arguments.word(key).is_some() => Shown::All,
        FromStart::Everything | FromStart::Unless(_) => {
            Shown::Nothing(format!("{name}: it {WHEN}"))
        }
        FromStart::Argument(key) if one.arguments.forget(key) => {
            Shown::But(format!("{name}: `{key}` {WHEN}"))
        }
        FromStart::Argument(_) | FromStart::Nothing => Shown::All,
    }
}

#[cfg(test)]
mod tests {
    use super::super::applicability;
    use crate::runner::bundled;
    use rig_units::Dur;
    use std::path::Path;

    #[test]
    fn what_a_nic_in_a_guest_can_be_asked() {
        insta::assert_snapshot!(told("soft-roce.yaml"));
    }

    #[test]
    fn what_two_nics_in_guests_can_be_asked() {
        insta::assert_snapshot!(told("soft-roce-pair.yaml"));
    }

    /// What becomes of a case of `interop` between two NICs of the second generation, where stamps are within `bound`.
    fn between_two(case: &str, bound: Dur) -> Result<(rig_testcases::Case, Vec<String>), String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs/soft-roce-pair.yaml");
        let mut lab = rig_lab::read::lab(Some(&file)).expect("a bundled lab");
        let emulated = rig_lab::read::lab(None).expect("the bundled lab");
        let pair = emulated.duts.into_iter().find(|dut| dut.name == "gen2-to-gen2");
        lab.duts = pair.into_iter().collect();
        let rig_lab::Transport::Guests(wire) = &mut lab.transport else { panic!("guests") };
        wire.bound = bound;
        let mut all = bundled::cases().iter();
        let case = all.find(|one| one.id.to_string() == case).expect("a case");
        let reach = applicability::of(&lab, &lab.duts[0], case);
        reach.map(|reach| (reach.case, reach.left_out)).map_err(|unfit| unfit.why)
    }

    #[test]
    fn a_flow_that_goes_on_for_a_while_sends_as_much_as_its_port_does_in_that_time() {
        // 100 Gb/s for 8 ms are 1525.9 messages of 64 KiB.
        let (case, left_out) =
            between_two("interop::gen2-to-gen2", Dur::ns(10)).expect("stamps tell it");
        assert_eq!(case.flows["sender"].count, Some(1_525));
        assert_eq!(
            left_out,
            ["sender sends 1525 messages in place of 8ms: perftest's programs end by a number"]
        );
        let measures: Vec<&str> = case.measure.iter().map(rig_testcases::Measure::name).collect();
        assert_eq!(measures, ["rate.follows", "cnp.answers", "rc.completion", "rate.goodput"]);
    }

    #[test]
    fn of_two_nics_it_is_said_which_stamps_would_tell_what_their_way_marks() {
        let why = between_two("interop::gen2-to-gen2", Dur::ms(1)).expect_err("too far off");
        assert!(why.starts_with("it needs timestamps within "), "{why}");
        let why = between_two("interop::rate-over-a-long-way", Dur::ns(10)).expect_err("by time");
        assert!(why.contains("it counts from the trial's start"), "{why}");
    }

    #[test]
    fn what_stamps_do_not_tell_is_left_out_beside_what_a_case_is_about() {
        let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs");
        let lab = rig_lab::read::lab(Some(&labs.join("soft-roce-jumbo.yaml"))).expect("a lab");
        let of = |name: &str| {
            let mut all = bundled::cases().iter();
            let case = all.find(|one| one.id.to_string() == name).expect("a case");
            applicability::of(&lab, &lab.duts[0], case).map_err(|unfit| unfit.why)
        };
        let drawn = of("recovery::losses-drawn").expect("it is about numbers");
        let measures: Vec<&str> =
            drawn.case.measure.iter().map(rig_testcases::Measure::name).collect();
        assert_eq!(measures, ["rc.sender", "nic.counters", "rc.completion"]);
        let why = "rate.goodput: it needs timestamps within ";
        assert!(drawn.left_out.iter().any(|one| one.starts_with(why)), "{:?}", drawn.left_out);
        let why = of("recovery::go-back-n-from-outside").expect_err("it is about times");
        assert!(why.starts_with("it needs timestamps within "), "{why}");
    }

    #[test]
    fn a_nic_of_another_generation_is_told_which_cases_it_is_asked() {
        let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs");
        let lab = rig_lab::read::lab(Some(&labs.join("connectx.yaml"))).expect("a lab");
        let mut all = bundled::cases().iter();
        let case = all.find(|one| one.id.to_string() == "recovery::nothing-lost").expect("a case");
        let last = lab.duts.last().expect("a pair");
        assert_eq!(
            case.suits(last).expect_err("it is of another"),
            "its nic.generation is not gen2: a NIC is asked the cases of the generation that its profile names"
        );
    }

    /// Of each case that suits the lab's device what is left out there, or why it is skipped.
    fn told(lab: &str) -> String {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs").join(lab);
        let lab = rig_lab::read::lab(Some(&file)).unwrap_or_else(|faults| panic!("{faults:#?}"));
        let cases = bundled::cases().iter();
        let mut told = String::new();
        for case in cases.filter(|case| case.suits(&lab.duts[0]).is_ok()) {
            told += &match applicability::of(&lab, &lab.duts[0], case) {
                Err(unfit) => format!("{}\n    skipped: {}\n", case.id, unfit.why),
                Ok(reach) => {
                    let left_out = reach.left_out.iter();
                    let left_out = left_out.map(|one| format!("    left out: {one}\n"));
                    format!("{}\n{}", case.id, left_out.collect::<String>())
                }
            };
        }
        told
    }
}
