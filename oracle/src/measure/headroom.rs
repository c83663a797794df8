//! What becomes of a crossing: how soon the device says so, and what is lost when the sender stops too late.

use super::ahead::ahead;
use super::counted_late;
use super::crossed::{self, overflows};
use super::crossed_again;
use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{At, Judged, Unread};
use super::measurement::{Known, Red, Tells, by_formula};
use super::stamps::{self, Stamps};
use super::word::Word;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::{self, Off, Others};
use crate::spec::in_flight::{self, InFlight};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Finding, Judgement, Looked};
use crate::{Prediction, Resolution};
use rig_capture::analyse::{self, ActionView, PfcSignal};
use rig_capture::{Dir, Reading, Span, Unit};
use rig_lab::{Part, Switch};
use rig_testcases::vocabulary::{ByMemory, ByPfc, Entry, LOAD, Looks, STREAM, ValueKind, optional};
use rig_testcases::{Script, StreamSpec, Wanted};
use rig_units::{Bytes, Dur, Length, PortSpeed, Within};
use std::cell::Cell;

/// `pfc.latency`.
pub(super) static XOFF_LATENCY: Known = Known {
    entry: Entry {
        name: "pfc.latency",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Streams,
        about: "from the frame of a counted stream that makes a group cross its limit to the XOFF that says so, and from the frame that leaves it at its XON to the XON",
        source: "F4",
        fields: &[STREAM],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    tells: Tells::Width("the timestamps of both frames"),
    red: Red::Mutated("xoff-and-xon-at-once-broadcom", "deviation=xon_late"),
    expected: |_, _, _| {
        by_formula(
            "XOFF leaves as the crossing frame has arrived, or behind the frame that is being sent",
            "F5: which frame crosses; F3: one frame ahead at most",
        )
    },
    judge: |measure, done, judged| {
        let pfc = &done.context.switch().pfc;
        let [emission, resumption] = [pfc.emission, pfc.resumption.or(pfc.emission)];
        let xoff = latency(done, measure.named("stream"), judged);
        let xon = resumes(done, measure.named("stream"), judged);
        let told = [("pfc.emission", emission, xoff), ("pfc.resumption", resumption, xon)];
        let told: Vec<_> = told
            .into_iter()
            .filter_map(|(path, declared, blur)| {
                Some((path.to_owned(), declared.unwrap_or(Within::ZERO), blur?))
            })
            .collect();
        judged.resolved("pfc.latency", &told);
        let stream = measure.named("stream");
        for (on, blur) in [(stream.to_owned(), xoff), (xon_of(stream), xon)] {
            blur.into_iter().for_each(|blur| judged.shows_beyond(("pfc.latency", &on), blur));
        }
    },
    stamps: Some(|measure, context, script| {
        // Which frame crosses is counted.
        let (_, spec) = stamps::stream(script, measure.named("stream"))?;
        fills_headroom(context, script, spec)
    }),
    unpromised: Some(counted_late::by_any),
    ..Known::USUAL
};

/// `headroom.loss`.
pub(super) static HEADROOM_LOSS: Known = Known {
    entry: Entry {
        name: "headroom.loss",
        parts: Some(&[Part::Buffer, Part::Pfc]),
        pfc: ByPfc::Streams,
        memory: ByMemory::Shared,
        about: "frames of a full load into a held queue that are lost although the sender obeys PFC, because it stops too late for the headroom",
        source: "F3",
        fields: &[
            LOAD,
            optional(
                "expect",
                ValueKind::Wanted(&[("none", Wanted::None), ("some", Wanted::Some)]),
                "what the case wants of all trials together; absent: in each what is predicted",
            ),
        ],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("loss-against-response-broadcom", "buffer.xoff=x0.9"),
    expected: |_, _, _| {
        by_formula(
            "what comes after the crossing frame, less what the headroom holds of it",
            "F3, F5",
        )
    },
    judge: |measure, done, judged| {
        loss(done, measure.named("stream"), measure.wanted("expect"), judged);
    },
    stamps: Some(|measure, context, script| {
        let (_, spec) = stamps::stream(script, measure.named("stream"))?;
        match measure.wanted("expect") {
            Wanted::None | Wanted::Some => to_the_frame(context, script, spec),
            Wanted::Predicted | Wanted::All => fills_headroom(context, script, spec),
        }
    }),
    at_line_rate: true,
    of_sender: true,
    unpromised: Some(crossed_again::by_its_sender),
    ..Known::USUAL
};

/// How many frames of a stream the headroom holds behind the one that crosses the limit.
fn fit(declared: &Switch, spec: &StreamSpec) -> Span {
    BufferLedger::span(declared, |empty| {
        let others = empty.others(spec.from, spec.to);
        // What crosses at once, and more of which finds room where it does not count yet.
        let xoff = buffer::first_xoff(&declared.buffer, spec.size, &others.counted());
        // Of a pool that is less than a frame not even the crossing one.
        buffer::first_drop(&declared.buffer, spec.size, &others).saturating_sub(xoff + 1)
    })
}

/// From the frame that crosses the limit on: the time in which the headroom is full.
fn fills_headroom(context: &Context<'_>, script: &Script, spec: &StreamSpec) -> Option<Stamps> {
    let slot = stamps::speed(context, script, spec.from).slot(spec.on_wire());
    let time = slot * fit(context.switch(), spec).lo / 2;
    stamps::told(time, &format!("the time in which {} fills half of the headroom", spec.name))
}

/// A headroom that is laid out to the frame: no more may come because stamps are off.
fn to_the_frame(context: &Context<'_>, script: &Script, spec: &StreamSpec) -> Option<Stamps> {
    let speed = stamps::speed(context, script, spec.from);
    let fit = fit(context.switch(), spec);
    let come = |bound: Dur| {
        let response = script.endpoint(spec.from).response;
        let stops = Span { lo: response.0, hi: (response + bound * 2).0 };
        in_flight(context, script, spec, (speed, stops)).frames().hi
    };
    let (exact, slot) = (come(Dur::ZERO), speed.slot(spec.on_wire()));
    let mut within = slot / 2;
    while within > Dur::ZERO && come(within) > exact.max(fit.lo) {
        within = within / 2;
    }
    let why = format!(
        "another frame of {} ({slot}) is one more than the headroom was laid out for",
        spec.name
    );
    Some(Stamps { within, why })
}

/// What still arrives of a stream whose sender stops within `stops`.
fn in_flight(
    context: &Context<'_>,
    script: &Script,
    spec: &StreamSpec,
    (speed, stops): (PortSpeed, Span),
) -> InFlight {
    let declared = context.switch();
    InFlight {
        speed,
        frame: spec.size,
        overhead: spec.overhead,
        pfc: declared.macsec.pfc_size(),
        ahead: ahead(script, spec.from),
        cable: Length(context.cable_cm()),
        delays: in_flight::delays(declared.emission(), stops),
        mode: declared.switching_mode,
        apart: context.apart(),
    }
}

/// How soon a PFC frame leaves a port on which another one may be under way.
fn behind(wait: Dur) -> String {
    match wait {
        Dur::ZERO => "at once".to_owned(),
        wait => format!("at once or behind a frame of {wait}"),
    }
}

/// What is to be seen of a crossing.
fn crossed(frame: u64, emission: Within, wait: Dur) -> String {
    format!("frame {frame} crosses the limit, and XOFF leaves{} {}", taken(emission), behind(wait))
}

/// What a device takes for a word to its sender.
fn taken(declared: Within) -> String {
    let takes = declared != Within::ZERO;
    if takes { format!(" after the declared {declared}") } else { String::new() }
}

/// How long a PFC frame may have to wait for one that is being sent out of the port that it leaves by.
fn wait(trial: &Trial, port: u16) -> Dur {
    match ahead(&trial.script, port) {
        Bytes(0) => Dur::ZERO,
        frame => trial.observation.ports[usize::from(port)].speed.slot(frame),
    }
}

/// Judges how soon after the crossing frame the first XOFF begins. How far outside of what is declared of it a device shows for
/// certain: by what the frame in its way takes, and by what the reading leaves open.
fn latency(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) -> Option<Dur> {
    let declared = done.context.switch();
    let hides = declared.macsec.pfc_latency(declared.macsec.sent()).width();
    let blur = Cell::new(None);
    done.each("pfc.latency", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let crossing = BufferLedger::span(declared, |empty| {
            buffer::first_xoff(&declared.buffer, spec.size, &empty.others(spec.from, spec.to))
        });
        let crossing = crossed::crossing(declared, trial, index, crossing);
        together(trial, index, crossing.hi)?;
        let wait = wait(trial, spec.from);
        let want = |crossing: u64| Prediction {
            unit: Unit::Ps,
            span: in_flight::emitted(declared.emission(), wait),
            formula: "F3, F5",
            text: crossed(crossing, declared.emission(), wait),
            source: "IEEE 802.1Q clause 36",
        };
        let (read, open) = Word::xoff(declared, crossing).told(trial, index, want)?;
        blur.set(blur.get().max(Some(open + wait + hides)));
        Ok(read)
    });
    blur.get()
}

/// What is said of the XON of a stream.
fn xon_of(stream: &str) -> String {
    format!("{stream}, XON")
}

/// Judges how soon after the frame whose leaving brings the group to its XON the first XON begins. A device may free a frame
/// as it begins to leave or when it has left: how far outside of what is declared of the XON one shows, counts that, too.
fn resumes(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) -> Option<Dur> {
    let declared = done.context.switch();
    let resumption = declared.resumption();
    let hides = declared.macsec.pfc_latency(declared.macsec.sent()).width();
    let blur = Cell::new(None);
    done.each("pfc.latency", &xon_of(stream), judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let count = spec.count.unwrap_or(0);
        let (lo, hi) = Off::hull(declared, |off| {
            let others = Others::ALONE.with(off);
            buffer::xon_after(&declared.buffer, spec.size, &others, count).unwrap_or(0)
        });
        let leave = Span { lo, hi };
        if leave.lo == 0 {
            let why = format!("none is due: {count} frames leave the group within its XON");
            return Err(Unread::NotApplicable(why));
        }
        together(trial, index, count)?;
        let leave = crossed::relieving(declared, trial, index, leave);
        let wait = wait(trial, spec.from);
        let leaving = trial.observation.ports[usize::from(spec.to)].speed.slot(spec.on_wire());
        let want = |leave: u64| Prediction {
            unit: Unit::Ps,
            span: in_flight::emitted(resumption, leaving + wait),
            formula: "F3, F4",
            text: format!(
                "frame {leave} of those held takes {leaving} to leave, and XON leaves meanwhile{} {}",
                taken(resumption),
                behind(wait)
            ),
            source: "IEEE 802.1Q clause 36",
        };
        let (read, open) = Word::xon(leave).told(trial, index, want)?;
        blur.set(blur.get().max(Some(open + leaving + wait + hides)));
        Ok(read)
    });
    blur.get()
}

