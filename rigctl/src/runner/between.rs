//! A case about two NICs where the rig passes on what they send over ports of its own, in real time: what it does to frames, and what it asks of NICs whose
//! answers come when a machine has a processor for them.

use super::unfit::{Missing, Unfit};
use super::{far, misfit};
use rig_lab::{Declared, Kind, Lab, Profile, Setting, Transport};
use rig_oracle::measure;
use rig_oracle::spec::nic::rc;
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::{Case, Injected, Injection, Measure, Sweep, Window};
use rig_units::{Dur, PortSpeed};

/// How long a trial may take whose timers are longer for the lab.
const LONGEST: Dur = Dur::s(10);

/// The case as it is run there; what it does without is added to `left_out`.
///
/// # Errors
/// What nothing there does.
pub(super) fn of(
    lab: &Lab,
    profile: &Profile,
    case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let is_pair = profile.declared.nics().is_some_and(|nics| nics.peer.is_some());
    let is_passed_on = is_pair && matches!(lab.transport, Transport::Veth(_));
    let written = case.between.inject.clone();
    let case = if is_passed_on { slower(lab, profile, case, left_out) } else { case };
    if let Some(why) = undone(lab, profile, &case) {
        return Err(Missing::Lab.so(why));
    }
    if !is_passed_on {
        return Ok(case);
    }
    if let Some(why) = too_slow(profile, &written, &case) {
        return Err(Missing::Lab.so(why));
    }
    let case = patient(lab, profile, case, left_out)?;
    Ok(measurable(lab, profile, case, left_out))
}

/// The case with timers and delays that are longer than an answer takes, unless its trials were too long for it.
fn slower(lab: &Lab, profile: &Profile, case: Case, left_out: &mut Vec<String>) -> Case {
    let mut told = Vec::new();
    let slower = far::of(lab, profile, case.clone(), &mut told);
    if lasts(lab, profile, &slower) > LONGEST {
        return case;
    }
    left_out.extend(told);
    slower
}

/// How long the longest of its trials takes.
fn lasts(lab: &Lab, profile: &Profile, case: &Case) -> Dur {
    let groups = groups(case, &profile.declared).unwrap_or_default();
    let each = groups.into_iter().filter_map(|group| {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        let points = context.points().ok()?;
        points.iter().filter_map(|point| Some(context.script(point).ok()?.length)).max()
    });
    each.max().unwrap_or_default()
}

/// Why what the case does between two NICs is not done; `None` where it is, or another executor does it.
fn undone(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let (bottleneck, inject) = (&case.between.bottleneck, &case.between.inject);
    match lab.transport {
        Transport::Virtual(_) | Transport::Guests(_) | Transport::Server(_) => return None,
        Transport::Interfaces(_) if bottleneck.is_some() || !inject.is_empty() => {
            let why = "it does something to frames between two NICs, and at interfaces nobody has their connections";
            return Some(why.to_owned());
        }
        Transport::Interfaces(_) | Transport::Veth(_) => {}
    }
    if bottleneck.is_some() {
        let why = "it has a bottleneck between the NICs, which the rig is in virtual time alone";
        return Some(why.to_owned());
    }
    let bound = lab.transport.bound();
    let one = |one: &Injection<String>| match one.tamper {
        _ if profile.kind == Kind::BlueRdma => Some(
            "it does something to frames of blue-rdma, which the rig does in virtual time alone"
                .to_owned(),
        ),
        Injected::Rocev2 | Injected::BlueRdma => Some(
            "it sends packets of another dialect, which the rig does in virtual time alone"
                .to_owned(),
        ),
        Injected::Delay(by) if by < bound => {
            Some(format!("it delays a frame by {by}, and this lab's stamps are within {bound}"))
        }
        _ => None,
    };
    inject.iter().find_map(one).or_else(|| paused(profile, case))
}

/// What the case does that nothing shows where its ports take as long as they do for a packet; `written` is what it does to frames, as it says so.
fn too_slow(profile: &Profile, written: &[Injection<String>], case: &Case) -> Option<String> {
    /// A packet so many behind the others is one of long ago: sooner a receiver may take it for one that is ahead.
    const LONG_AGO: u64 = 1_000;
    let configured = misfit::configured(profile, case)?;
    let speed =
        (0..configured.port_count()).filter_map(|port| configured.port_speed(port)).min()?;
    let crossing = || case.flows.values().filter(|flow| flow.nic != flow.to);
    let packet =
        |speed: PortSpeed| crossing().map(|flow| speed.slot(flow.mtu + flow.headers())).min();
    let (here, usual) = (packet(speed)?, packet(PortSpeed::G100)?);
    let message = crossing()
        .map(|flow| {
            speed.slot(flow.mtu + flow.headers()) * flow.message.0.div_ceil(flow.mtu.0.max(1))
        })
        .min()?;
    // A cache that a case is about has about as many connections as it has places.
    let filled = |places: u32| {
        places > 0 && u32::try_from(crossing().count()).is_ok_and(|count| count * 2 >= places)
    };
    for (part, nic) in configured.nics()?.all() {
        // Where frames are lost or late, too, that is what the case is about.
        let again = nic.rc.receive_again.filter(|_| written.is_empty());
        if let Some(again) = again.filter(|again| again.most() < message) {
            return Some(format!(
                "an application of `{part}` takes {again} for a message, and one takes {message} at ports of {speed}: a receive is always there"
            ));
        }
        let miss = nic.receive.miss;
        if filled(nic.receive.cache) && miss < here {
            return Some(format!(
                "a connection that `{part}` does not keep costs it {miss}, and a packet takes {here} at ports of {speed}: nothing waits for it"
            ));
        }
    }
    let late = written.iter().zip(&case.between.inject).find_map(|(written, here_done)| {
        let (Injected::Delay(by), Injected::Delay(now)) = (written.tamper, here_done.tamper) else {
            return None;
        };
        (by / usual >= LONG_AGO && now / here < LONG_AGO).then_some((by / usual, now / here))
    });
    late.map(|(by, now)| {
        format!(
            "it delays a packet until {by} others have passed, and at ports of {speed} {now} do"
        )
    })
}

