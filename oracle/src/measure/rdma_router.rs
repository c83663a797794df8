//! What a software RDMA router lets through, and how long it takes to hand something over: what its one core, the copies and the token
//! buckets leave of a NIC.

pub(super) mod admission;
pub(super) mod migration;
pub(super) mod registration;
pub(super) mod shares;
pub(super) mod stall;

use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{Judged, looked};
use super::measurement::{FromStart, Known, Red, Tells, told};
use super::stamps;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::rdma_router::{self as spec, SOURCE, Stretch, Turns};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::nic::{self, Left};
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::Part;
use rig_lab::declared::RdmaRouter;
use rig_testcases::vocabulary::{Entry, FLOW, Looks};
use rig_testcases::{Action, FlowSpec, RoceKind, Verb};
use rig_units::{Bytes, Dur, PortSpeed, Time, Within};

/// What both measures are.
const OF_FLOW: Entry = Entry {
    parts: Some(&[Part::RdmaRouter]),
    source: "FreeFlow: Kim et al., NSDI'19",
    fields: &[FLOW],
    looks: &[Looks::EVERY_FRAME],
    ..Entry::USUAL
};

/// `rdma_router.rate`.
pub(super) static RATE: Known = Known {
    entry: Entry {
        name: "rdma_router.rate",
        about: "what a container gets through, payload alone, from its first message to its last: what the core, its copies, its bucket and the port leave it",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of both ends, over the time between them"),
    red: Red::Mutated("caps-of-whole-units", "deviation=bucket_bypassed"),
    expected: |_, context, _| {
        let router = router(context.nics());
        let cap = router.cap.map_or("no cap".to_owned(), |cap| format!("a cap of {cap}"));
        let text = format!(
            "{} a request, {} of sleep, {cap}, a burst of {}",
            router.request, router.sleep, router.burst
        );
        told(text, "K M 8 / max(N request + K sleep, ((K + 1) M - burst) 8 / cap, wire)", SOURCE)
    },
    judge: |measure, done, judged| rate(done, measure.named("flow"), judged),
    stamps: Some(|_, _, script| stamps::steps(script)),
    ..Known::USUAL
};

/// `rdma_router.handover`.
pub(super) static HANDOVER: Known = Known {
    entry: Entry {
        name: "rdma_router.handover",
        about: "from a container's call to the first bit of its first packet: what the router adds to a NIC that nothing is in front of",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of the packet that shows it"),
    red: Red::Mutated("handover-of-one-side", "rdma_router.request=x1.1"),
    expected: |_, context, _| {
        let router = router(context.nics());
        let text = format!("{} a request, {} of sleep", router.request, router.sleep);
        told(text, "request, M 8 / copy of a SEND, and a sleep at most", SOURCE)
    },
    judge: |measure, done, judged| handover(done, measure.named("flow"), judged),
    stamps: Some(|measure, context, script| {
        let flow = script.flows.iter().find(|flow| flow.name == measure.named("flow"))?;
        let (message, copied) = (Bytes(flow.message.into()), flow.verb == Verb::Send);
        let takes = spec::hand_over(router(context.nics()), message, copied);
        stamps::told(takes.least(), "what a hand-over takes")
    }),
    from_start: FromStart::Everything,
    ..Known::USUAL
};

/// What is declared of the router.
fn router(nics: &rig_lab::Nics) -> &RdmaRouter {
    nics.rdma_router.as_ref().expect("what such a router has is measured of one")
}

/// The same for the container that a flow is of.
fn capped(nics: &rig_lab::Nics, of: &FlowSpec) -> RdmaRouter {
    let router = *router(nics);
    RdmaRouter { cap: of.container.cap.or(router.cap), ..router }
}

/// What one flow and those beside it sent, by the first packets of their messages.
struct Sent<'a> {
    spec: &'a FlowSpec,
    connection: u16,
    left: Vec<Left>,
    speed: PortSpeed,
}

impl<'a> Sent<'a> {
    fn of(trial: &'a Trial, flow: &str) -> Result<Sent<'a>, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let left = nic::left(&trial.observation, spec.nic);
        let speed = trial.observation.ports[usize::from(spec.nic)].speed;
        Ok(Sent { spec, connection: trial.script.connection(index), left, speed })
    }

    /// The first packets of messages, of all flows.
    fn messages(&self) -> impl Iterator<Item = &Left> {
        self.left.iter().filter(|one| match one.roce.kind {
            RoceKind::Data { first, response, .. } => first && !response,
            RoceKind::ReadRequest => true,
            _ => false,
        })
    }

    /// The same of its own, with how many came before.
    fn own(&self) -> impl Iterator<Item = (u64, &Left)> {
        let first = Psn::new(self.spec.psn);
        let packets = u64::from(self.spec.message.div_ceil(self.spec.mtu.max(1)));
        let own = self.messages().filter(|one| one.roce.connection == self.connection);
        own.filter_map(move |one| {
            let ahead = Psn::new(one.roce.psn).ahead_of(first)?;
            Some((u64::from(ahead) / packets.max(1), one))
        })
    }

    /// What lies between its messages at most.
    fn gap(&self, router: &RdmaRouter, others: u64) -> Dur {
        let message = Bytes(self.spec.message.into());
        let packets = u64::from(self.spec.message.div_ceil(self.spec.mtu.max(1)));
        let sizes = self.left.iter().filter(|one| one.roce.connection == self.connection);
        let own = sizes.map(|one| self.takes(one)).max().unwrap_or_default();
        let frame = self.left.iter().map(|one| self.takes(one)).max().unwrap_or_default();
        let copied = self.spec.verb == Verb::Send;
        let wire = own * packets;
        let beside = spec::Beside { others, message, copied, packets, wire, frame };
        spec::gap(router, &beside)
    }

    /// A stretch that ended at `last` with one message more of each who takes turns.
    fn one_more(&self, stretch: &Stretch, last: Time) -> Stretch {
        let rest = self.left.iter().filter(|one| last <= one.at).map(|one| self.takes(one));
        Stretch {
            own: stretch.own + 1,
            all: stretch.all + stretch.sharing,
            wire: stretch.wire + rest.sum::<Dur>(),
            ..*stretch
        }
    }

    fn takes(&self, one: &Left) -> Dur {
        self.speed.slot(Bytes(one.roce.size.into()))
    }

    /// How far off the instant may be at which a frame began to leave: by its stamp, and by what the longest takes of another clock.
    fn blur(&self, done: &JudgeContext<'_>, trial: &Trial) -> Dur {
        let longest = self.left.iter().map(|one| self.takes(one)).max().unwrap_or_default();
        trial.observation.bound() + Dur(done.context.apart().part(longest.0))
    }
}

/// When the one start of a flow was.
fn started(trial: &Trial, flow: &str) -> Result<Time, Doubt> {
    let (index, _) = trial.flow(flow)?;
    let starts = trial.script.steps.iter();
    let mut starts = starts.filter(|step| step.action == Action::StartFlow(index));
    match (starts.next(), starts.next()) {
        (Some(start), None) => Ok(Time::ZERO + start.at),
        _ => Err(trial.doubt(&format!("{flow} is not started once"))),
    }
}

/// When a flow is stopped, or the trial is over.
fn ends(trial: &Trial, flow: u16) -> Time {
    let stops = trial.script.steps.iter().filter(|step| step.action == Action::StopFlow(flow));
    Time::ZERO + stops.map(|step| step.at).min().unwrap_or(trial.script.length)
}

/// Flows beside `flow` that are started on its NIC.
fn beside(trial: &Trial, flow: u16) -> impl Iterator<Item = (u16, &FlowSpec)> {
    let script = &trial.script;
    let starts =
        |index: u16| script.steps.iter().any(|step| step.action == Action::StartFlow(index));
    let nic = script.flows[usize::from(flow)].nic;
    let all = (0_u16..).zip(&script.flows);
    all.filter(move |(index, spec)| *index != flow && spec.nic == nic && starts(*index))
}

/// Judges what a flow gets through.
fn rate(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.rate", flow, judged, |trial| {
        let sent = Sent::of(trial, flow)?;
        let few = || Doubt {
            reason: NOT_MEASURED,
            ..trial.doubt(&format!("{flow} sent too few messages to tell a rate"))
        };
        let (_, first) = sent.own().find(|(before, _)| *before == 0).ok_or_else(few)?;
        let (own, last) = sent.own().last().filter(|(own, _)| *own > 0).ok_or_else(few)?;
        let until = trial.flow(flow).map(|(index, spec)| asked_until(trial, index, spec, own))?;
        let within = |one: &&Left| first.at < one.at && one.at <= last.at;
        let mut sharing: Vec<u16> =
            sent.messages().filter(within).map(|one| one.roce.connection).collect();
        let all = u64::try_from(sharing.len()).unwrap_or(u64::MAX);
        sharing.sort_unstable();
        sharing.dedup();
        let alike = alike(trial, flow)?;
        // Who may be refused takes a turn, and sends nothing.
        let silent = trial.flow(flow).map(|(index, _)| beside(trial, index))?;
        let silent = silent.filter(|(_, spec)| spec.container.may_be_refused).count();
        let in_turn = silent == 0 && sharing.iter().all(|one| alike.contains(one));
        let count = if in_turn { alike.len() } else { sharing.len() + silent };
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let meanwhile = sent.left.iter().filter(|one| first.at <= one.at && one.at < last.at);
        let stretch = Stretch {
            own,
            all: if in_turn { own * count } else { all },
            sharing: count,
            in_turn,
            message: Bytes(sent.spec.message.into()),
            copied: sent.spec.verb == Verb::Send,
            wire: meanwhile.map(|one| sent.takes(one)).sum(),
            frame: sent.left.iter().map(|one| sent.takes(one)).max().unwrap_or_default(),
            turns: turns(trial, flow)?,
        };
        let router = &capped(done.context.nics(), sent.spec);
        let apart = done.context.apart();
        let blur = sent.blur(done, trial) * 2;
        // A router that stands still sends no message that would end the stretch: it is told by the one that is overdue.
        let overdue = until.is_some_and(|until| {
            let next = sent.one_more(&stretch, last.at);
            in_turn && first.at + apart.range(spec::takes(router, &next).0).most() + blur < until
        });
        let (own, stretch) = match overdue {
            true => (own + 1, sent.one_more(&stretch, last.at)),
            false => (own, stretch),
        };
        let (takes, by) = spec::takes(router, &stretch);
        let takes = apart.range(takes);
        let bytes = Bytes(own * stretch.message.0);
        // Sums of rounded times: a picosecond a message.
        let off = Dur(own);
        let [least, most] = [takes.least().saturating_sub(off), takes.most() + off];
        let want = Prediction {
            unit: Unit::Bps,
            span: Span { lo: bits(bytes, most), hi: bits(bytes, least) },
            formula: "K M 8 / max(N request + K sleep, ((K + 1) M - burst) 8 / cap, wire)",
            text: format!(
                "{} to {}: {own} messages of {} by {}",
                Unit::Bps.show(bits(bytes, most)),
                Unit::Bps.show(bits(bytes, least)),
                stretch.message,
                by.words()
            ),
            source: SOURCE,
        };
        let came = until.filter(|_| overdue).unwrap_or(last.at);
        let took = came - first.at;
        let least = if overdue { 0 } else { bits(bytes, took + blur) };
        let span = Span { lo: least, hi: bits(bytes, took.saturating_sub(blur)) };
        let got = overdue.then(|| {
            let silent = came - last.at;
            format!("nothing in the last {silent} of the time that it is asked for, after {own} messages")
        });
        let records = vec![first.record, last.record];
        let looked = looked(usize::try_from(own).unwrap_or(usize::MAX), "messages");
        Ok(TrialReading { span, want, got, records, looked })
    });
}

