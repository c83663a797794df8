//! Headroom and pool as the switch's buffer manager works them out (rows 82 and 83): what APPL_DB says of a port's lossless groups and of
//! the ingress pool, against the rule of the vendor whose chip it is.

use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{Judged, Unread, looked};
use super::measurement::{Known, Needs, Red, Tells, by_source};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::buffer_pool::{self, IngressPool};
use crate::spec::headroom::{self, Profile, Rule, Sizing, response_quanta};
use crate::spec::{own_headroom, sized_speed};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, DutCounter, Span, Unit};
use rig_lab::{Part, SizedFrom, Switch};
use rig_testcases::vocabulary::{Entry, Looks, STREAM, ValueKind, optional};
use rig_testcases::{Action, Measure, Script, Step};
use rig_units::{Bytes, Dur, PortSpeed, Quanta};

/// Header, tag and FCS, which the MTU of a port leaves out.
const BESIDE_IP: u64 = 22;
/// The key of a measure that names another port than that of the stream.
const AT: &str = "port";
/// The key of a measure that says what has to become of an operator's own headroom.
const OWN: &str = "own";
/// The setting that shuts a port.
const SHUT: &str = "shut_port";
/// Ports of this speed and faster have eight lanes, of which nothing is said.
const EIGHT_LANES: u64 = 400_000_000_000;