/// Why frames would have to wait for a NIC that asks for it: its host is slow, and the rig passes on at once.
fn paused(profile: &Profile, case: &Case) -> Option<String> {
    let crosses = case.flows.values().any(|flow| flow.nic != flow.to);
    let configured = misfit::configured(profile, case)?;
    let slow = configured.nics()?.all().find(|(_, nic)| nic.host.pcie.is_some())?.0;
    crosses.then(|| {
        format!(
            "the host of `{slow}` is slow and asks for pauses, which the rig keeps in virtual time alone for what it passes on"
        )
    })
}

/// The case without timers that run out before an answer surely is back: what comes of those is the machine's.
fn patient(
    lab: &Lab,
    profile: &Profile,
    mut case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let Some(answered) = far::answered(lab, profile, &case) else { return Ok(case) };
    let told = |timer: Dur| {
        format!(
            "a timer of {timer}, and an answer may take {answered} here, by what stamps may be off"
        )
    };
    let mut swept = core::mem::take(&mut case.sweep);
    let mut short = Vec::new();
    for sweep in &mut swept {
        let Sweep::Setting { path, values } = sweep else { continue };
        values.retain(|value| {
            let point = Setting { path: path.clone(), value: value.clone() };
            let is_timer = far::is_timer(path);
            let configured =
                misfit::configured(profile, &case).and_then(|all| all.with(&point).ok());
            let hasty =
                configured.filter(|_| is_timer).and_then(|all| hasty(&all, &case, answered));
            short.extend(hasty.map(&told));
            hasty.is_none()
        });
        if values.is_empty() {
            return Err(Missing::Lab.so(short.join("; ")));
        }
    }
    let is_swept =
        swept.iter().any(|one| matches!(one, Sweep::Setting { path, .. } if far::is_timer(path)));
    case.sweep = swept;
    let configured = misfit::configured(profile, &case).filter(|_| !is_swept);
    if let Some(timer) = configured.and_then(|all| hasty(&all, &case, answered)) {
        return Err(Missing::Lab.so(format!("it has {}", told(timer))));
    }
    left_out.extend(short);
    Ok(case)
}

/// How soon a timer of a NIC that asks runs out, where that is sooner than an answer is back.
fn hasty(configured: &Declared, case: &Case, answered: Dur) -> Option<Dur> {
    let (nics, ports) = (configured.nics()?, case.dut_ports(configured).ok()?);
    let names = case.rig_ports();
    let timer = |name: &String| {
        let port = ports.get(names.iter().position(|port| port == name)?)?;
        Some(rc::timeout(&nics.behind(*port)?.rc)?.least())
    };
    let crossing = case.flows.values().filter(|flow| flow.nic != flow.to);
    crossing.filter_map(|flow| timer(&flow.nic)).filter(|timer| *timer < answered).min()
}

/// The case without rates that its ports do not have, of flows of which it wants no less at slow ones, and without what it wants of less time than stamps
/// leave open.
fn measurable(lab: &Lab, profile: &Profile, mut case: Case, left_out: &mut Vec<String>) -> Case {
    let ports = 0..profile.declared.port_count();
    let speed = ports.filter_map(|port| profile.declared.port_speed(port)).min();
    let open = lab.transport.bound() * 2;
    let too_fast = |one: &Measure, speed: PortSpeed| {
        let least = one.arguments.rate("at_least").filter(|least| *least > speed.bps());
        least.is_some() && one.arguments.word("or").is_none()
    };
    let why = |one: &Measure| {
        if let Some(speed) = speed.filter(|speed| too_fast(one, *speed)) {
            return Some(format!("it wants more than ports of {speed} have"));
        }
        let Window { from, until, .. } = one.arguments.window()?;
        let lasts = until.saturating_sub(from);
        (lasts <= open).then(|| format!("of {lasts} stamps leave {open} open"))
    };
    case.measure.retain(|one| {
        let why = why(one);
        left_out.extend(why.iter().map(|why| format!("{}: {why}", one.name())));
        why.is_none()
    });
    case
}

