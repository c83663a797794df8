//! How long the slowest messages of a flow take from their first packet to their acknowledgement: a quantile of them, against what each may take by what is declared.
//!
//! A mean hides what a hundredth of the messages waits for, and an application waits for the slowest of many (A11: the tail with DCQCN as it comes, tuned, and without it). Of each
//! message it is known what its NICs may take: its packets what their limiter leaves them, by the CNPs so far, and its acknowledgement what the receiver declares. What the way takes the
//! rig has seen. So of every rank the value lies between the same ranks of the least and of the most that messages may take.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{FromStart, Known, Red, Tells, told};
use super::super::stamps::{self, Stamps};
use super::limited::Limited;
use super::{Passage, gap_stamps};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::quantile::{Ranks, ranks};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit, What};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Limiting, Part, Scope};
use rig_testcases::vocabulary::{Entry, FLOW, Looks, ValueKind, optional, required};
use rig_testcases::{Case, FlowSpec, Measure, RoceKind, Script};
use rig_units::{Dur, Ppm, Time, Within};
use std::collections::BTreeMap;

const SOURCE: &str = "Bai et al., NSDI'23, 4.3: tails of completions under DCQCN; order statistics";
const FORMULA: &str = "rank n q of: packets by their limiter + way + ack_latency + way back";
/// What the interval of the quantile leaves to chance.
const ALPHA: f64 = 0.05;

/// `rc.tail`.
pub(in super::super) static TAIL: Known = Known {
    entry: Entry {
        name: "rc.tail",
        parts: Some(&[Part::Rp, Part::Rc]),
        about: "a quantile of how long messages of a flow take from their first packet to their acknowledgement, with what chance leaves of it: as many as are slow by what CNPs and both NICs are declared to make of them",
        source: SOURCE,
        fields: &[
            FLOW,
            required(
                "quantile",
                ValueKind::Share,
                "a share, such as 99%",
                "of how many messages none took longer",
            ),
            optional(
                "from",
                ValueKind::Duration,
                "of messages that begin from then on; absent: from the trial's start",
            ),
        ],
        sense: of_messages,
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "the packets and the acknowledgement of a message, by what the limiter and the receiver may take; the timestamps of both ends",
    ),
    red: Red::Mutated("tail-without-dcqcn", "deviation=acks_stall"),
    on: |measure| measure.named("flow").to_owned(),
    expected: |measure, _, _| {
        let text = format!(
            "{} of its messages in what their packets, the way and the acknowledgement may take",
            quantile(measure)
        );
        told(text, FORMULA, SOURCE)
    },
    judge: |measure, done, judged| tail(done, measure, judged),
    stamps: Some(told_by),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    unpromised: Some(unknown),
    from_start: FromStart::Argument("from"),
    ..Known::USUAL
};

/// An acknowledgement by a part of the round trip; of a limiter that is told something, too, which packets left before each CNP.
fn told_by(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let name = measure.named("flow");
    let turns = stamps::turns(context, script, name)?;
    let flow = script.flows.iter().find(|flow| flow.name == name)?;
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(flow.nic))?)?;
    if !nic.rp.enable {
        return Some(turns);
    }
    let packet = gap_stamps::of_packets(name, context, script)?.within;
    stamps::told(turns.within.min(packet / 8), "an eighth of a packet, or of a round trip")
}

fn quantile(measure: &Measure) -> Ppm {
    measure.arguments.share("quantile").unwrap_or(Ppm(0))
}

/// Its messages are acknowledged, and none waits for another.
fn of_messages(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let flow = case.flows.get(name);
    let other = flow.filter(|flow| {
        flow.verb.waits() || flow.verb.is_unreliable() || flow.nic == flow.to || flow.app.is_some()
    });
    let fault = other.map(|_| {
        let found =
            format!("`rc.tail` of `{name}`, whose messages are not acknowledged one by one");
        case.fault("measure", found, "a flow from one NIC to another, with `verb: write` or `send`")
    });
    fault.into_iter().collect()
}