/// `buffer.sized`.
pub(super) static SIZED: Known = Known {
    entry: Entry {
        name: "buffer.sized",
        parts: Some(&[Part::DynamicBuffer]),
        about: "headroom of the lossless group that a stream comes into, and the pool, as the switch's buffer manager works them out from speed, cable and MTU",
        source: "F6, F15",
        fields: &[
            STREAM,
            optional(
                AT,
                ValueKind::OnePort,
                "the rig port at the other end of the port whose headroom is looked at; without it that by which the stream comes",
            ),
            optional(
                OWN,
                ValueKind::Word(&["refused"]),
                "what has to become of an operator's own headroom by the limit of the port; where that is not met, nothing is measured",
            ),
        ],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("byte of each row, which the rule rounds headroom up to whole KiB"),
    red: Red::Mutated("headroom-follows-the-cable", "deviation=headroom_ignores_cable"),
    expected: |_, context, _| {
        let switch = context.switch();
        let own = switch
            .dynamic_buffer
            .own_xoff
            .map(|xoff| format!("an operator's own headroom of {}B, ", xoff.0));
        let text = match switch.dynamic_buffer.sized_from() {
            None => "nothing: the switch's operator sizes its buffers".to_owned(),
            Some(from) => format!(
                "by {}{} of cable, the MTU and the speed of the port, {}B of memory and {}",
                own.unwrap_or_default(),
                from.cable,
                from.memory.0,
                shared(&from)
            ),
        };
        by_source(text, headroom::SOURCE)
    },
    judge: |measure, done, judged| judge(done, measure, judged),
    over_memories: |_| true,
    ..Known::USUAL
};

/// What is looked at, in the order in which it is shown.
#[derive(Debug, Clone, Copy)]
enum What {
    Xon,
    Xoff,
    Size,
    Pool,
    SharedHeadroom,
}

fn judge(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let named = measure.arguments.name(AT).unwrap_or_else(|| measure.named("stream"));
    for (what, word) in [
        (What::Xon, "xon"),
        (What::Xoff, "xoff"),
        (What::Size, "size"),
        (What::Pool, "pool"),
        (What::SharedHeadroom, "shared headroom"),
    ] {
        let on = format!("{named}: {word}");
        done.each("buffer.sized", &on, judged, |trial| read(done, trial, measure, what));
    }
}

fn read(
    done: &JudgeContext<'_>,
    trial: &Trial,
    measure: &Measure,
    what: What,
) -> Result<TrialReading, Unread> {
    let switch = &at_end(done.context.switch(), &trial.script);
    let Some(from) = switch.dynamic_buffer.sized_from() else {
        return Err(trial
            .doubt("the switch's operator sizes its buffers, and no rule says how")
            .into());
    };
    let (index, spec) = trial.stream(measure.named("stream"))?;
    if !switch.qos.lossless(spec.class) {
        let why = "no headroom is kept for a lossy class".to_owned();
        return Err(Unread::NotApplicable(why));
    }
    let at = measure.arguments.name(AT).map_or(Ok(spec.from), |port| trial.port(port))?;
    let port = SizedPort::of(trial, switch, (&from, at))?;
    let classes = classes(switch);
    let rule = sizing(switch, &from, port.speed).profile();
    if !own_headroom::fits(&from, rule, classes) {
        if !port.is_shut && was_shut(&trial.script, port.number) {
            // Before that it had none, and the case is about what it has since.
            let why = "what the rule makes is more than the port can have, which was shut before";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        let why =
            "what the rule makes is more than the port can have: what holds is what held before"
                .to_owned();
        return Err(Unread::NotApplicable(why));
    }
    let of_all = matches!(what, What::Pool | What::SharedHeadroom);
    if let Some(other) = unfit(switch, &from, classes).filter(|_| of_all) {
        let why = format!(
            "what the rule makes is more than {other} can have: the pool goes by what held there before"
        );
        return Err(Unread::NotApplicable(why));
    }
    let profile = own_headroom::in_effect(&from, rule, classes);
    let is_taken = from.own_xoff.is_none_or(|own| own == profile.xoff);
    if is_taken && measure.arguments.word(OWN).is_some() {
        return Err(trial.doubt(&not_met(&from)).into());
    }
    let rests_on = if port.is_shut {
        buffer_pool::SHUT
    } else if port.negotiates {
        sized_speed::SOURCE
    } else if profile == rule {
        headroom::SOURCE
    } else {
        own_headroom::SOURCE
    };
    let bytes = |profile: Profile, IngressPool { size, xoff }: IngressPool| match what {
        What::Xon | What::Xoff | What::Size if port.is_shut => Bytes(0),
        What::Xon => profile.xon,
        What::Xoff => profile.xoff,
        What::Size => profile.size,
        What::Pool => size,
        What::SharedHeadroom => xoff.unwrap_or_default(),
    };
    let of_port = |field: &str| format!("BUFFER_PROFILE_TABLE {} {field}", port.name);
    let of_pool = |field: &str| format!("BUFFER_POOL_TABLE ingress_lossless_pool {field}");
    let (name, formula, source) = match what {
        What::Xon => (of_port("xon"), "F6", rests_on),
        What::Xoff => (of_port("xoff"), "F6", rests_on),
        What::Size => (of_port("size"), "F6", rests_on),
        What::Pool => (of_pool("size"), "F15", buffer_pool::SOURCE),
        What::SharedHeadroom => (of_pool("xoff"), "F15", buffer_pool::SOURCE),
    };
    let Bytes(holds) = bytes(profile, pool_of(switch, &from));
    let counters = &trial.observation.counters;
    if let Some(why) = counters.absent.get(&name) {
        return Err(Unread::NotApplicable(why.clone()));
    }
    let own = DutCounter::PortSent.of(port.name, 0);
    if !counters.has(&own) && !counters.moving.contains(&own) && !counters.has(&name) {
        let why = format!("the device shows nothing of {}", port.name);
        return Err(trial.doubt(&why).into());
    }
    // A row that is not there has nothing in it, and a pool without shared headroom no such field.
    let got = counters.after(&name).unwrap_or(0);
    let by_rule = SizedFrom { own_xoff: None, ..from };
    let refused = got != holds && Bytes(got) == bytes(rule, pool_of(switch, &by_rule));
    if let Some(why) = own_headroom::limit_not_known(&from).filter(|_| refused) {
        let why = format!(
            "the switch has what the rule makes in place of an operator's own headroom, and {why}"
        );
        return Err(trial.doubt(&why).into());
    }
    let want = Prediction {
        unit: Unit::Bytes,
        span: Span::exactly(holds),
        formula,
        text: format!(
            "{name} {holds}B, for {} of cable at {}, an MTU of {}B and {}{}{}",
            from.cable,
            port.speed,
            switch.mtu.0.saturating_sub(BESIDE_IP),
            shared(&from),
            said(&from, profile),
            port.said(trial, switch, &from)
        ),
        source,
    };
    // A group that nothing passes may be one that the switch has not made yet.
    let passed = trial.observation.of_stream(index, (spec.to, Dir::Rx)).count();
    let looked = looked(passed, "frames that came through the switch's groups");
    Ok(TrialReading { span: Span::exactly(got), want, got: None, records: Vec::new(), looked })
}

/// An open port that cannot have what the rule makes for it.
fn unfit(switch: &Switch, from: &SizedFrom, classes: u64) -> Option<String> {
    let ports = (0..).map_while(|index| switch.port_speed(index).map(|_| index));
    let mut open = ports.filter(|index| switch.shut_port != Some(index + 1));
    let fits = |index: u16| {
        let speed = sized_speed::of_port(switch, from, index);
        speed.is_none_or(|speed| {
            own_headroom::fits(from, sizing(switch, from, speed).profile(), classes)
        })
    };
    open.find(|index| !fits(*index)).map(Switch::port_name)
}

/// Whether a port, of which the first is 1, is shut in the course of a trial.
fn was_shut(script: &Script, number: u16) -> bool {
    let shuts = |step: &Step| matches!(&step.action, Action::Configure(setting) if setting.path == SHUT && setting.value == number);
    script.steps.iter().any(shuts)
}

/// A switch as the steps of a trial have left it.
fn at_end(declared: &Switch, script: &Script) -> Switch {
    script.steps.iter().fold(declared.clone(), |switch, step| match &step.action {
        Action::Configure(setting) => switch.with(setting).unwrap_or(switch),
        _ => switch,
    })
}

/// The port whose headroom is looked at.
#[derive(Debug, Clone, Copy)]
struct SizedPort<'t> {
    name: &'t str,
    /// The first of the device is 1.
    number: u16,
    /// What its headroom is worked out for.
    speed: PortSpeed,
    negotiates: bool,
    is_shut: bool,
}

impl<'t> SizedPort<'t> {
    /// That behind port `at` of the rig.
    fn of(
        trial: &'t Trial,
        switch: &Switch,
        (from, at): (&SizedFrom, u16),
    ) -> Result<SizedPort<'t>, Unread> {
        let trace = &trial.observation.ports[usize::from(at)];
        let index = trial.script.dut_ports[usize::from(at)];
        let number = index + 1;
        let Some(speed) = sized_speed::of_port(switch, from, index) else {
            let why = format!(
                "{} negotiates, and nobody says which speeds (dynamic_buffer.supported)",
                trace.dut_port
            );
            return Err(trial.doubt(&why).into());
        };
        let negotiates = from.autoneg_port == Some(number);
        let speed = if negotiates { speed } else { trace.speed };
        for speed in [speed, trace.speed] {
            if speed.bps() >= EIGHT_LANES {
                let why =
                    format!("a port of {speed} may have eight lanes, of which nothing is said");
                return Err(Unread::NotApplicable(why));
            }
        }
        let is_shut = switch.shut_port == Some(number);
        Ok(SizedPort { name: &trace.dut_port, number, speed, negotiates, is_shut })
    }

    /// What is so of ports that are shut or negotiate, for people.
    fn said(&self, trial: &Trial, switch: &Switch, from: &SizedFrom) -> String {
        let of = |number: u16| Switch::port_name(number.saturating_sub(1));
        match switch.shut_port {
            Some(_) if self.is_shut => {
                return format!("; {} is shut, and has no lossless group", self.name);
            }
            Some(number) => return format!("; {} is shut, and takes nothing", of(number)),
            None => {}
        }
        if was_shut(&trial.script, self.number) {
            return format!("; {} was shut, and is open again", self.name);
        }
        match from.autoneg_port {
            Some(number) => {
                let what = if from.advertised.is_some() { "advertises" } else { "supports" };
                let speed = from.advertised.or(from.supported).unwrap_or(self.speed);
                format!("; {} negotiates, and {what} up to {speed}", of(number))
            }
            None => String::new(),
        }
    }
}

