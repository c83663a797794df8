//! What one tenant of a NIC gets beside its neighbours: no less than its turns leave it of the port, and of the host at the other end, as these are declared.
//!
//! Each case is a field of a matrix: who takes, from whom (Kong et al., NSDI'23). Where less is left, what is told is who took it and which resource it is that
//! is shared worse than declared.

mod blame;
mod load;

use self::blame::{Taken, blame};
use self::load::{Tenants, words};
use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, told};
use super::super::stamps;
use super::Passage;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::neighbours::Round;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Fault, Limiting, Part, Scope};
use rig_testcases::vocabulary::{ByPfc, Entry, FLOW, Looks, WINDOW};
use rig_testcases::{Action, Case, Measure, RoceKind, Script};
use rig_units::{Bytes, Dur, Quanta, Time, Within};

const SOURCE: &str = "Kong et al., NSDI'23 (Husky): isolation by attacker and victim";
const FORMULA: &str =
    "W / max(wire, host) of a round of one packet each; what others left of W / slot";

/// `rate.beside`.
pub(in super::super) static BESIDE: Known = Known {
    entry: Entry {
        name: "rate.beside",
        parts: Some(&[Part::Rp, Part::Rc, Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "packets of one tenant of a NIC between two instants, beside all else that both NICs send, and beside what a host sends to itself: no fewer than its turns leave it of what the NICs are declared to share",
        source: SOURCE,
        fields: &[FLOW, WINDOW[1], WINDOW[2]],
        check: |given| {
            given.ordered();
            true
        },
        sense: always_sends,
        looks: &[Looks::EVERY_FRAME],
        over_ipv6: true,
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "a packet of each queue pair at either end of the stretch; of a host that is slow, what may wait for it, and what each read may take",
    ),
    red: Red::Mutated("small-messages-beside-large-ones", "deviation=turn_of_a_message"),
    on,
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        let seen = script.as_ref().and_then(|script| Tenants::of(measure, context, script));
        let Some(tenants) = seen else { return told("nothing: its flow is not there", "", SOURCE) };
        let Some(round) = tenants.round(context) else {
            return told("nothing: when its receiver asks for a pause is not declared", "", SOURCE);
        };
        let by = if round.is_by_host() { "the host" } else { "the wire" };
        let text = format!(
            "beside {}: a packet in {} of {by} at the least, and what others leave of the port",
            words(&tenants),
            round.lasts()
        );
        told(text, FORMULA, SOURCE)
    },
    judge: |measure, done, judged| beside(done, measure, judged),
    stamps: Some(|measure, _, _| {
        let (from, until) = stretch(measure);
        stamps::told(
            until.saturating_sub(from) / 10,
            "a tenth of the time between the two instants",
        )
    }),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    unpromised: Some(undeclared),
    tells_rate: true,
    ..Known::USUAL
};

fn on(measure: &Measure) -> String {
    measure.named("flow").to_owned()
}

/// The stretch that it looks at.
fn stretch(measure: &Measure) -> (Dur, Dur) {
    let of = |key| measure.arguments.dur(key).unwrap_or(Dur::ZERO);
    (of("from"), of("until"))
}

/// The tenant has something to send all the time, and waits for nobody.
fn always_sends(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let flow = case.flows.get(name);
    let other = flow.filter(|flow| {
        flow.verb.waits() || flow.nic == flow.to || flow.count.is_some() || flow.app.is_some()
    });
    let fault = other.map(|_| {
        let found = format!("`rate.beside` of `{name}`, which does not send all the time");
        let want = "a flow without a `count` from one NIC to another, with `verb: write` or `send`";
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// Why nothing says what is left for the tenant.
fn undeclared(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let tenants = Tenants::of(measure, context, script)?;
    let (nic, host) = (tenants.sender, &tenants.receiver.host);
    if nic.ets.classes.is_some() {
        return Some(
            "it shares its port by classes, and how flows of one class do is left open".to_owned(),
        );
    }
    if (nic.rp.scope, nic.rp.limiting) != (Scope::Qp, Limiting::Packet) {
        return Some(
            "its limiters hold back bursts, or several queue pairs: how long a turn is is not known"
                .to_owned(),
        );
    }
    if host.pcie.is_none() && (host.contexts.is_some() || host.loopback.is_some()) {
        return Some("`host.pcie` is not declared: nothing says what its host takes".to_owned());
    }
    if host.mtt.is_none() && (host.page.is_some() || host.region.is_some()) {
        return Some(
            "`host.mtt` is not declared: nothing says how many pages its NIC has at hand"
                .to_owned(),
        );
    }
    let unknown = tenants.round(context).is_none();
    unknown.then(|| "when its receiver asks for a pause is not declared".to_owned())
}

fn beside(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let (from, until) = stretch(measure);
    done.each("rate.beside", &on(measure), judged, |trial| {
        let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
        let tenants = Tenants::of(measure, done.context, &trial.script)
            .ok_or_else(|| doubt("its flow is not in the script"))?;
        let round = tenants.round(done.context);
        let round =
            round.ok_or_else(|| doubt("when its receiver asks for a pause is not known"))?;
        let within = (Time::ZERO + from, Time::ZERO + until);
        quiet(trial, &tenants, within).map_err(|why| doubt(&why))?;
        let seen = Passage::of(done, trial, tenants.spec.nic);
        if within.1 > seen.until {
            return Err(doubt("what leaves at the end does not reach the rig in the trial").into());
        }
        let taken = Taken::of(trial, &tenants, &seen, within);
        let open = seen.bound * 2;
        let lasts = seen.apart.range(Within::exactly(until - from));
        let lasts = Within::between(lasts.least().saturating_sub(open), lasts.most() + open);
        let reading = reading(&tenants, &round, &taken, (lasts, open));
        if reading.want.span.lo == 0 {
            return Err(doubt("it lasts for no more than a round: nothing is too little").into());
        }
        Ok(reading)
    });
}

/// Whether nothing held the tenant but its neighbours.
fn quiet(trial: &Trial, tenants: &Tenants<'_>, (from, until): (Time, Time)) -> Result<(), String> {
    let (script, spec) = (&trial.script, tenants.spec);
    if !script.streams.is_empty() || !script.storms.is_empty() {
        return Err("frames of the rig are among those of the queue pairs".to_owned());
    }
    let at = |action: Action| {
        let step = script.steps.iter().find(|step| step.action == action);
        step.map(|step| Time::ZERO + step.at)
    };
    let began = at(Action::StartFlow(tenants.index)).is_some_and(|at| at <= from);
    let lasts = at(Action::StopFlow(tenants.index)).is_none_or(|at| at >= until);
    if !(began && lasts) {
        return Err(format!("{} does not send all the time", spec.name));
    }
    if tenants.others.iter().any(|(other, _)| other.class != spec.class) {
        return Err("a neighbour has another priority, which is paused by itself".to_owned());
    }
    let own = script.connection(tenants.index);
    for one in &trial.observation.records {
        let What::Roce(roce) = one.what else { continue };
        let told = match roce.kind {
            RoceKind::Cnp { .. } => true,
            RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) => roce.connection == own,
            RoceKind::Ack | RoceKind::Data { .. } | RoceKind::ReadRequest => false,
        };
        if told {
            return Err(format!(
                "{} was asked for something again, or somebody told to slow down",
                spec.name
            ));
        }
    }
    Ok(())
}

/// What the tenant got, beside what it has to get.
fn reading(
    tenants: &Tenants<'_>,
    round: &Round,
    taken: &Taken,
    (lasts, open): (Within, Dur),
) -> TrialReading {
    // What is not the tenant's may seem to be within the stretch, as well as what is may seem not to be.
    let by_turns = round.passes(lasts.least(), taken.answers + open, taken.pauses);
    let by_rest = round.left(lasts.least(), taken.others + open);
    let (lo, alone) = (by_turns.max(by_rest), round.alone(lasts.most()));
    let why = if by_rest > by_turns {
        format!("neighbours took {} of the port", taken.others)
    } else if round.is_by_host() {
        format!("a packet of each takes the host {}", round.lasts())
    } else {
        format!("a packet of each takes the port {}", round.lasts())
    };
    let name = &tenants.spec.name;
    let want = Prediction {
        unit: Unit::Frames,
        span: Span { lo, hi: alone },
        formula: FORMULA,
        text: format!(
            "at least {lo} packets of {name}, of {alone} alone, beside {}: {why}",
            words(tenants)
        ),
        source: SOURCE,
    };
    let got = taken.packets(tenants);
    let said = if got < lo {
        format!("{got} packets: {}", blame(tenants, round, taken, lasts))
    } else {
        let share = got.saturating_mul(100) / alone.max(1);
        format!("{got} packets, {share} % of what it sends alone")
    };
    TrialReading {
        span: Span::exactly(got),
        want,
        got: Some(said),
        records: taken.longest_wait.clone(),
        looked: looked(usize::try_from(got).unwrap_or(usize::MAX), "packets"),
    }
}

/// How often the host of the receiver asked for a pause of a class between two instants, and for how long in all: until it said XON, or as much longer.
fn pauses(trial: &Trial, tenants: &Tenants<'_>, (from, until): (Time, Time)) -> (u64, Dur) {
    let class = usize::from(tenants.spec.class);
    let (mut count, mut paused, mut since) = (0, Dur::ZERO, None);
    for one in trial.observation.records.iter().filter(|one| one.at < until) {
        let What::Pfc { enable, quanta } = one.what else { continue };
        if (one.port, one.dir) != (tenants.spec.to, Dir::Rx) || enable >> class & 1 == 0 {
            continue;
        }
        if quanta[class] > Quanta(0) {
            count += u64::from(one.at >= from);
            since = since.or(Some(one.at.max(from)));
        } else if let Some(since) = since.take() {
            paused += one.at.since(since).unwrap_or_default();
        }
    }
    let last = since.and_then(|since| until.since(since)).unwrap_or_default();
    (count, paused + last)
}

/// What a frame of so many bytes takes on the wire of the sender.
fn slot(trial: &Trial, tenants: &Tenants<'_>, size: u16) -> Dur {
    trial.observation.ports[usize::from(tenants.spec.nic)].speed.slot(Bytes(size.into()))
}