/// Why nothing says what a message may take.
fn unknown(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let name = measure.named("flow");
    let flow = script.flows.iter().find(|flow| flow.name == name)?;
    let nic = context.nics().behind(*script.dut_ports.get(usize::from(flow.nic))?)?;
    if nic.ets.classes.is_some() {
        return Some(
            "its NIC shares its port by classes: when a packet has its turn is left open"
                .to_owned(),
        );
    }
    let is_told = (nic.rp.scope, nic.rp.limiting) == (Scope::Qp, Limiting::Packet);
    (!is_told).then(|| {
        "its limiters hold back bursts, or several queue pairs: what a message has to wait for is not known".to_owned()
    })
}

/// A message that came through: what it took of each, and what it may have.
struct Through {
    took: Dur,
    least: Dur,
    most: Dur,
    /// By how much its packets, and its acknowledgement, were later than they may be.
    sent_late: Dur,
    acked_late: Dur,
    record: usize,
}

fn tail(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let (name, share) = (measure.named("flow"), quantile(measure));
    let from = Time::ZERO + measure.arguments.dur("from").unwrap_or_default();
    done.each("rc.tail", name, judged, |trial| {
        let all = messages(done, trial, (name, from))?;
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let q = f64::from(share.0) / 1e6;
        let ranks = ranks(count, q, ALPHA).ok_or_else(|| {
            let why = format!(
                "of {count} messages that came through all may be faster than {share} of them"
            );
            Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }
        })?;
        Ok(reading(name, share, &all, ranks))
    });
}

/// The value of a rank, counted from 1.
fn of_rank(sorted: &[Dur], rank: u32) -> Dur {
    let place = usize::try_from(rank).unwrap_or(usize::MAX).saturating_sub(1);
    sorted.get(place).or(sorted.last()).copied().unwrap_or_default()
}

fn reading(name: &str, share: Ppm, all: &[Through], ranks: Ranks) -> TrialReading {
    let sorted = |of: fn(&Through) -> Dur| {
        let mut values: Vec<Dur> = all.iter().map(of).collect();
        values.sort_unstable();
        values
    };
    let (took, least, most) =
        (sorted(|one| one.took), sorted(|one| one.least), sorted(|one| one.most));
    let [lo, hi] = [of_rank(&least, ranks.at), of_rank(&most, ranks.at)];
    let at = of_rank(&took, ranks.at);
    let chance = format!(
        "{} to {} by order statistics of {} messages",
        of_rank(&took, ranks.lo),
        of_rank(&took, ranks.hi),
        all.len()
    );
    let late = |of: fn(&Through) -> Dur| all.iter().filter(|one| of(one) > Dur::ZERO).count();
    let (sent, acked) = (late(|one| one.sent_late), late(|one| one.acked_late));
    let by = if at <= hi {
        String::new()
    } else if acked >= sent {
        let most = all.iter().map(|one| one.acked_late).max().unwrap_or_default();
        format!(
            "; {acked} of them were acknowledged too late by the other end, by up to {most} beyond what it may take"
        )
    } else {
        let most = all.iter().map(|one| one.sent_late).max().unwrap_or_default();
        format!("; packets of {sent} of them left later than its limiter asks for, by up to {most}")
    };
    let worst = all.iter().max_by_key(|one| one.took.saturating_sub(one.most));
    TrialReading {
        span: Span::exactly(at.0),
        want: Prediction {
            unit: Unit::Ps,
            span: Span { lo: lo.0, hi: hi.0 },
            formula: FORMULA,
            text: format!(
                "{share} of the messages of {name} within {lo} to {hi}, which chance leaves at {chance}"
            ),
            source: SOURCE,
        },
        got: Some(format!("{at}{by}")),
        records: worst.map(|one| one.record).into_iter().collect(),
        looked: looked(all.len(), "messages"),
    }
}