/// Until when a flow has more to send than the `own` messages after its first, where it is not at its end.
fn asked_until(trial: &Trial, index: u16, spec: &FlowSpec, own: u64) -> Option<Time> {
    // What is left of another flow comes to an end by itself.
    let more = spec.container.takes_over.is_none()
        && spec.count.is_none_or(|count| own + 1 < u64::from(count));
    let stops = trial.script.steps.iter().filter(|step| step.action == Action::StopFlow(index));
    let until = stops.map(|step| step.at).min().unwrap_or(trial.script.length);
    more.then_some(Time::ZERO + until)
}

/// The connections of all flows that ask for what `flow` does, whenever it does: it, too.
fn alike(trial: &Trial, flow: &str) -> Result<Vec<u16>, Doubt> {
    let (own, spec) = trial.flow(flow)?;
    let script = &trial.script;
    let when = |index: u16| -> Vec<_> {
        let steps = script.steps.iter().filter_map(|step| match step.action {
            Action::StartFlow(of) if of == index => Some((step.at, true)),
            Action::StopFlow(of) if of == index => Some((step.at, false)),
            _ => None,
        });
        steps.collect()
    };
    let is = |(index, other): &(u16, &FlowSpec)| {
        let asks = |of: &FlowSpec| {
            (of.nic, of.verb, of.message, of.count, of.container.cap, of.container.memory)
        };
        asks(other) == asks(spec) && when(*index) == when(own)
    };
    let alike = (0..).zip(&script.flows).filter(is);
    Ok(alike.map(|(index, _)| script.connection(index)).collect())
}