/// Why nothing shows that a limit is kept which nobody comes to, for people.
fn not_met(from: &SizedFrom) -> String {
    let own = from.own_xoff.map_or_else(
        || "no headroom of an operator's own".to_owned(),
        |own| format!("an operator's own xoff of {}B", own.0),
    );
    let most = from.max_headroom.map_or_else(
        || "no limit is declared (dynamic_buffer.max_headroom)".to_owned(),
        |most| format!("a port can have {}B", most.0),
    );
    format!("{own} is not refused, for {most}: the limit is not met")
}

/// What becomes of an operator's own headroom where this holds, for people.
fn said(from: &SizedFrom, holds: Profile) -> String {
    let Some(Bytes(xoff)) = from.own_xoff else { return String::new() };
    let Bytes(most) = from.max_headroom.unwrap_or_default();
    if holds.xoff == Bytes(xoff) {
        return format!("; an operator's own xoff of {xoff}B holds");
    }
    format!("; an operator's own xoff of {xoff}B is more than a port with {most}B can have")
}

/// What it does with headroom, for people.
fn shared(from: &SizedFrom) -> String {
    match from.ratio {
        0 => "no shared headroom".to_owned(),
        ratio => format!("shared headroom that is promised {ratio} times"),
    }
}

/// What the profile of a port is sized for.
fn sizing(switch: &Switch, from: &SizedFrom, speed: PortSpeed) -> Sizing {
    // 16 quanta of 64 B are a KiB.
    let own =
        Quanta(u16::try_from(u64::from(from.peer_response_time) * 16 / 1_000).unwrap_or(u16::MAX));
    Sizing {
        rule: Rule::Bytes,
        speed,
        cable: from.cable,
        port_mtu: Bytes(switch.mtu.0.saturating_sub(BESIDE_IP)),
        lossless_mtu: from.lossless_mtu,
        small_packets: from.small_packets,
        cell: switch.buffer.cell,
        pipeline_latency: from.pipeline_latency.into(),
        mac_phy_delay: from.mac_phy_delay.into(),
        gearbox: Dur::ZERO,
        peer: response_quanta(speed).unwrap_or(own),
        eight_lanes: false,
        generation: 3,
        shared: from.ratio > 0,
    }
}

/// How many lossless groups each of its ports has.
fn classes(switch: &Switch) -> u64 {
    u64::try_from(switch.qos.pfc_enable.len()).unwrap_or(u64::MAX)
}

/// The pool that its ports leave which are not shut.
fn pool_of(switch: &Switch, from: &SizedFrom) -> IngressPool {
    let ports = (0..).take_while(|port| switch.port_speed(*port).is_some());
    let open = ports.filter(|port| switch.shut_port != Some(port + 1));
    let speeds = open.filter_map(|port| sized_speed::of_port(switch, from, port));
    let classes = classes(switch);
    let of = |speed| own_headroom::in_effect(from, sizing(switch, from, speed).profile(), classes);
    let profiles: Vec<Profile> = speeds.map(of).collect();
    buffer_pool::pool(from, &profiles, classes)
}
