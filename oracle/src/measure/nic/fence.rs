//! Whether SENDs wait for all before them to be acknowledged, and what they get through if they do.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::super::stamps;
use super::rc::{End, sent_and_came};
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::fence::{Message, Start, starts};
use crate::judge::nic::rc::{Event, Sent, acknowledged};
use crate::spec::nic::fence::{goodput, period};
use crate::spec::nic::rc::Says;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Record, Span, Unit, What};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, FlowSpec, Measure, RoceKind, Verb};
use rig_units::{Bytes, Dur, Quanta, Time, Within};

const SOURCE: &str = "Bai et al., NSDI'23, section 5: a fast registration that waits";

/// `rc.fence`.
pub(in super::super) static FENCE: Known = Known {
    entry: Entry {
        name: "rc.fence",
        parts: Some(&[Part::Rc]),
        about: "SENDs that wait for all before them to be acknowledged: behind registrations where `nic.rc.fmr_fence` says so, and nowhere else; where they do, one a round trip",
        source: SOURCE,
        sense: sends,
        ..OF_FLOW
    },
    tells: Tells::Each("message; of the rate, what answers and the port leave open"),
    red: Red::Mutated("no-fence-by-message-size", "deviation=fmr_fence_hidden"),
    expected: |measure, context, _| {
        let verb = context.case.flows.get(measure.named("flow")).map(|flow| flow.verb);
        let text = match verb.and_then(|verb| fenced(verb, context.nics().nic.rc.fmr_fence)) {
            Some(true) => "one message a round trip",
            Some(false) => "each message right behind the one before it",
            None => "nothing: `nic.rc.fmr_fence` is not declared",
        };
        by_source(text, SOURCE)
    },
    judge: |measure, done, judged| fence(done, measure.named("flow"), judged),
    stamps: Some(|measure, context, script| stamps::turns(context, script, measure.named("flow"))),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// Whether messages wait for one another; `None` where nothing is declared of that.
fn fenced(verb: Verb, declared: Option<bool>) -> Option<bool> {
    match verb {
        Verb::SendRegistered => declared,
        _ => Some(false),
    }
}

/// It is of SENDs from one NIC to another.
fn sends(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let is_such = |verb| matches!(verb, Verb::Send | Verb::SendRegistered);
    let other = case.flows.get(name).filter(|flow| !is_such(flow.verb) || flow.nic == flow.to);
    let fault = other.map(|_| {
        let found = format!("`rc.fence` of `{name}`, whose messages wait for nothing, or always");
        case.fault(
            "measure",
            found,
            "a flow from one NIC to another with `verb: send-registered` or `send`",
        )
    });
    fault.into_iter().collect()
}

/// What of a flow left, message by message.
struct Seen<'a> {
    passage: Passage<'a>,
    messages: Vec<Message>,
    starts: Vec<Start>,
    /// When what is not of the flow left by the port.
    others: Vec<Time>,
    /// What the packets of one message take of the wire.
    on_wire: Dur,
}