/// In doubt unless so many frames of a stream were in the device together: which of them crosses or relieves is counted from none that left.
fn together(trial: &Trial, index: u16, frames: u64) -> Result<(), Unread> {
    let name = &trial.script.streams[usize::from(index)].name;
    if crossed::held_together(trial, index, frames) {
        return Ok(());
    }
    let why = format!(
        "the first {frames} frames of {name} were not in the device together: what its group held is not known"
    );
    Err(trial.doubt(&why).into())
}

/// Judges how many frames are lost because the sender goes on for longer than the headroom lasts.
fn loss(done: &JudgeContext<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    let before = judged.judgements().len();
    each_loss(done, stream, expect, judged);
    match (expect, done.context.switch().buffer.left_open()) {
        (Wanted::Some, None) => somewhere(done, stream, before, judged),
        // Of a headroom that may be a step larger nothing is surely lost at any phase.
        (Wanted::Some, Some(open)) => {
            let lost = judged.judgements()[before..].iter().any(|one| one.reading.span.hi > 0);
            let why = format!(
                "headroom.loss of {stream}: by the declared {open} the headroom may be as large as what comes, and none was lost"
            );
            if !lost {
                judged.not_measured(At::Whole, &why);
            }
        }
        _ => {}
    }
}

/// The headroom is one step short of what may come: at some phase a frame must be lost, and the trials must have met it.
fn somewhere(done: &JudgeContext<'_>, stream: &str, from: usize, judged: &mut Judged) {
    let own = &judged.judgements()[from..];
    let Some(worst) = own.iter().max_by_key(|one| one.reading.span.hi).cloned() else { return };
    let lost = worst.reading.span.hi;
    if lost == 0 && !meets_the_worst(done, stream) {
        let why = format!(
            "headroom.loss of {stream}: at no phase that was met more frames surely came than fit, and none was lost"
        );
        return judged.not_measured(At::Whole, &why);
    }
    // None came nearer than another: the first that counts.
    let counts = done.points.iter().enumerate().flat_map(|(index, _)| done.valid(index));
    let first = counts.map(|trial| trial.number).min().unwrap_or(1);
    let text = format!("a frame lost at one of {} phases at least", own.len());
    let prediction = Prediction {
        span: Span { lo: 1, hi: u64::MAX },
        text: text.clone(),
        ..worst.prediction.clone()
    };
    let finding = (lost == 0).then(|| Finding {
        rule: "headroom.loss",
        want: text,
        got: "none at any".to_owned(),
        trial: first,
        frames: Vec::new(),
    });
    let looked = Looked { count: own.iter().map(|one| one.looked.count).sum(), ..worst.looked };
    let all = Judgement {
        subject: format!("{stream}, worst phase"),
        prediction,
        findings: finding.into_iter().collect(),
        resolution: Resolution::yes_or_no(),
        looked,
        ..worst
    };
    judged.file(At::Whole, all);
}

