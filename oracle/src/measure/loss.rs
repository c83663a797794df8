//! Frames that were sent and never arrived.

use super::blame;
use super::drains::drains_as_it_fills;
use super::ecn;
use super::judge_context::{JudgeContext, TrialReading, wanted};
use super::judged::Judged;
use super::legs::{Leg, PASSING, SWITCHES, legs};
use super::limits;
use super::measurement::{Known, Red, Tells};
use super::served;
use super::stamps::{self, Stamps};
use crate::Prediction;
use crate::judge::StormTrial;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::analyse;
use rig_capture::fate::Delays;
use rig_capture::passage::before_its_end;
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Action, Backlog, DropBy, Form, RuleFamily};
use rig_testcases::vocabulary::{
    Entry, Given, Looks, STREAM, Senders, StreamEnds, ValueKind, optional,
};
use rig_testcases::{Case, Measure, Script, StormSpec, StreamRate, StreamSpec, Tap, Wanted};
use rig_units::{Dur, Quanta, Within};

/// The stream of a case that leaves it to what is predicted.
fn predicted_of<'a>(measure: &'a Measure, _: &'a Case) -> Vec<&'a str> {
    match measure.wanted("expect") {
        Wanted::Predicted => measure.streams(),
        Wanted::None | Wanted::Some | Wanted::All => Vec::new(),
    }
}

/// Such a one that is a load and may meet a stormed queue: what reaches that is counted frame by frame.
fn stormed_load<'a>(measure: &'a Measure, case: &'a Case) -> Vec<&'a str> {
    let meets = |name: &&str| {
        let Some(stream) = case.streams.get(*name) else { return false };
        let load = matches!(stream.rate, StreamRate::Load(_));
        load && case.storms.values().any(|storm| {
            let passes = stream.to == storm.from || stream.from == storm.from;
            passes && storm.classes.contains(&stream.class)
        })
    };
    predicted_of(measure, case).into_iter().filter(meets).collect()
}

/// Whether the receiver of the stream pauses its class, so that none of it is lost only where each device on the way passes that back.
fn is_paused(measure: &Measure, case: &Case) -> bool {
    let Some(stream) = case.streams.get(measure.named("stream")) else { return false };
    let mut storms = case.storms.values();
    storms.any(|storm| storm.from == stream.to && storm.classes.contains(&stream.class))
}

/// Whoever sends to a NIC gets nothing back of it that could be counted.
fn leaves_the_device(given: &Given<'_>) -> bool {
    let names = given.of.names("stream").unwrap_or_default();
    let of = |name: &&String| given.streams.get(*name).is_some_and(|of| of.from == of.to);
    if let Some(name) = names.iter().find(of) {
        let port = &given.streams[name].from;
        let want = "rc.receiver or nic.counters, which tell what a NIC received: nothing of the stream leaves it again";
        given.fault(
            "stream",
            format!("the loss of `{name}`, which ends at the NIC behind {port}"),
            want,
        );
    }
    true
}

/// A load that is paused again and again loses nothing where the rig stops in time. Where a process serves the device each trial is held against that
/// by how late both were in it; but with MACsec, where each frame of a load takes both of them longest.
fn paused_in_time(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let (at, spec) = stamps::stream(script, measure.named("stream"))?;
    let is_load = matches!(spec.rate, StreamRate::Load(_));
    let none = measure.wanted("expect") == Wanted::None;
    let is_in_clear = context.group.declared.switch().is_some_and(|of| !of.macsec.enable);
    let each_trial = context.is_served() && is_in_clear;
    if !none || !is_load || each_trial || !drains_as_it_fills(context, script, at) {
        return None;
    }
    let speed = stamps::speed(context, script, spec.from);
    let limit = limits::held_back(context, script, (spec, speed))?;
    Some(Stamps { within: limit.within, why: limit.why })
}