impl<'a> Seen<'a> {
    fn of(
        done: &JudgeContext<'a>,
        trial: &Trial,
        (spec, end): (&FlowSpec, &End),
    ) -> Result<Seen<'a>, Doubt> {
        let passage = Passage::of(done, trial, end.port);
        let (sent, came, _) = sent_and_came(end, &passage);
        if let Some(why) = held(trial, &passage, &came.1, end) {
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
        }
        let in_order = (0_u32..).zip(&sent.1).all(|(nth, one)| one.psn == end.first.advance(nth));
        if !in_order {
            let why = "packets left again, or out of their order: which of them wait is not told";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) });
        }
        let speed = trial.observation.ports[usize::from(end.port)].speed;
        let packets = u64::from(spec.message.div_ceil(spec.mtu)).max(1);
        let progress = acknowledged(end.first, &sent.1, &came.1, passage.bound * 2);
        let size = |record: &usize| match trial.observation.records[*record].what {
            What::Data { size, .. } => size,
            What::Roce(roce) => roce.size,
            _ => 0,
        };
        let slot = |record| speed.slot(Bytes(size(record).into()));
        let per_message = usize::try_from(packets).unwrap_or(usize::MAX);
        let all: Vec<(&usize, &Sent)> = sent.0.iter().zip(&sent.1).collect();
        let whole = all.chunks_exact(per_message);
        let messages: Vec<Message> = (1..)
            .zip(whole)
            .map(|(nth, packets_of): (u64, _)| {
                let (first, last) = (packets_of[0], packets_of[per_message - 1]);
                Message {
                    began: first.1.at,
                    ended: last.1.at + slot(last.0),
                    acknowledged: progress.reached(nth * packets).map(|step| step.at),
                    record: *first.0,
                }
            })
            .collect();
        let on_wire = all.iter().take(per_message).map(|(record, _)| slot(record)).sum();
        let own = |connection: u16| connection == end.connection;
        let others = passage.left.iter().filter(|one| !own(one.roce.connection));
        let others: Vec<Time> = others.map(|one| one.at).collect();
        let starts = starts(&messages, &others, (passage.bound * 2, passage.busy));
        Ok(Seen { passage, messages, starts, others, on_wire })
    }

    /// How many messages show that, and the first of them.
    fn shown(&self, is: impl Fn(Start) -> bool) -> (usize, Option<&Message>) {
        let next = self.messages.iter().skip(1);
        let mut such = next.zip(&self.starts).filter(|(_, start)| is(**start));
        let first = such.next().map(|(message, _)| message);
        (such.count() + usize::from(first.is_some()), first)
    }
}

/// What else may have held a flow back, or sent it again.
fn held(trial: &Trial, seen: &Passage<'_>, came: &[Event], end: &End) -> Option<String> {
    let asked = came.iter().any(|one| !matches!(one.says, Says::Ack));
    let slowed = seen.reached.iter().any(|one| matches!(one.kind, RoceKind::Cnp { .. }));
    let stops = |one: &Record| match one.what {
        What::Pfc { quanta, .. } => quanta.iter().any(|quanta| *quanta > Quanta(0)),
        _ => false,
    };
    let mut to_it = trial.observation.records.iter();
    let paused = to_it.any(|one| (one.port, one.dir) == (end.port, Dir::Tx) && stops(one));
    let what = match (asked, slowed, paused) {
        (true, ..) => "NAKs",
        (_, true, _) => "CNPs",
        (.., true) => "pauses",
        _ => return None,
    };
    Some(format!("{what} reached the NIC, which may have waited for those"))
}

fn fence(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rc.fence", flow, judged, |trial| {
        let (spec, end) = (trial.flow(flow)?.1, End::sender(trial, flow)?);
        let nic = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::data(&nic, end.connection) {
            return spoilt.read(trial);
        }
        let waits = declared(spec, &nic)?;
        let seen = Seen::of(done, trial, (spec, &end))?;
        let (free, first_free) = seen.shown(|start| start == Start::Free);
        let (waited, first_waited) = seen.shown(|start| matches!(start, Start::Waited(_)));
        if free + waited == 0 {
            let why = format!("no message of {flow} shows whether it waited for the one before it");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let all = free + waited;
        let idle = seen.starts.iter().filter_map(|start| match start {
            Start::Waited(idle) => Some(*idle),
            _ => None,
        });
        let longest = Unit::Ps.show(idle.max().unwrap_or_default().0);
        let part = nic.part;
        let (wrong, first, got, text) = match waits {
            true => (
                free,
                first_free,
                format!("{free} of {all} messages began before the one before them was acknowledged: no fence held them"),
                format!("each message once all before it is acknowledged, as {part}.rc.fmr_fence declares"),
            ),
            false if spec.verb == Verb::Send => (
                waited,
                first_waited,
                format!("{waited} of {all} SENDs that register nothing waited until all before them was acknowledged, for up to {longest} at an idle port"),
                "each message right behind the one before it: it registers nothing".to_owned(),
            ),
            false => (
                waited,
                first_waited,
                format!("{waited} of {all} messages waited until all before them was acknowledged, for up to {longest} at an idle port: a fence that is not declared"),
                format!("each message right behind the one before it: {part}.rc.fmr_fence declares no fence"),
            ),
        };
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text,
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(wrong).unwrap_or(u64::MAX));
        let records = first.map(|message| message.record).into_iter().collect();
        Ok(TrialReading { span, want, got: Some(got), records, looked: looked(all, "messages") })
    });
    done.several("rc.fence", judged, |trial| {
        let read = rate(done, trial, flow);
        Ok(read.map(|read| (format!("{flow} a round trip"), read)).into_iter().collect())
    });
}