/// Whether at some phase more frames surely came than fit. What else is in the memory moves the crossing, and what leaves meanwhile makes room.
fn meets_the_worst(done: &JudgeContext<'_>, stream: &str) -> bool {
    let declared = done.context.switch();
    let mut trials = done.points.iter().enumerate().flat_map(|(index, _)| done.valid(index));
    trials.any(|trial| {
        let Ok((index, _)) = trial.stream(stream) else { return false };
        overflows(declared, &trial, index) == Some(true)
    })
}

fn each_loss(done: &JudgeContext<'_>, stream: &str, expect: Wanted, judged: &mut Judged) {
    let declared = done.context.switch();
    let view = ActionView::from(declared);
    done.each("headroom.loss", stream, judged, |trial| {
        let (index, spec) = trial.stream(stream)?;
        let trace = &trial.observation.ports[usize::from(spec.from)];
        let lost = analyse::loss(&trial.observation, &trial.script, index, view.delays());
        if lost.sent == 0 {
            return Err(trial.doubt(&format!("nothing of {stream} was sent")).into());
        }
        let response = trial.script.endpoint(spec.from).response;
        let stops = Span { lo: response.0, hi: (response + done.bound() * 2).0 };
        let in_flight = in_flight(done.context, &trial.script, spec, (trace.speed, stops));
        let crossing = BufferLedger::span(declared, |empty| {
            buffer::first_xoff(&declared.buffer, spec.size, &empty.others(spec.from, spec.to))
        });
        let fit = fit(declared, spec);
        // No more can come than were sent.
        let least = lost.sent.saturating_sub(crossing.hi);
        let most = lost.sent.saturating_sub(crossing.lo);
        let mut come = in_flight.frames();
        // A pause counts from its frame's last bit: one that takes effect as late as this ends before the next one does, and the sender
        // goes on in between.
        let [refresh, pause] = [declared.pfc.refresh.most(), trace.speed.pause(declared.pfc.quanta)];
        if response + done.bound() * 2 + refresh > pause {
            come.hi = most;
        }
        let come = Span { lo: come.lo.min(least), hi: come.hi.min(most) };
        let predicted =
            Span { lo: come.lo.saturating_sub(fit.hi), hi: come.hi.saturating_sub(fit.lo) };
        let fits = if fit.lo == fit.hi {
            fit.lo.to_string()
        } else {
            format!("{} to {}", fit.lo, fit.hi)
        };
        // What comes of a device that says XOFF at once over no cable: if that fits, a case that wants no loss was laid out for such a one,
        // in frames and quanta of the port. A declared delay and a cable are no fewer frames at a faster port, and of a device behind them
        // it wants what nobody declares. What does not fit either way is found.
        let cable = Length(0);
        let at_once = InFlight { delays: in_flight::delays(Within::ZERO, stops), cable, ..in_flight };
        let others = BufferLedger::empty(declared).others(spec.from, spec.to);
        let full = buffer::first_drop(&declared.buffer, spec.size, &others);
        let xoff = buffer::first_xoff(&declared.buffer, spec.size, &others);
        // None of a headroom pool that is smaller than a frame.
        let room = full.saturating_sub(xoff + 1);
        let laid_out =
            expect == Wanted::None && predicted.hi > 0 && at_once.frames().hi <= room;
        // As many as the margin may lose are no fault, and no more.
        let margin = laid_out && declared.buffer.left_open().is_some();
        if laid_out && !margin {
            let why = format!(
                "up to {} frames come after the crossing one by what is declared, and {fits} of them fit: that none is lost may not be wanted of it",
                come.hi
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let want = Prediction {
            unit: Unit::Frames,
            // Whatever may come is to fit.
            span: match expect {
                Wanted::None if margin => Span { lo: 0, hi: predicted.hi },
                Wanted::None => Span::exactly(0),
                Wanted::Some | Wanted::All | Wanted::Predicted => predicted,
            },
            formula: "F3, F5",
            text: format!(
                "{} frames come after the crossing one with a response of {response}, and {fits} of them fit",
                Reading { unit: Unit::Frames, span: come, frames: Vec::new() }
            ),
            source: "IEEE 802.1Q Annex N and 802.3 31B.3.7: cable, PFC frame, response, frames under way",
        };
        let got = Some(format!("{} of {} frames lost", lost.lost, lost.sent));
        let span = Span { lo: lost.lost, hi: lost.lost + lost.open };
        let words = trial.observation.words((spec.from, Dir::Rx), spec.class);
        let is_xoff = words.map(|(_, _, quanta)| PfcSignal::Xoff.is(quanta));
        // What was lost of a second crossing is no less lost, and the first says nothing of it.
        let mut again = is_xoff.clone().skip_while(|xoff| !xoff).skip_while(|xoff| *xoff);
        if expect == Wanted::Predicted && again.any(|xoff| xoff) {
            let why = format!("frames of {stream} crossed the threshold again after the device had said XON: which were lost of the first crossing is not known");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        // Without an XOFF nobody had to stop.
        let told = is_xoff.into_iter().any(|xoff| xoff);
        let looked = Looked { count: if told { most } else { 0 }, of: "frames behind the crossing one" };
        Ok(TrialReading { span, want, got, records: lost.frames, looked })
    });
}