/// `loss`.
pub(super) static LOSS: Known = Known {
    entry: Entry {
        name: "loss",
        parts: Some(&[]),
        loses: true,
        about: "frames of a stream that were sent and never arrived",
        source: "F4, F5, F10 to F12",
        fields: &[
            STREAM,
            optional(
                "expect",
                ValueKind::Count,
                "how many the case wants; absent: what is predicted",
            ),
        ],
        check: leaves_the_device,
        looks: &[
            Looks::FOLLOWS,
            Looks {
                key: ".rate",
                ..Looks::of(
                    stormed_load,
                    StreamEnds::In,
                    Tap::All,
                    "of the load `{}` is predicted from every frame",
                )
            },
        ],
        senders: Senders::Obey(predicted_of),
        ..Entry::USUAL
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("isolation-of-queue-and-port-broadcom", "deviation=drop_spreads_to_queue"),
    // What waits for tokens at the end of a trial is not lost, and nobody sees it wait.
    at_line_rate: true,
    unpromised: Some(served::loses),
    stamps: Some(paused_in_time),
    crosses: |measure, case| match measure.wanted("expect") {
        Wanted::Predicted => &[],
        // What knows no pause drops what it would have to hold, unless a case for such a device says how much that is.
        Wanted::None
            if is_paused(measure, case) && case.over.is_none_or(|over| over.has("pfc")) =>
        {
            SWITCHES
        }
        Wanted::None | Wanted::Some | Wanted::All => PASSING,
    },
    expected: |measure, context, _| {
        let text = match measure.wanted("expect") {
            Wanted::None => "no frame lost",
            Wanted::Some => "at least one frame lost",
            Wanted::All => "every frame lost",
            Wanted::Predicted => {
                let pfcwd = context.group.declared.switch().map(|switch| &switch.pfcwd);
                let drops = pfcwd.filter(|pfcwd| pfcwd.action == Action::Drop);
                let of = context.case.streams.get(measure.named("stream"));
                let meets = |storm: &rig_testcases::case::Storm| {
                    of.zip(drops).is_some_and(|(of, pfcwd)| {
                        let enters = of.from == storm.from && pfcwd.drop_by == DropBy::Acl;
                        storm.classes.contains(&of.class) && (of.to == storm.from || enters)
                    })
                };
                if context.case.storms.values().any(meets) {
                    "lost is what reaches the stormed queue from detection to restoration"
                } else {
                    "no frame lost: none of it meets the drop action"
                }
            }
        };
        vec![("wanted", text.to_owned())]
    },
    judge: |measure, done, judged| {
        judge(done, measure.named("stream"), measure.wanted("expect"), judged);
    },
    limits: |measure, context, script, observation| {
        if matches!(measure.wanted("expect"), Wanted::Some | Wanted::All) {
            return Vec::new();
        }
        let spec = script.streams.iter().find(|spec| spec.name == measure.named("stream"));
        let limit = spec.and_then(|spec| limits::lossless(context, script, observation, spec));
        limit.into_iter().collect()
    },
    tells_frames: true,
    over_memories: |measure| measure.wanted("expect") == Wanted::None,
    ..Known::USUAL
};

/// What a frame of the stream takes from the last bit into the first device to the first bit out of the last one, where all are
/// idle.
fn crossing(done: &JudgeContext<'_>, trial: &Trial, spec: &StreamSpec) -> Within {
    legs(done.context, &trial.script, spec).iter().fold(Within::ZERO, |all, leg| {
        let onward = leg.onward.map_or(Dur::ZERO, |(speed, cable)| speed.slot(spec.size) + cable);
        all + leg.transit() + onward.into()
    })
}

/// Why frames of the stream may stand between two devices however idle the port to the rig is: one device pauses the other for as
/// long as a receiver of the class is paused and what came for it is held, or frames of another stream stand before them.
fn held_between(done: &JudgeContext<'_>, trial: &Trial, spec: &StreamSpec) -> Option<String> {
    let legs = legs(done.context, &trial.script, spec);
    let slots = legs.iter().filter_map(|leg| Some(leg.onward?.0.slot(spec.on_wire())));
    let slowest = slots.max()?;
    if trial.script.streams.len() > 1 {
        return Some("other streams may be in their way between the devices".to_owned());
    }
    let gap = match spec.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(rate) => {
            let speed = trial.observation.ports[usize::from(spec.from)].speed;
            rate.pace(spec.size, speed).gap()
        }
    };
    if gap < slowest {
        return Some("they come faster than a link between the devices carries them".to_owned());
    }
    let paused = (0_u16..).zip(&trial.observation.ports).find(|(port, _)| {
        let mut words = trial.observation.words((*port, Dir::Tx), spec.class);
        words.any(|(.., quanta)| quanta > Quanta(0))
    });
    let lossless = |leg: &Leg<'_>| leg.is_lossless(spec.class);
    let (_, port) = paused.filter(|_| legs.windows(2).any(|pair| pair.iter().all(lossless)))?;
    let (class, name) = (spec.class, &port.name);
    Some(format!("{name} paused class {class}, and one device may pause the other for it"))
}

