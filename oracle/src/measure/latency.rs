//! How long an idle device takes to pass a frame on, whatever its size, or by what it declares of each byte (RFC 1242, RFC 2544).
//!
//! Measured is to the first bit out from what RFC 1242 3.8 says: from the last bit in of a device that stores and forwards, from the first bit in
//! of one that cuts through. Records are of last bits at the rig: the cables and what the frame takes to go out, or in, are taken off.

use super::judge_context::TrialReading;
use super::judged::looked;
use super::legs::{Leg, PASSING, legs};
use super::measurement::{Known, Red, Tells, prediction};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::passage::{Passage, Passages, Way};
use rig_capture::pause::pauses;
use rig_capture::{Dir, Observation, SAMPLE, Span, StreamCount, Unit};
use rig_lab::{Form, Part};
use rig_testcases::vocabulary::{Entry, Looks, STREAM, StreamEnds, named};
use rig_testcases::{Declared, Script, StreamRate, StreamSpec, SwitchingMode, Tap};
use rig_units::{Apart, Bytes, Dur, MIN_FRAME, Time, Within};

/// `latency`.
pub(super) static LATENCY: Known = Known {
    entry: Entry {
        name: "latency",
        parts: Some(&[Part::Forwarding]),
        about: "from a frame having come into the device (its last bit, its first where it cuts through) to its first bit out of an idle port",
        source: "the declared forwarding delay and MACsec's latency; RFC 1242 3.8, RFC 2544 26.2",
        fields: &[STREAM],
        looks: &[
            Looks::FOLLOWS,
            Looks::of(named, StreamEnds::Out, Tap::All, "tells what stands in the way of `{}`"),
        ],
        ..Entry::USUAL
    },
    // What was read surely holds the value: nothing is called faulty by chance.
    ways: 0,
    tells: Tells::Width("the timestamps of both ports"),
    red: Red::Mutated("forwarding-latency-broadcom", "deviation=latency_grows"),
    // A shaped port may hold a frame back that finds it idle: it lacks tokens.
    at_line_rate: true,
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        let Some(script) = script else { return Vec::new() };
        let spec = script.streams.iter().find(|spec| spec.name == measure.named("stream"));
        let want = spec
            .map(|spec| predicted(&script, &legs(context, &script, spec), spec, context.apart()));
        want.map(|want| prediction(&want)).unwrap_or_default()
    },
    judge: |measure, done, judged| {
        let read = |trial: &Trial| read(trial, measure.named("stream"), done.context);
        // How far a reading may be off at the most, how wide what is declared of its frame is at the most, and the shortest frame.
        let seen: Cell<Option<(Dur, Dur, Bytes)>> = Cell::new(None);
        let read = |trial: &Trial| {
            let read = read(trial)?;
            let (_, spec) = trial.stream(measure.named("stream"))?;
            let own = Leg::alone(&done.context.group.declared, &trial.script);
            let (size, longest) = (spec.size, longest(&trial.script, &[own]));
            let (blur, width) =
                (Dur(read.span.hi - read.span.lo), own.transit_of(size, longest).width());
            let before = seen.get().unwrap_or((blur, width, size));
            seen.set(Some((blur.max(before.0), width.max(before.1), size.min(before.2))));
            Ok(read)
        };
        done.each("latency", measure.named("stream"), judged, read);
        if let Some(seen) = seen.get() {
            judged.resolved("latency", &alike(done.context, seen));
        }
    },
    crosses: |_, _| PASSING,
    over_memories: |_| true,
    ..Known::USUAL
};

/// What idle devices take as they are declared: one of them the same for every size but for what MACsec takes of each byte, several also the
/// frame on each cable between them. Whether a preamble and a gap are before it or after it is not declared.
fn predicted(script: &Script, legs: &[Leg<'_>], spec: &StreamSpec, apart: Apart) -> Prediction {
    let longest = longest(script, legs);
    // Each as the rig's clock shows it.
    let transit =
        legs.iter().fold(Within::ZERO, |all, leg| all + leg.transit_of(spec.size, longest));
    let by_size = legs.iter().any(Leg::grows);
    // What the next device has of a frame when it has come.
    let whole = |next: &Leg<'_>| match next.declared.switching_mode() {
        SwitchingMode::StoreAndForward => spec.on_wire(),
        SwitchingMode::CutThrough => Bytes(0),
    };
    let cables = legs.windows(2).filter_map(|two| Some((two[0].onward?, whole(&two[1]))));
    let between = cables.fold(Span::exactly(0), |all, ((speed, cable), has)| Span {
        lo: all.lo + (cable + speed.serialise(has)).0,
        hi: all.hi + (cable + speed.slot(has)).0,
    });
    let since = since(legs);
    let span = Span {
        lo: (transit.least() + apart.least(Dur(between.lo))).0,
        hi: (transit.most() + apart.most(Dur(between.hi))).0,
    };
    let text = match legs.len() {
        1 if by_size => {
            format!("{transit} from the {since} bit in to the first bit out, of {}", spec.size)
        }
        1 => format!("{transit} from the {since} bit in to the first bit out, whatever the size"),
        n => format!(
            "{transit} in {n} devices, and what a frame of {} takes over each cable between them: {} to {}",
            spec.size,
            Unit::Ps.show(span.lo),
            Unit::Ps.show(span.hi)
        ),
    };
    Prediction {
        unit: Unit::Ps,
        span,
        formula: "",
        text,
        source: "the declared forwarding delay and MACsec's latency; RFC 1242 3.8",
    }
}

