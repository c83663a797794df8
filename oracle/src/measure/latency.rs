//! How long an idle device takes to pass a frame on, whatever its size (RFC 1242, RFC 2544).
//!
//! Measured is from the last bit in to the first bit out: what RFC 1242 3.8 calls the latency of a device that stores and forwards.
//! That of one that cuts through counts from the first bit in: it is longer by what the frame takes to come in. Records are of last
//! bits at the rig: the cables and what the frame takes to go out are taken off.

use super::judge_context::TrialReading;
use super::judged::looked;
use super::measurement::{Facts, Known, prediction};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::passage::{Passage, Passages, Way};
use rig_capture::pause::pauses;
use rig_capture::{Dir, Observation, SAMPLE, Span, StreamCount, Unit};
use rig_lab::Form;
use rig_testcases::vocabulary::{Entry, Looks, STREAM, StreamEnds, named};
use rig_testcases::{Declared, StreamSpec, Tap};
use rig_units::Time;

/// `latency`.
pub(super) static LATENCY: Known = Known {
    entry: Entry {
        name: "latency",
        about: "from the last bit of a frame into the device to its first bit out, where it finds the port idle",
        source: "the declared forwarding delay and MACsec's latency; RFC 1242 3.8, RFC 2544 26.2",
        fields: &[STREAM],
        looks: &[
            Looks::FOLLOWS,
            Looks::of(named, StreamEnds::Out, Tap::All, "tells what stands in the way of `{}`"),
        ],
        ..Entry::USUAL
    },
    facts: |_| {
        // What was read surely holds the value: nothing is called faulty by chance.
        let facts = Facts::of_wire("forwarding-latency-broadcom", "deviation=latency_grows");
        Facts { ways: 0, ..facts }
    },
    expected: |_, context, _| prediction(&predicted(&context.group.declared)),
    judge: |measure, done, judged| {
        let declared = &done.context.group.declared;
        let read = |trial: &Trial| Ok(read(trial, measure.named("stream"), declared)?);
        done.each("latency", measure.named("stream"), judged, read);
    },
    ..Known::USUAL
};

/// What an idle device takes as it is declared: the same for every size.
fn predicted(declared: &Declared) -> Prediction {
    let transit = declared.transit();
    Prediction {
        unit: Unit::Ps,
        span: Span::exactly(transit.0),
        formula: "",
        text: format!("{transit} from the last bit in to the first bit out, whatever the size"),
        source: "the declared forwarding delay and MACsec's latency; RFC 1242 3.8",
    }
}

/// Of the frames that found the port idle the one that is furthest off. Where one is missing the others do not speak for it.
fn read(trial: &Trial, stream: &str, declared: &Declared) -> Result<TrialReading, Doubt> {
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
    let want = predicted(declared);
    let ways = idle(observation, spec, &frames, declared);
    let off = |(_, span): &&(Passed, Span)| span.middle().abs_diff(want.span.lo);
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
    declared: &Declared,
) -> Vec<(Passed, Span)> {
    let way = Way::of(observation, spec, declared.transit());
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
    let settles = bound * 2 + declared.response(Form::Encrypted);
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
