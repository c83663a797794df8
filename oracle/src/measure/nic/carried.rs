//! What a flow gets through: how much of it a second, and all of it by when. What has got through is what the wire shows: what was
//! acknowledged, of a READ what was brought. To the rig, which acknowledges nothing, it is what reached it.

mod longest;
mod mended;
mod predicted;
mod unready;

use self::longest::Longest;
use self::mended::Mended;
use self::unready::Unready;
use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread};
use super::super::measurement::{FromStart, Known, Red, Tells, by_source, in_words};
use super::rc::{End, says};
use super::{BEHIND, Passage, gap_stamps, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rc::{Event, Progress, Sent, Step, acknowledged, brought};
use crate::spec::nic::rc::{Packet, SOURCE};
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::{Entry, FLOW, Field, Looks, ValueKind, optional};
use rig_testcases::{Action, Case, FlowSpec, Measure, RoceKind, Verb};
use rig_units::{Bytes, Dur, Time};

/// `rate.goodput`.
pub(in super::super) static GOODPUT: Known = Known {
    entry: Entry {
        name: "rate.goodput",
        parts: Some(&[Part::Rp]),
        about: "what of a flow is acknowledged on average from some instant on, payload alone; of a READ what is brought",
        source: "what the case wants",
        fields: &[
            FLOW,
            optional("from", ValueKind::Duration, "from when on; absent: from the trial's start"),
            optional("at_least", ValueKind::Rate, "the least that the case wants"),
            optional("at_most", ValueKind::Rate, "the greatest that the case wants"),
            optional(
                "expect",
                ValueKind::Word(&["predicted"]),
                "what the CNPs that came leave it, its port, the way and both NICs, by what is declared: no less and no more; absent: what the case says",
            ),
            OR,
        ],
        check: |given| {
            let says = |keys: &[&str]| keys.iter().any(|key| given.says(key));
            let (itself, predicted) = (says(&["at_least", "at_most"]), given.says("expect"));
            let wanted = itself != predicted && !(predicted && says(&["or"]));
            if !wanted {
                let found = match itself || predicted {
                    true => "it is predicted, and the case wants something itself",
                    false => "nothing is wanted of it",
                };
                let want = "`at_least: 40Gbps-L2`, `at_most:` or both, or `expect: predicted`";
                given.at.fault(found, want);
            }
            wanted
        },
        looks: &[Looks::EVERY_FRAME],
        sense: predicted::between_two,
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of both ends, over the time between them"),
    red: Red::Mutated("rate-over-a-long-way", "nic.rp.timer=x2"),
    expected: |measure, _, _| match measure.arguments.word("expect") {
        Some(_) => by_source(predicted::TEXT.to_owned(), predicted::SOURCE),
        None => in_words(wanted(measure)),
    },
    judge: |measure, done, judged| goodput(done, measure, judged),
    from_start: FromStart::Unless("expect"),
    stamps: Some(|measure, context, script| {
        measure.arguments.word("expect")?;
        gap_stamps::of_predicted(measure.named("flow"), context, script)
    }),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// What a case wants is of an ordinary lab: over a longer way, or of slower NICs, no more is wanted than these leave. Of what a NIC sends to the rig
/// its declared reaction point leaves so much and no more.
const OR: Field = optional(
    "or",
    ValueKind::Word(&["declared"]),
    "what is wanted where NICs, cables and what is between leave less by what is declared of them: so much; of what goes to the rig, what its limiter is declared to let out, where stamps tell; absent: what the case says",
);

/// What is declared of a flow's way and ends leaves so long for it, if the case is content with that.
fn longest(done: &JudgeContext<'_>, trial: &Trial, measure: &Measure) -> Option<Longest> {
    measure.arguments.word("or")?;
    Longest::of(done, trial, measure.named("flow"))
}

/// What a case wants of a goodput.
fn wanted(measure: &Measure) -> Prediction {
    let [least, most] = ["at_least", "at_most"].map(|key| measure.arguments.rate(key));
    let span = Span { lo: least.unwrap_or(0), hi: most.unwrap_or(u64::MAX) };
    let show = |bps| Unit::Bps.show(bps);
    Prediction {
        unit: Unit::Bps,
        span,
        formula: "payload acknowledged over the time that it took; to the trial's end where messages are not",
        text: match (span.lo, span.hi) {
            (0, most) => format!("at most {}", show(most)),
            (least, u64::MAX) => format!("at least {}", show(least)),
            (least, most) => format!("{} to {}", show(least), show(most)),
        },
        source: "the case",
    }
}

/// The rig acknowledges nothing.
fn somebody_acknowledges(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let to_rig = case.flows.get(name).filter(|of| of.nic == of.to);
    let fault = to_rig.map(|_| {
        let found = format!("`{name}` goes to the rig, which acknowledges nothing");
        case.fault("measure", found, "a flow from one NIC to another")
    });
    fault.into_iter().collect()
}

/// `rc.completion`.
pub(in super::super) static COMPLETION: Known = Known {
    entry: Entry {
        name: "rc.completion",
        parts: Some(&[Part::Rc]),
        about: "every message of a flow is acknowledged, and by when; of a READ, brought",
        source: "IBTA volume 1, chapter 9.7",
        fields: &[
            FLOW,
            optional(
                "by",
                ValueKind::Duration,
                "when the last one has to be; absent: at the trial's end",
            ),
            optional(
                "unfinished",
                ValueKind::Whole("a number of messages"),
                "how many messages never are, where the case is about that",
            ),
            OR,
        ],
        looks: &[Looks::EVERY_FRAME],
        sense: somebody_acknowledges,
        ..Entry::USUAL
    },
    tells: Tells::Each("message"),
    red: Red::Written,
    expected: |measure, _, _| {
        let all = match measure.arguments.whole("unfinished").unwrap_or(0) {
            0 => "every message acknowledged".to_owned(),
            some => format!("every message but {some} acknowledged"),
        };
        let by = measure.arguments.dur("by");
        let by = by.map_or("by the end of the trial".to_owned(), |by| format!("by {by}"));
        by_source(format!("{all}, {by}"), SOURCE)
    },
    judge: completion,
    from_start: FromStart::Argument("by"),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// What of a flow got through in one trial.
struct Carried<'a> {
    spec: &'a FlowSpec,
    progress: Progress,
    /// Records of what shows it, in the order of its steps' indices.
    shown_by: Vec<usize>,
    /// Packets of a message.
    packets: u64,
    /// What RNR NAKs leave open of when it is done.
    unready: Unready,
    /// How far each stamp may be off.
    bound: Dur,
    /// Until when the flow was to send, if it did not end by itself.
    until: Time,
    /// The trial's end.
    end: Time,
}

impl<'a> Carried<'a> {
    fn of(done: &JudgeContext<'_>, trial: &'a Trial, flow: &str) -> Result<Carried<'a>, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let connection = trial.script.connection(index);
        let first = End::sender(trial, flow)?.first;
        let packets = u64::from(spec.message.div_ceil(spec.mtu));
        let bound = trial.observation.bound();
        let seen = Passage::of(done, trial, spec.nic);
        spoilt::by_whom(trial, &seen, connection)?;
        let left = seen.left.iter().filter(|one| one.roce.connection == connection);
        let reached = seen.reached.iter().filter(|one| one.connection == connection);
        let (shown_by, progress) = if spec.verb == Verb::Read {
            let (records, came): (Vec<usize>, Vec<Packet>) = reached
                .filter_map(|one| data(one.kind, one.at, one.psn).map(|data| (one.record, data)))
                .unzip();
            let asked = left.filter(|one| one.roce.kind == RoceKind::ReadRequest);
            let ahead = asked.filter_map(|one| Psn::new(one.roce.psn).ahead_of(first));
            // A request is for its whole message, or for what is left of it.
            let messages = ahead.map(|ahead| u64::from(ahead) / packets + 1).max();
            (records, brought(first, messages.unwrap_or(0) * packets, &came))
        } else if spec.nic == spec.to {
            let (records, came): (Vec<usize>, Vec<Packet>) = left
                .filter_map(|one| {
                    data(one.roce.kind, one.at, one.roce.psn).map(|data| (one.record, data))
                })
                .unzip();
            let sent = u64::try_from(came.len()).unwrap_or(u64::MAX);
            (records, brought(first, sent, &came))
        } else {
            let (records, came): (Vec<usize>, Vec<Event>) = reached
                .filter_map(|one| {
                    let says = says(one.kind)?;
                    Some((one.record, Event { at: one.at, says, psn: Psn::new(one.psn) }))
                })
                .unzip();
            let sent: Vec<Sent> = left
                .filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }))
                .map(|one| Sent { at: one.at, psn: Psn::new(one.roce.psn) })
                .collect();
            (records, acknowledged(first, &sent, &came, bound * 2))
        };
        if progress.sent == 0 {
            return Err(trial.doubt(&format!("{flow} sent nothing")));
        }
        let end = Time::ZERO + trial.script.length;
        let stops = trial.script.steps.iter().filter(|step| step.action == Action::StopFlow(index));
        let until = stops.map(|step| Time::ZERO + step.at).max().unwrap_or(end);
        let unready = Unready::of(trial, spec, connection, &seen);
        Ok(Carried { spec, progress, shown_by, packets, unready, bound, until, end })
    }

    /// Whether the rig is its other end, which acknowledges nothing.
    fn goes_to_the_rig(&self) -> bool {
        self.spec.nic == self.spec.to && self.spec.verb != Verb::Read
    }

    /// Messages that should get through: those that it is to send, or else those that it has sent whole.
    fn messages(&self) -> u64 {
        self.spec.count.map_or(self.progress.sent / self.packets, u64::from)
    }

    /// Messages that did.
    fn finished(&self) -> u64 {
        (self.progress.through() / self.packets).min(self.messages())
    }

    /// Payload of the flow's first packets, in bytes.
    fn payload(&self, packets: u64) -> u64 {
        let (whole, rest) = (packets / self.packets, packets % self.packets);
        whole * u64::from(self.spec.message) + rest * u64::from(self.spec.mtu)
    }

    /// The payload that got through between the first step from `from` on and the last one, and how many packets had before each.
    fn through(&self, from: Time) -> Option<(u64, [u64; 2])> {
        let steps = &self.progress.steps;
        let [first, .., last] = &steps[steps.partition_point(|step| step.at < from)..] else {
            return None;
        };
        let packets = [first.packets, last.packets];
        Some((self.payload(last.packets) - self.payload(first.packets), packets))
    }

    /// How long so many messages take the wire, at the speed of the port that they leave by.
    fn least(&self, trial: &Trial, messages: u64) -> Dur {
        let speed = trial.observation.ports[usize::from(self.spec.nic)].speed;
        speed.serialise(Bytes(messages * u64::from(self.spec.message)))
    }

    /// Whether messages are left of which nothing got through for half of the time that there was.
    fn hangs(&self) -> bool {
        let last = self.progress.steps.last().map_or(Time::ZERO, |step| step.at);
        self.finished() < self.messages() && (last - Time::ZERO) * 2 < self.until - Time::ZERO
    }

    fn record(&self, step: Step) -> Option<usize> {
        self.shown_by.get(step.by).copied()
    }
}