/// Which bit of a frame the first device counts from, in words.
fn since(legs: &[Leg<'_>]) -> &'static str {
    match legs.first().map(|leg| leg.declared.switching_mode()).unwrap_or_default() {
        SwitchingMode::StoreAndForward => "last",
        SwitchingMode::CutThrough => "first",
    }
}

/// The longest frame that may be on its way at the same time.
fn longest(script: &Script, legs: &[Leg<'_>]) -> Bytes {
    let sizes = script.streams.iter().map(|spec| spec.size);
    let any = legs.iter().map(|leg| leg.declared.mtu()).filter(|_| !script.flows.is_empty());
    sizes.chain(any).max().unwrap_or(MIN_FRAME)
}

/// Within which values of each delay one device shows nothing: as far outside of what is declared as the reading leaves open, and
/// as what is declared of the others may hide. Of several devices each hides the others.
fn alike(
    context: &Context<'_>,
    (blur, width, size): (Dur, Dur, Bytes),
) -> Vec<(String, Within, Dur)> {
    let whole = context.profile.system.as_deref().is_some_and(|system| system.alone.is_none());
    let own = &context.group.declared;
    let Some(delay) = own.range(DELAY).filter(|_| !whole) else { return Vec::new() };
    // Of what a frame takes so many times.
    let one = |path: &str, declared: Within, times: u64| {
        let others = width.saturating_sub(declared.times(times).width());
        (path.to_owned(), declared, Dur((blur + others).div_ceil(Dur(times))))
    };
    let mut all = vec![one(DELAY, delay, 1)];
    if let Some(macsec) = own.switch().map(|switch| &switch.macsec).filter(|macsec| macsec.enable) {
        // On the way in and on the way out.
        all.push(one("macsec.latency", macsec.latency, 2));
        let byte = macsec.latency_per_byte;
        all.extend(byte.map(|byte| one("macsec.latency_per_byte", byte, size.0 * 2)));
    }
    all
}

/// The path of what a device takes for itself.
const DELAY: &str = "forwarding_delay";

/// Whether a frame may meet another one between the devices, where nobody sees it.
fn is_crowded(script: &Script, spec: &StreamSpec, legs: &[Leg<'_>], want: Span) -> bool {
    let spread = matches!(spec.rate, StreamRate::Every(gap) if gap.0 > want.hi);
    legs.len() > 1 && (script.streams.len() > 1 || !spread)
}

/// Of the frames that found the port idle the one that is furthest off. Where one is missing the others do not speak for it.
fn read(trial: &Trial, stream: &str, context: &Context<'_>) -> Result<TrialReading, Doubt> {
    let Trial { script, observation, .. } = trial;
    let (index, spec) = trial.stream(stream)?;
    let mut frames = Passages::of(observation, script, index).all;
    if observation.partial(index) {
        frames.retain(|frame| frame.seq.is_multiple_of(SAMPLE));
    }
    let missing = frames.iter().filter(|frame| frame.received.is_none()).count();
    let count = observation.streams.get(usize::from(index)).copied().unwrap_or_default();
    if missing > 0 || count.received < count.sent || frames.is_empty() {
        let StreamCount { sent, received, .. } = count;
        let why = format!("{received} of {sent} frames of {stream} arrived: latency is of all");
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    let legs = legs(context, script, spec);
    let want = predicted(script, &legs, spec, context.apart());
    if is_crowded(script, spec, &legs, want.span) {
        let why = format!("what frames of {stream} meet between the devices nobody sees");
        return Err(trial.doubt(&why));
    }
    let ways = idle(
        observation,
        spec,
        &frames,
        (context.behind(script, spec.from), context.behind(script, spec.to)),
    );
    let off = |(_, span): &&(Passed, Span)| span.middle().abs_diff(want.span.middle());
    let Some((shown, span)) = ways.iter().max_by_key(off) else {
        return Err(trial.doubt(&format!("no frame of {stream} found its port idle")));
    };
    let records = shown.to_vec();
    let looked = looked(ways.len(), "frames that found the port idle");
    Ok(TrialReading { span: *span, want, got: None, records, looked })
}

/// The records of a frame's sending and of its arrival.
type Passed = [usize; 2];

/// What each frame took that found the port idle and its class not paused: one that waited shows what stood in its way.
fn idle(
    observation: &Observation,
    spec: &StreamSpec,
    frames: &[Passage],
    (first, declared): (&Declared, &Declared),
) -> Vec<(Passed, Span)> {
    let delay = declared.transit().unwrap_or(Within::ZERO);
    let way = Way::of(observation, spec, (delay, first.switching_mode()));
    let out = &observation.ports[usize::from(spec.to)];
    let bound = out.provenance.bound();
    let left = observation.records.iter().enumerate();
    let left = left.filter(|(_, one)| (one.port, one.dir) == (spec.to, Dir::Rx));
    let left: Vec<(usize, Time)> = left.map(|(record, one)| (record, one.at)).collect();
    // When the frame before it was surely through.
    let before = |record: usize| {
        let at = left.partition_point(|(other, _)| *other < record).checked_sub(1)?;
        Some((left[at].1 + bound).saturating_sub(out.cable).0)
    };
    let pauses = pauses(observation, spec.to, spec.class);
    // What obeys no PFC has no response to it.
    let response = declared.switch().map(|switch| switch.response(Form::Encrypted).most());
    let settles = bound * 2 + response.unwrap_or_default();
    let taken = |frame: &Passage| {
        let received = frame.received?;
        let (came, begun) = (way.arrival(frame.sent.at), way.start(received.at));
        let behind = before(received.record).is_some_and(|until| begun.lo <= until);
        let paused = pauses.iter().any(|pause| {
            pause.from.saturating_sub(bound * 2).0 <= begun.hi
                && came.lo <= (pause.until + settles).0
        });
        let passed = [frame.sent.record, received.record];
        (!behind && !paused).then_some((passed, begun.since(came)))
    };
    frames.iter().filter_map(taken).collect()
}