#[cfg(test)]
mod tests {
    use super::super::{applicability, bundled};
    use rig_lab::{Lab, Setting};
    use rig_testcases::Case;
    use rig_units::PortSpeed;
    use std::path::Path;

    /// The lab with two NICs.
    struct Desk(Lab);

    impl Desk {
        fn open() -> Desk {
            let labs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs");
            let lab = rig_lab::read::lab(Some(&labs.join("veth-nic-pair.yaml")));
            let lab = lab.unwrap_or_else(|faults| panic!("{faults:#?}"));
            Desk(lab)
        }

        /// What becomes of a case between the two NICs that suit it: what is left out of it, or why it is skipped.
        fn told(&self, case: &str) -> Result<Vec<String>, String> {
            self.told_of(case, |_| ())
        }

        /// The same of one that is otherwise.
        fn told_of(&self, case: &str, change: impl Fn(&mut Case)) -> Result<Vec<String>, String> {
            let Desk(lab) = self;
            let mut case = bundled::case(case);
            change(&mut case);
            let dut = lab.duts.iter().find(|dut| case.suits(dut).is_ok()).expect("two NICs");
            let reach = applicability::of(lab, dut, &case);
            reach.map(|reach| reach.left_out).map_err(|unfit| unfit.why)
        }
    }

    #[test]
    fn what_takes_tens_of_milliseconds_runs_whole() {
        let desk = Desk::open();
        for case in [
            "recovery::lost-packet",
            "recovery::doubled-frame",
            "recovery::lost-packet-over-ipv6",
            "recovery::not-ready-for-tenths-of-a-second",
            "recovery::timeout-codes-of-seconds",
            "receives::an-application-of-tenths-of-a-second",
        ] {
            assert_eq!(desk.told(case), Ok(Vec::new()), "{case}");
        }
    }

    #[test]
    fn timers_and_delays_are_longer_than_an_answer_takes_and_short_ones_are_left_out_where_they_cannot()
     {
        let desk = Desk::open();
        let left = |case: &str| desk.told(case).expect("it runs").join("\n");
        let longer = left("recovery::atomic-operation-that-comes-twice");
        assert!(longer.ends_with("may take here: all are 1024 times as long"), "{longer}");
        let later = left("recovery::late-frame");
        assert!(later.ends_with("in their place: all are 4096 times as late"), "{later}");
        // Codes 3 to 17 have no room above them.
        let codes = left("recovery::timeout-codes");
        assert!(codes.contains("a timer of 16.777216ms, and an answer may take 64."), "{codes}");
        assert_eq!(codes.lines().count(), 4, "{codes}");
        let why = desk.told("recovery::go-back-n-at-one-in-twenty").expect_err("it takes minutes");
        assert!(
            why.starts_with("it has a timer of 524.288us, and an answer may take 65."),
            "{why}"
        );
    }

    #[test]
    fn what_nothing_shows_at_slow_ports_is_told_by_name() {
        let desk = Desk::open();
        for (case, told_of) in [
            ("receives::writes-take-no-receive", "an application of `peer` takes 50us for a"),
            (
                "unreliable::datagrams-faster-than-their-application",
                "an application of `peer` takes 250ns for a message",
            ),
            (
                "interop::gen2-to-gen1-of-one-connection-more",
                "a connection that `peer` does not keep costs it 500ns",
            ),
            ("recovery::ghost-of-an-old-packet", "it delays a packet until"),
            ("recovery::timeout-codes-of-hours", "a trial of it lasts 36000s by the clock"),
        ] {
            let why = desk.told(case).expect_err(case);
            assert!(why.contains(told_of), "{case}: {why}");
        }
    }

    #[test]
    fn what_the_rig_does_in_virtual_time_alone_is_told_by_name() {
        let desk = Desk::open();
        for (case, told_of) in [
            ("recovery::packet-of-another-dialect", "it sends packets of another dialect"),
            ("recovery::faults-of-every-kind-drawn", "it delays a frame by 20us, and this lab's"),
            ("recovery::adaptive-timeouts-of-lone-messages", "its messages are steps of an app"),
            ("dcqcn::two-flows-share", "the rig makes a bottleneck of 10Gbps"),
            ("host-ets::hlk-minimum-classes", "of 1ms stamps leave 32ms open"),
        ] {
            let why = desk.told(case).expect_err(case);
            assert!(why.contains(told_of), "{case}: {why}");
        }
        let narrow = |case: &mut Case| {
            let speed = PortSpeed::from_bps(10_000_000).expect("whole picoseconds");
            case.between.bottleneck.iter_mut().for_each(|queue| queue.speed = speed);
        };
        let why = desk.told_of("dcqcn::two-flows-share", narrow).expect_err("a queue");
        assert!(why.starts_with("it has a bottleneck between the NICs"), "{why}");
        let slow = |case: &mut Case| {
            let (path, value) = ("peer.host.pcie".to_owned(), "1Gbps-L2".into());
            case.settings.push(Setting { path, value });
        };
        let why = desk.told_of("recovery::lost-packet", slow).expect_err("a slow host");
        assert!(why.starts_with("the host of `peer` is slow and asks for pauses"), "{why}");
    }
}