/// A packet of data.
fn data(kind: RoceKind, at: Time, psn: u32) -> Option<Packet> {
    let RoceKind::Data { last, .. } = kind else { return None };
    Some(Packet { at, psn: Psn::new(psn), last })
}

/// Judges what of a flow gets through on average, against what the case wants.
fn goodput(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let flow = measure.named("flow");
    let from = measure.arguments.dur("from").unwrap_or_default();
    done.each("rate.goodput", flow, judged, |trial| {
        let carried = Carried::of(done, trial, flow)?;
        let start = Time::ZERO + from;
        let want = match longest(done, trial, measure) {
            _ if measure.arguments.word("expect").is_some() => {
                predicted_of(done, trial, flow, (&carried, start))?
            }
            Some(longest) => longest.of_rate(wanted(measure), &carried, start),
            None if measure.arguments.word("or").is_some() && carried.goes_to_the_rig() => {
                let sent = carried.through(start).zip(rate(&carried, start));
                let sent = sent.map(|((bytes, _), (_, shown))| (bytes, shown));
                predicted::to_the_rig(done, trial, flow, wanted(measure), sent)?
            }
            None => wanted(measure),
        };
        let line = trial.observation.ports[usize::from(carried.spec.nic)].speed;
        if want.span.lo > line.bps() {
            let why = format!("{} of {line} is more than there is", want.text);
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        if want.span.lo == 0 && carried.hangs() {
            let why = format!("{flow} got nothing through for the latter half of its time: that it is slow shows nothing");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let (span, records) = rate(&carried, Time::ZERO + from)
            .ok_or_else(|| trial.doubt(&format!("of {flow} too little got through to tell a rate")))?;
        if span.hi < want.span.lo
            && let Some(mended) = Mended::of(done, trial, flow)
            && let Some(why) = mended.slows(&carried, Time::ZERO + from, want.span.lo)
        {
            let why = format!("{} is more than {flow} can get through: {why}", want.text);
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        // Of what was sent nothing may have got through, which is a rate of 0.
        let looked = Looked { count: carried.progress.sent, of: "packets" };
        Ok(TrialReading { span, want, got: None, records, looked })
    });
}

/// What is predicted of a goodput from `from` on.
fn predicted_of(
    done: &JudgeContext<'_>,
    trial: &Trial,
    flow: &str,
    (carried, from): (&Carried<'_>, Time),
) -> Result<Prediction, Doubt> {
    let none = || trial.doubt(&format!("of {flow} too little got through to tell a rate"));
    let longest = Longest::of(done, trial, flow).ok_or_else(none)?;
    let (bytes, least) = longest.least(carried, from).ok_or_else(none)?;
    let (_, packets) = carried.through(from).ok_or_else(none)?;
    let mut steps = carried.progress.steps.iter();
    let shown = steps.find(|step| step.at >= from).ok_or_else(none)?.at;
    let through = predicted::Through { bytes, packets, shown, least, uneven: longest.uneven };
    predicted::of(done, trial, flow, &through)
}

/// Payload a second that gets through, between the first step from `from` on and the last one, with the records of both. Where messages
/// do not get through the time goes on to the trial's end. One or no step spans no time: what there is counts over all the time that the
/// flow had. `None`: it had ended by itself.
fn rate(carried: &Carried<'_>, from: Time) -> Option<(Span, Vec<usize>)> {
    let (before, steps) = carried
        .progress
        .steps
        .split_at(carried.progress.steps.partition_point(|step| step.at < from));
    let stuck = carried.finished() < carried.messages();
    let (start, had, until) = match steps {
        [first, .., last] => (first.at, first.packets, if stuck { carried.end } else { last.at }),
        _ if stuck => (from, before.last().map_or(0, |step| step.packets), carried.end),
        _ if carried.spec.count.is_none() => {
            (from, before.last().map_or(0, |step| step.packets), carried.until)
        }
        _ => return None,
    };
    let got = steps.last().map_or(had, |last| last.packets);
    let bytes = carried.payload(got) - carried.payload(had);
    let took = until.since(start).filter(|took| *took > Dur::ZERO)?;
    let rate = |took: Dur| {
        let bits_ps = u128::from(bytes) * 8 * 1_000_000_000_000;
        u64::try_from(bits_ps / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
    };
    let blur = carried.bound * 2;
    let span = Span { lo: rate(took + blur), hi: rate(took.saturating_sub(blur)) };
    let shown = steps.first().into_iter().chain(steps.last());
    let mut records: Vec<usize> = shown.filter_map(|step| carried.record(*step)).collect();
    records.dedup();
    Some((span, records))
}

/// Judges whether every message of a flow gets through, and by when.
fn completion(measure: &Measure, done: &JudgeContext<'_>, judged: &mut Judged) {
    let (flow, by) = (measure.named("flow"), measure.arguments.dur("by"));
    let unfinished = u64::from(measure.arguments.whole("unfinished").unwrap_or(0));
    done.each("rc.completion", flow, judged, |trial| {
        let carried = Carried::of(done, trial, flow)?;
        let (messages, finished) = (carried.messages(), carried.finished());
        if messages == 0 {
            return Err(trial.doubt(&format!("{flow} sent no whole message")).into());
        }
        let least = carried.least(trial, messages.saturating_sub(unfinished));
        if trial.script.length < least {
            let why = format!(
                "{messages} messages of {flow} take the wire for {least}, and the trial for {}",
                trial.script.length
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        if messages - finished > unfinished
            && let Some(why) = &carried.unready.untried
        {
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        if messages - finished > unfinished
            && let Some(longest) = longest(done, trial, measure)
        {
            longest.fits(trial, flow)?;
        }
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(unfinished),
            formula: "messages less those of which every packet is acknowledged",
            text: match unfinished {
                0 => format!("all {messages} messages acknowledged"),
                some => format!("all of {messages} messages but {some} acknowledged"),
            },
            source: SOURCE,
        };
        let last = carried.progress.steps.last();
        let got = match last {
            Some(last) => format!(
                "{finished} of {messages} messages, and nothing more after {}",
                Unit::Ps.show(last.at.0)
            ),
            None => format!("none of {messages} messages"),
        };
        let span = Span::exactly(messages - finished);
        let records = last.and_then(|last| carried.record(*last)).into_iter().collect();
        let looked = Looked { count: messages, of: "messages" };
        Ok(TrialReading { span, want, got: Some(got), records, looked })
    });
    done.each("rc.completion", &format!("{flow}, the last message"), judged, |trial| {
        let carried = Carried::of(done, trial, flow)?;
        let last = carried.messages().saturating_sub(unfinished);
        if last == 0 {
            return Err(Unread::NotApplicable("no message is to get through".to_owned()));
        }
        let longest = longest(done, trial, measure);
        let takes = longest.map_or(Dur::ZERO, |longest| longest.takes);
        let by = by.unwrap_or(trial.script.length).max(takes);
        let least = carried.least(trial, last);
        if by < least {
            let why = format!(
                "{last} messages of {flow} take the wire for {least}: none is done by {by}"
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let (until, text) = carried.unready.until(by);
        let span = Span { lo: 0, hi: until.0 };
        let want = Prediction { unit: Unit::Ps, span, formula: "", text, source: "the case" };
        let step = carried.progress.reached(last * carried.packets);
        if let Some(why) = carried.unready.untried.as_ref().filter(|_| step.is_none()) {
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        if let Some(longest) = longest.filter(|_| step.is_none()) {
            longest.fits(trial, flow)?;
        }
        // What has not come by the end has no time.
        let (lo, hi, got) = match step {
            Some(step) => {
                let bound = carried.bound;
                (step.at.saturating_sub(bound).0, (step.at + bound).0, None)
            }
            None => {
                let end = carried.end.0;
                (u64::MAX, u64::MAX, Some(format!("not by {}", Unit::Ps.show(end))))
            }
        };
        if lo > until.0
            && let Some(mended) = Mended::of(done, trial, flow)
            && by < mended.first(last * carried.packets)
        {
            let told = mended.told(mended.first(last * carried.packets));
            let why = format!("{last} messages of {flow} take {told}: none is done by {by}");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let records = step.and_then(|step| carried.record(step)).into_iter().collect();
        let looked = Looked { count: 1, of: "last messages" };
        Ok(TrialReading { span: Span { lo, hi }, want, got, records, looked })
    });
}

#[cfg(test)]
mod tests;
