//! How far the pause of a receiver is from who sends to it: the frame at which it is back there, over one device or several.

use super::ahead::ahead;
use super::blame;
use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{Unread, looked};
use super::legs::{Leg, SWITCHES, legs};
use super::measurement::{Known, Red, Tells, prediction};
use super::watermark_tables::held;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::backpressure;
use crate::trials::context::{Context, switch_of};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::passage::{Passages, Way, start};
use rig_capture::{Dir, Span, Unit};
use rig_lab::{Form, Part};
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, STREAM, StreamEnds, named};
use rig_testcases::{Script, StreamRate, StreamSpec, Tap};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Time, Within};

/// `pfc.backpressure`.
pub(super) static BACKPRESSURE: Known = Known {
    entry: Entry {
        name: "pfc.backpressure",
        parts: Some(&[Part::Pfc]),
        pfc: ByPfc::Rests,
        about: "the frame of a stream to a paused receiver at which the pause is back at who sends it: every device on the way has filled up to its limit",
        source: "F5, of each device on the way",
        fields: &[STREAM],
        looks: &[Looks::of(
            named,
            StreamEnds::In,
            Tap::All,
            "counts the frames of `{}` before XOFF",
        )],
        ..Entry::USUAL
    },
    tells: Tells::Width("the frames that may have been the last to arrive when XOFF fell due"),
    red: Red::Mutated("pfc-spreads-hop-by-hop", "far/buffer.dynamic_th=-1"),
    at_line_rate: true,
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        let spec = |script: &Script| {
            script.streams.iter().find(|spec| spec.name == measure.named("stream")).cloned()
        };
        let both = script.and_then(|script| Some((spec(&script)?, script)));
        both.map(|(spec, script)| prediction(&predicted(context, &script, &spec)))
            .unwrap_or_default()
    },
    judge: |measure, done, judged| {
        let stream = measure.named("stream");
        done.each("pfc.backpressure", stream, judged, |trial| read(done, trial, stream));
    },
    crosses: |_, _| SWITCHES,
    ..Known::USUAL
};

/// The frame at which every device on the way has crossed its limit.
fn predicted(context: &Context<'_>, script: &Script, spec: &StreamSpec) -> Prediction {
    let legs = legs(context, script, spec);
    let own = |leg: &Leg<'_>| BufferLedger::span(leg.switch(), |empty| empty.first_xoff(spec));
    let crossings: Vec<Span> = legs.iter().map(own).collect();
    let answers: Vec<Dur> = legs.windows(2).map(|pair| answer(&pair[0], &pair[1], spec)).collect();
    let every = match spec.rate {
        StreamRate::Every(every) => every,
        StreamRate::Load(_) => speed_of(context, script, spec).slot(spec.on_wire()),
    };
    let words = |one: &Span| match one.hi - one.lo {
        0 => one.lo.to_string(),
        _ => format!("{} to {}", one.lo, one.hi),
    };
    let each: Vec<String> = crossings.iter().map(words).collect();
    let [least, most] = [|one: &Span| one.lo, |one: &Span| one.hi].map(|end| {
        let ends: Vec<u64> = crossings.iter().map(end).collect();
        backpressure::crossing(&ends, &answers, every)
    });
    Prediction {
        unit: Unit::Frames,
        span: Span { lo: least.lo, hi: most.hi },
        formula: "F5",
        text: format!(
            "each device on the way crosses its limit, from the sender on at frame {} of what it holds; what passes before a pause takes effect comes on top",
            each.join(" and ")
        ),
        source: backpressure::SOURCE,
    }
}

fn speed_of(context: &Context<'_>, script: &Script, spec: &StreamSpec) -> PortSpeed {
    let port = script.dut_ports[usize::from(spec.from)];
    context.group.declared.port_speed(port).unwrap_or(PortSpeed::G100)
}

/// The longest from the first bit of the frame that crosses at `to`, on the link from `from`, until `from` has stopped: the frame
/// and its cable; what the device takes to say XOFF, behind a frame of its own; the way back, and the response.
fn answer(from: &Leg<'_>, to: &Leg<'_>, spec: &StreamSpec) -> Dur {
    let Some((speed, cable)) = from.onward else { return Dur::ZERO };
    let frames = [spec.on_wire(), to.switch().mtu, to.switch().macsec.pfc_size()];
    let sent =
        frames.map(|size| speed.slot(size)).into_iter().fold(Dur::ZERO, |all, one| all + one);
    let responds = to.switch().emission().most() + from.switch().response(Form::Encrypted).most();
    sent + cable * 2 + responds
}