/// Who takes turns with a flow, where all are of one class: no class waits for another one then.
fn turns(trial: &Trial, flow: &str) -> Result<Option<Turns>, Doubt> {
    let (own, spec) = trial.flow(flow)?;
    let of_one_class = beside(trial, own).all(|(_, other)| other.class == spec.class);
    let of = u64::try_from(beside(trial, own).count() + 1).unwrap_or(u64::MAX);
    let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)));
    Ok(of_one_class.then_some(Turns { of, packets }))
}

/// Bits a second of so many bytes in that time.
fn bits(bytes: Bytes, took: Dur) -> u64 {
    let bits = u128::from(bytes.0) * 8 * 1_000_000_000_000;
    u64::try_from(bits / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
}

/// Judges how long the first message of a flow takes to its NIC.
fn handover(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rdma_router.handover", flow, judged, |trial| {
        let (_, spec) = trial.flow(flow)?;
        let sent = Sent::of(trial, flow)?;
        let called = started(trial, flow)?;
        let Some((_, first)) = sent.own().find(|(before, _)| *before == 0) else {
            let why = format!("{flow} sent nothing");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        };
        if sent.messages().any(|one| {
            one.at <= first.at && one.record != first.record && one.at + sent.takes(one) > called
        }) {
            let why = format!("others sent while {flow} was handed over");
            return Err(trial.doubt(&why).into());
        }
        let message = Bytes(spec.message.into());
        let copied = spec.verb == Verb::Send;
        let alone = spec::hand_over(router(done.context.nics()), message, copied);
        let takes: Within = done.context.apart().range(alone);
        let want = Prediction {
            unit: Unit::Ps,
            span: Span { lo: takes.least().0, hi: takes.most().0 },
            formula: "request, M 8 / copy of a SEND, and a sleep at most",
            text: format!("{takes} more than of a NIC alone"),
            source: SOURCE,
        };
        let blur = sent.blur(done, trial);
        let took = first.at.since(called).unwrap_or_default();
        let span = Span { lo: took.saturating_sub(blur).0, hi: (took + blur).0 };
        let looked = looked(1, "first packets");
        Ok(TrialReading { span, want, got: None, records: vec![first.record], looked })
    });
}