/// The messages of a flow that left whole, and began no sooner than `from`.
fn messages(
    done: &JudgeContext<'_>,
    trial: &Trial,
    (name, from): (&str, Time),
) -> Result<Vec<Through>, Doubt> {
    let doubt = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
    if trial.observation.records.iter().any(|one| matches!(one.what, What::Pfc { .. })) {
        return Err(doubt("a NIC was told to pause: what its messages may take is not known"));
    }
    let (index, spec) = trial.flow(name)?;
    let connection = trial.script.connection(index);
    let [near, far] = [spec.nic, spec.to].map(|port| Passage::of(done, trial, port));
    let limited = Limited::of(done, trial, name)?;
    let holds =
        limited.holds().ok_or_else(|| doubt("stamps leave too many orders open of its CNPs"))?;
    let psns: BTreeMap<usize, u32> =
        near.left.iter().map(|one| (one.record, one.roce.psn)).collect();
    in_order(&limited, &psns, spec).map_err(|why| doubt(&why))?;
    let own = |of: u16| of == connection;
    // When each packet reached the other NIC, and from when it is there by its pipeline.
    let came: BTreeMap<u32, (Time, Time)> = far
        .counted()
        .filter(|(one, _)| own(one.connection) && matches!(one.kind, RoceKind::Data { .. }))
        .map(|(one, passes)| (one.psn, (one.at, passes)))
        .collect();
    let said =
        far.left.iter().filter(|one| own(one.roce.connection) && one.roce.kind == RoceKind::Ack);
    let said: Vec<(Psn, Time)> = said.map(|one| (Psn::new(one.roce.psn), one.at)).collect();
    let heard = near.reached.iter().filter(|one| own(one.connection) && one.kind == RoceKind::Ack);
    let heard: BTreeMap<u32, Time> = heard.map(|one| (one.psn, one.at)).collect();
    let rc = &far.nic.rc;
    let held = rc.ack_held.map_or(Dur::ZERO, Within::most);
    let answers = far.apart.range(rc.ack_latency);
    let answers =
        Within::between(answers.least(), answers.most() + far.apart.most(held) + far.busy);
    let packets = usize::try_from(spec.message.div_ceil(spec.mtu.max(1)).max(1)).unwrap_or(1);
    let open = (near.bound + far.bound) * 2;
    let mut next = said.iter().peekable();
    let mut all = Vec::new();
    for (place, frames) in limited.frames.chunks_exact(packets).enumerate() {
        let (first, last) = (frames[0], frames[packets - 1]);
        if first.1 < from {
            continue;
        }
        let number = psns.get(&last.0).copied().unwrap_or(0);
        let unfinished =
            || doubt(&format!("message {} of {name} was not acknowledged in the trial", place + 1));
        let &(reached, passes) = came.get(&number).ok_or_else(unfinished)?;
        let ahead = |psn: Psn| psn == Psn::new(number) || psn.ahead_of(Psn::new(number)).is_some();
        while next.next_if(|(psn, _)| !ahead(*psn)).is_some() {}
        let &&(psn, acked) = next.peek().ok_or_else(unfinished)?;
        let through = heard.get(&psn.get()).copied().ok_or_else(unfinished)?;
        let since = |from: Time, until: Time| until.since(from).unwrap_or_default();
        let held = &holds[place * packets..place * packets + packets - 1];
        let least: Dur = held.iter().map(|[least, _]| *least).sum();
        let most: Dur = held.iter().map(|[_, most]| *most + limited.allowance).sum();
        let (least, most) = (limited.apart.least(least), limited.apart.most(most));
        let sending = since(first.1, last.1);
        let answering = since(passes, acked);
        let way = since(last.1, reached) + since(reached, passes) + since(acked, through);
        all.push(Through {
            took: since(first.1, through),
            least: (least + way + answers.least()).saturating_sub(open),
            most: most + way + answers.most() + open,
            sent_late: sending.saturating_sub(most + open),
            acked_late: answering.saturating_sub(answers.most() + open),
            record: first.0,
        });
    }
    Ok(all)
}

/// Whether each packet was sent once, in order.
fn in_order(limited: &Limited, psns: &BTreeMap<usize, u32>, spec: &FlowSpec) -> Result<(), String> {
    let first = Psn::new(spec.psn);
    for ((record, ..), packet) in limited.frames.iter().zip(0_u32..) {
        if psns.get(record) != Some(&first.advance(packet & 0xff_ffff).get()) {
            return Err(format!(
                "{} sent something again: what its messages may take is not known",
                spec.name
            ));
        }
    }
    Ok(())
}
