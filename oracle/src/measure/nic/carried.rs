//! What a flow gets through: how much of it a second, and all of it by when. What has got through is what the wire shows: what was
//! acknowledged, of a READ what was brought. To the rig, which acknowledges nothing, it is what reached it.

mod got;
mod half_kept;
mod into_memory;
mod longest;
mod losses;
mod mended;
mod predicted;
mod unready;

use self::got::Carried;
use self::longest::Longest;
use self::mended::Mended;
use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread};
use super::super::measurement::{FromStart, Known, Red, Tells, by_source, in_words};
use super::{BEHIND, gap_stamps};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::rc::SOURCE;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::{Span, Unit};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::{Entry, FLOW, Field, Looks, ValueKind, optional};
use rig_testcases::{Case, Measure, Script};
use rig_units::{Dur, Time};

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
                ValueKind::Word(&["predicted", "mended"]),
                "`predicted`: what the CNPs that came leave it, its port, the way and both NICs, by what is declared: no less and no more; `mended`: no less than what go-back-N leaves of what the rig lost of it; absent: what the case says",
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
                let want =
                    "`at_least: 40Gbps-L2`, `at_most:` or both, or `expect: predicted` or `mended`";
                given.at.fault(found, want);
            }
            wanted
        },
        looks: &[Looks::EVERY_FRAME],
        sense: |measure, case| match measure.arguments.word("expect") {
            Some("mended") => losses::of_messages(measure, case),
            _ => predicted::between_two(measure, case),
        },
        over_ipv6: true,
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of both ends, over the time between them"),
    red: Red::Mutated("rate-over-a-long-way", "nic.rp.timer=x2"),
    expected: |measure, _, _| match measure.arguments.word("expect") {
        Some("mended") => losses::expected(),
        Some(_) => by_source(predicted::TEXT.to_owned(), predicted::SOURCE),
        None => in_words(wanted(measure)),
    },
    judge: |measure, done, judged| goodput(done, measure, judged),
    from_start: FromStart::Unless("expect"),
    stamps: Some(|measure, context, script| {
        let of = match measure.arguments.word("expect")? {
            "mended" => losses::stamps,
            _ => gap_stamps::of_predicted,
        };
        of(measure.named("flow"), context, script)
    }),
    unpromised: Some(unpromised),
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

/// Why nothing is promised of what a flow gets through.
fn unpromised(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    into_memory::kept_by_host(measure, context, script)
        .or_else(|| half_kept::unmended(measure, context, script))
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
        over_ipv6: true,
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
    unpromised: Some(unpromised),
    from_start: FromStart::Argument("by"),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// Judges what of a flow gets through on average, against what the case wants.
fn goodput(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let flow = measure.named("flow");
    let from = measure.arguments.dur("from").unwrap_or_default();
    done.each("rate.goodput", flow, judged, |trial| {
        let carried = Carried::of(done, trial, flow)?;
        let start = Time::ZERO + from;
        let want = match longest(done, trial, measure) {
            _ if measure.arguments.word("expect") == Some("mended") => {
                losses::of(done, trial, flow, (&carried, start))?
            }
            _ if measure.arguments.word("expect").is_some() => {
                predicted::between(done, trial, flow, (&carried, start))?
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
        let until = longest.map_or(Dur::ZERO, |longest| longest.until);
        let by = by.unwrap_or(trial.script.length).max(until);
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