/// Until when the receiver is surely paused, where what follows from the stream alone is what happens.
fn paused(done: &JudgeContext<'_>, trial: &Trial, stream: &str) -> Result<Time, Doubt> {
    let script = &trial.script;
    let (index, spec) = trial.stream(stream)?;
    let not = |why: &str| Doubt { reason: NOT_MEASURED, ..trial.doubt(why) };
    if script.streams.len() > 1 {
        return Err(not("other streams take of the same buffers"));
    }
    if matches!(spec.rate, StreamRate::Load(_)) {
        return Err(not(
            "the frames of a load wait for each other, too: a stream with an interval tells",
        ));
    }
    let legs = legs(done.context, script, spec);
    if !legs.iter().all(|leg| leg.is_lossless(spec.class)) {
        return Err(not("its class is not lossless on every device on the way"));
    }
    let (_, until, _) = held(trial, index, spec)
        .ok_or_else(|| not("no storm pauses its receiver from before its first frame on"))?;
    Ok(Time::ZERO + until)
}

/// The frame that had arrived last when the first XOFF was due to its sender.
fn read(done: &JudgeContext<'_>, trial: &Trial, stream: &str) -> Result<TrialReading, Unread> {
    let Trial { script, observation, .. } = trial;
    let (index, spec) = trial.stream(stream)?;
    let until = paused(done, trial, stream)?;
    let want = predicted(done.context, script, spec);
    let sent = Passages::of(observation, script, index).all;
    let mut told = observation.records.iter().enumerate().filter(|(_, one)| {
        let here = (one.port, one.dir) == (spec.from, Dir::Rx);
        here && one.what.pauses(spec.class) > Some(Quanta(0))
    });
    let count = |frames: usize| u64::try_from(frames).unwrap_or(u64::MAX);
    let meanwhile = sent.iter().filter(|frame| frame.sent.at < until).count();
    let first = told.next();
    let Some((record, xoff)) = first.filter(|(_, xoff)| xoff.at < until) else {
        if count(meanwhile) < want.span.hi {
            let need = want.span.hi;
            let why = format!(
                "the rig sent {meanwhile} frames before the pause ended, and it takes {need}: a count of as many and a pause for as long would tell"
            );
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let other = blame::other_class(trial, spec.from, spec.class);
        let late = if first.is_some() { ", and one after its pause" } else { "" };
        let got = other.unwrap_or_else(|| format!("no XOFF within {meanwhile} frames{late}"));
        let looked = looked(meanwhile, "frames to a paused receiver");
        let span = Span::exactly(u64::MAX);
        return Ok(TrialReading { span, want, got: Some(got), records: Vec::new(), looked });
    };
    let declared = switch_of(done.context.behind(script, spec.from));
    let port = &observation.ports[usize::from(spec.from)];
    let begun = start(port, declared.macsec.pfc_size(), xoff.at);
    let wait = match ahead(script, spec.from) {
        Bytes(0) => Dur::ZERO,
        frame => port.speed.slot(frame),
    };
    // An XOFF is due as a frame arrives: the one of those that may be it.
    let way = Way::of(observation, spec, (Within::ZERO, declared.switching_mode));
    let latest = begun.hi.saturating_sub(declared.emission().least().0);
    let earliest = begun.lo.saturating_sub((declared.emission().most() + wait).0);
    let arrivals = || sent.iter().map(|frame| way.arrival(frame.sent.at));
    let sure = count(arrivals().filter(|at| at.hi < earliest).count());
    let most = count(arrivals().filter(|at| at.lo <= latest).count());
    let span = Span { lo: (sure + 1).min(most), hi: most };
    let last = usize::try_from(most).unwrap_or(usize::MAX).checked_sub(1);
    let shown = last.and_then(|last| sent.get(last)).map(|frame| frame.sent.record);
    let records = shown.into_iter().chain([record]).collect();
    let looked = looked(sent.len(), "frames to a paused receiver");
    Ok(TrialReading { span, want, got: None, records, looked })
}