/// Whether the messages of a flow have to wait for one another.
fn declared(spec: &FlowSpec, nic: &Passage<'_>) -> Result<bool, Unread> {
    fenced(spec.verb, nic.nic.rc.fmr_fence).ok_or_else(|| {
        Unread::NotApplicable(format!("`{}.rc.fmr_fence` is not declared", nic.part))
    })
}

/// What a flow behind a fence gets through where nothing else took its port, against the closed form.
fn rate(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Option<TrialReading> {
    let (spec, end) = (trial.flow(flow).ok()?.1, End::sender(trial, flow).ok()?);
    let seen = Seen::of(done, trial, (spec, &end)).ok()?;
    let alone = seen.starts.iter().all(|start| matches!(start, Start::Waited(_)));
    let waits = declared(spec, &seen.passage).ok()?;
    let (.., between) = trial.script.between.as_ref()?;
    let [first, .., last] = &seen.messages[..] else { return None };
    if !alone || !waits {
        return None;
    }
    let messages = u64::try_from(seen.messages.len() - 1).unwrap_or(u64::MAX);
    let (took, blur) = (last.began.since(first.began)?, seen.passage.bound * 2);
    // A frame of another flow in the middle of a message holds the rest of it up.
    let meanwhile = |at: &Time| *at + blur >= first.began && *at <= last.began + blur;
    if seen.others.iter().any(meanwhile) {
        return None;
    }
    let message = Bytes(spec.message.into());
    let of = |took: Dur| goodput(Bytes(message.0 * messages), took);
    let span = Span { lo: of(took + blur), hi: of(took.saturating_sub(blur)) };
    let other = Passage::of(done, trial, spec.to);
    let longest = seen.passage.left.iter().map(|one| one.roce.size).max()?;
    let ports = [spec.nic, spec.to].map(|port| &trial.observation.ports[usize::from(port)]);
    let speed = ports[0].speed;
    let spread = ports.iter().map(|port| port.bound()).sum::<Dur>();
    let least_way = ports.iter().map(|port| port.way(0)).sum::<Dur>() + between.delay;
    let frame = ports.iter().map(|port| port.speed.slot(Bytes(longest.into()))).sum::<Dur>();
    let most_way = ports.iter().map(|port| port.way(longest)).sum::<Dur>() + between.delay + frame;
    let (rc, misses) = (other.nic.rc, other.nic.receive.miss + seen.passage.nic.receive.miss);
    let held = rc.ack_held.map_or(Dur::ZERO, Within::most);
    let turns = other.busy + seen.passage.busy + spread * 2;
    let least = least_way * 2 + rc.ack_latency.least();
    let most = most_way * 2 + rc.ack_latency.most() + held + misses + turns;
    let gap = speed.slot(Bytes(0));
    let soonest = period(seen.on_wire.saturating_sub(gap), least, true);
    let latest = period(seen.on_wire, most, true);
    let apart = seen.passage.apart;
    let want = Span {
        lo: goodput(message, apart.most(latest)),
        hi: goodput(message, apart.least(soonest)),
    };
    let one = Dur(took.0 / messages);
    Some(TrialReading {
        span,
        want: Prediction {
            unit: Unit::Bps,
            span: want,
            formula: "message / (its time on the wire + round trip)",
            text: format!(
                "one message of {message} a round trip: each {} to {}",
                apart.least(soonest),
                apart.most(latest)
            ),
            source: SOURCE,
        },
        got: Some(format!("{}, one message each {one}", Unit::Bps.show(span.lo))),
        records: vec![first.record, last.record],
        looked: looked(seen.messages.len() - 1, "round trips"),
    })
}