/// Whether what became of the others decides, whatever becomes of the frames on their way.
fn is_settled(expect: Wanted, loss: &analyse::Loss, odd: u64) -> bool {
    odd > 0
        || match expect {
            Wanted::None | Wanted::Predicted | Wanted::Some => loss.lost > 0,
            Wanted::All => loss.received > 0,
        }
}

/// Judges the loss of one stream: what the case wants, or what follows from the declared action.
fn judge(done: &JudgeContext<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    let declared = Delays::from(done.context.seen());
    done.each("loss", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let held = held_between(done, trial, spec);
        let forwarding_delay = crossing(done, trial, spec);
        let delays = Delays { forwarding_delay, hidden: held.is_some(), ..declared };
        let loss = analyse::loss(&trial.observation, &trial.script, index, delays);
        if loss.sent == 0 {
            return Err(trial.doubt(&format!("nothing of {stream} was sent")).into());
        }
        let want = match expect {
            Wanted::None => wanted(Span::exactly(0), "no frame lost"),
            Wanted::Some => wanted(Span { lo: 1, hi: loss.sent }, "at least one frame lost"),
            Wanted::All => {
                wanted(Span { lo: loss.sent - loss.open, hi: loss.sent }, "every frame lost")
            }
            Wanted::Predicted => predicted(done, trial, index)?,
        };
        let blame = blame::watchdog(done, trial, index, &loss);
        if blame.is_none()
            && matches!(expect, Wanted::None | Wanted::Predicted)
            && let Some(doubt) = blame::deaf(done, trial, index, &loss)
        {
            return Err(doubt.into());
        }
        let blame = blame.map(|blame| format!("; {blame}")).unwrap_or_default();
        let odd = loss.stray + loss.duplicated + loss.reordered;
        let got = if odd == 0 {
            format!("{} of {} frames lost{blame}", loss.lost, loss.sent)
        } else {
            format!(
                "{} of {} frames lost, {} astray, {} twice, {} out of order{blame}",
                loss.lost, loss.sent, loss.stray, loss.duplicated, loss.reordered
            )
        };
        // A stray, a double or a reordered frame is never what anybody wants: no count of lost frames excuses it.
        let span = if odd > 0 {
            Span::exactly(u64::MAX)
        } else {
            Span { lo: loss.lost, hi: loss.lost + loss.open }
        };
        // What decides without them is a verdict.
        if let Some(why) = held.filter(|_| loss.open > 0 && !is_settled(expect, &loss, odd)) {
            let why = format!(
                "{} of {} frames of {stream} had not arrived when the trial ended: {why}, where no port of the rig shows them",
                loss.open, loss.sent
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let seen = done.context.seen().switch();
        // A case for switches that mark, and one that is declared to drop early: it may.
        let may = |declared| ecn::may_take(trial, declared, index, span.lo);
        if expect == Wanted::None && odd == 0 && span.lo > 0 && seen.is_some_and(may) {
            let why = format!(
                "early detection is declared to drop frames of {stream} at the depths that they met, and the case wants none lost"
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        // Where the device averages, or rounds what it keeps, what is to be dropped early may not be: nothing was.
        let unsure = seen.filter(|switch| {
            let wred = &switch.wred;
            (wred.weight > 0 || wred.rounds()) && wred.queues.contains(&spec.class)
        });
        if let Some(declared) = unsure.filter(|_| expect == Wanted::Some && span.hi == 0) {
            ecn::untaken(trial, declared, index)?;
        }
        let records = if odd > 0 { loss.odd } else { loss.frames };
        // What is still under way when the trial ends has not shown what becomes of it.
        let count = loss.sent.saturating_sub(loss.open);
        let looked = Looked { count, of: "frames whose fate is known" };
        Ok(TrialReading { span, want, got: Some(got), records, looked })
    });
}

/// What the declared action loses of a stream: what reaches a stormed queue from the detection to the restoration, and
/// what the queue held where the backlog is discarded.
fn predicted(done: &JudgeContext<'_>, trial: &Trial, stream: u16) -> Result<Prediction, Doubt> {
    let context = done.context;
    let none = |text: &str| Ok(frames(Span::exactly(0), text.to_owned()));
    let stormed = context.watch.as_ref().and_then(|watch| {
        let subject = watch.subject()?;
        Some((watch, subject, watch.places(&trial.script, subject)?))
    });
    let Some((watch, subject, places)) = stormed else {
        return none("nothing is stormed: no loss");
    };
    let (spec, storm) = (
        &trial.script.streams[usize::from(stream)],
        &trial.script.storms[usize::from(places.storm)],
    );
    let stormed_class = storm.classes >> spec.class & 1 == 1;
    let leaves = stormed_class && spec.to == storm.from;
    let pfcwd = &context.switch().pfcwd;
    let enters = stormed_class && spec.from == storm.from && pfcwd.drop_by == DropBy::Acl;
    if pfcwd.action != Action::Drop || !(leaves || enters) {
        return none("no frame of it meets the drop action");
    }
    let seen = super::watchdog::seen_whole(done, trial, subject)?;
    let Some(detected) = seen.detection() else { return none("no detection, so no loss") };
    let start = seen.storm_start - trial.observation.origin;
    let (lo, hi) = (start.0 + detected.after.lo, start.0 + detected.after.hi);
    let (until_lo, until_hi) = match &seen.restored {
        Some(restored) => (start.0 + restored.after.lo, start.0 + restored.after.hi),
        None => (trial.observation.length.0, trial.observation.length.0),
    };
    let arrivals = |from: u64, until: u64| arrivals(trial, stream, from, until);
    // A frame at the device when the action begins or ends may fare either way, and its stamp may be off.
    let bound = trial.observation.bound().0;
    let delay = context.switch().transit().most().0 + bound;
    // What is counted by its last bit had come with its first where the device cuts through.
    let trace = &trial.observation.ports[usize::from(spec.from)];
    let mode = context.switch().switching_mode;
    let [_, sooner] = before_its_end(trace, (mode, spec.on_wire()));
    let bound = bound + sooner.0;
    let discarded = leaves && pfcwd.backlog == Backlog::Discarded;
    let from = if discarded { closes(done, trial, (spec, storm), start) } else { Span { lo, hi } };
    let span = Span {
        lo: arrivals(from.hi + bound, until_lo.saturating_sub(delay)),
        hi: arrivals(from.lo.saturating_sub(delay), until_hi + bound),
    };
    let since = if discarded {
        format!("{}, when the pause holds it,", super::judge_context::show(Unit::Ps, from))
    } else {
        format!("{} on", what(&seen, watch.rule.family))
    };
    let text =
        format!("what reaches the queue from {since} until the restoration: {} frames", show(span));
    Ok(frames(span, text))
}

/// From when on a frame that reaches the queue stays there, where the backlog is discarded: XOFF has to come, and the MAC to respond;
/// a frame that it has begun leaves.
fn closes(
    done: &JudgeContext<'_>,
    trial: &Trial,
    (spec, storm): (&StreamSpec, &StormSpec),
    start: Dur,
) -> Span {
    let declared = done.context.switch();
    let trace = &trial.observation.ports[usize::from(storm.from)];
    let tagged = trial.observation.words((storm.from, Dir::Tx), spec.class);
    let tagged = tagged.take(1).any(|(_, record, _)| record.secured.is_some());
    let form = if tagged { Form::Encrypted } else { Form::Clear };
    let comes = trace.cable + trace.speed.slot(declared.macsec.pfc_size());
    let begun = trace.speed.slot(spec.on_wire());
    let late = declared.response(form).most() + begun + trace.provenance.bound() * 2;
    Span { lo: start.0, hi: (start + comes + late).0 }
}

fn frames(span: Span, text: String) -> Prediction {
    Prediction {
        unit: Unit::Frames,
        span,
        formula: "F13",
        text,
        source: "sonic-swss pfcactionhandler.cpp, drop handlers",
    }
}

fn show(span: Span) -> String {
    if span.lo == span.hi { span.lo.to_string() } else { format!("{} to {}", span.lo, span.hi) }
}

fn what(_seen: &StormTrial, family: RuleFamily) -> &'static str {
    match family {
        RuleFamily::IntervalCounter => "the tripping check",
        RuleFamily::Hardware => "the timer that ran out",
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Cisco8000
        | RuleFamily::Barefoot => "the detection",
    }
}

/// How many frames of the stream reached the device after `from` and up to `until`.
fn arrivals(trial: &Trial, stream: u16, from: u64, until: u64) -> u64 {
    let count = trial.observation.records.iter().filter(|record| {
        let own = matches!(record.what, What::Data { stream: of, .. } if of == stream)
            && record.dir == Dir::Tx;
        let at = (record.at + trial.observation.ports[usize::from(record.port)].cable).0;
        own && from < at && at <= until
    });
    u64::try_from(count.count()).unwrap_or(u64::MAX)
}
