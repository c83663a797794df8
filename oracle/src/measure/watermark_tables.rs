//! The copies that a device's software keeps of its watermarks, at the end of a trial in which a held queue was filled and let
//! go (rows 76 and 77): what each shows lies within the closed form over all phases of the polls.
//!
//! The level of the queue and of its group is known between two bounds. It is the peak at least from the last frame until the
//! queue is let go, and at most from the first frame until the last pause has run out and the queue has drained. What a copy
//! shows grows with the level, so that the least of the lower bound and the greatest of the upper one hold it. The chip is
//! cleared before each trial and no copy is: what earlier trials left is in the upper bound until the copy is cleared.

use super::judge_context::{JudgeContext, TrialReading};
use super::judged::{Judged, Unread};
use super::measurement::{Known, Needs, Red, Tells, by_source};
use super::watermarks;
use crate::Prediction;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::Off;
use crate::spec::share::shaped;
use crate::spec::watermark::{self, Step};
use crate::trials::kept::Kept;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::{DutCounter, Span, Unit};
use rig_lab::{Fault, Part, Switch, Watermark, WatermarkCopy};
use rig_testcases::case::{Count, Stream};
use rig_testcases::vocabulary::{ByMemory, Entry, STREAM};
use rig_testcases::{Action, Case, DeviceVerb, Measure, StreamSpec};
use rig_units::{Dur, Time};

/// They are judged by what one stream puts into a queue and a group of its own.
fn alone_in_its_queue(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("stream");
    let Some(stream) = case.streams.get(name) else { return Vec::new() };
    let place = format!("streams.{name}");
    let mut faults = Vec::new();
    if !matches!(stream.count, Some(Count::Frames(_))) {
        let found = format!("`watermarks.copies` of `{name}`, whose number of frames is open");
        faults.push(case.fault(&place, found, "a stream with `count:` and a number"));
    }
    let same = |other: &Stream| {
        other.class == stream.class && (other.from == stream.from || other.to == stream.to)
    };
    let mut others = case.streams.iter().filter(|(other, _)| *other != name);
    if let Some((other, _)) = others.find(|(_, other)| same(other)) {
        let found = format!("`{other}` fills the queue or the group of `{name}`, too");
        faults.push(case.fault(&place, found, "a queue and a group of its own"));
    }
    faults
}

/// `watermarks.copies`.
pub(super) static COPIES: Known = Known {
    entry: Entry {
        name: "watermarks.copies",
        parts: Some(&[Part::Buffer]),
        memory: ByMemory::Shared,
        about: "at the trial's end, the copies that the device's software keeps of the watermarks of the group and the queue that a stream fills",
        source: "F7",
        fields: &[STREAM],
        sense: alone_in_its_queue,
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("byte, between what may have been copied at the latest and at the earliest"),
    red: Red::Mutated("clear-of-the-user-copy-broadcom", "deviation=watermark_clear_clears_all"),
    expected: |_, context, _| {
        let text = match context.switch().watermark.poll {
            None => {
                "nothing: the device does not poll its watermarks and keeps no copies".to_owned()
            }
            Some(poll) => {
                let tables = WatermarkCopy::NAMES.map(|(_, copy)| copy.table()).join(", ");
                format!(
                    "the peak in each of {tables} from the next poll on, every {poll}, until that copy is cleared"
                )
            }
        };
        by_source(text, watermark::SOURCE)
    },
    judge: |measure, done, judged| judge(done, measure.named("stream"), judged),
    ..Known::USUAL
};

/// What is kept copies of.
#[derive(Debug, Clone, Copy)]
enum Of {
    Queue,
    Group,
}

/// Judges each copy of the watermarks of the queue and of the group.
fn judge(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    for (table, copy) in WatermarkCopy::NAMES {
        for (of, what) in [(Of::Queue, "queue"), (Of::Group, "group")] {
            let on = format!("{stream}: {what} in {table}");
            done.each("watermarks.copies", &on, judged, |trial| {
                read(done, trial, stream, copy, of)
            });
        }
    }
}

fn read(
    done: &JudgeContext<'_>,
    trial: &Trial,
    stream: &str,
    copy: WatermarkCopy,
    of: Of,
) -> Result<TrialReading, Unread> {
    let declared = done.context.switch();
    let config = &declared.watermark;
    let Some(poll) = config.poll else {
        return Err(trial
            .doubt("the device does not poll its watermarks: it keeps no copies")
            .into());
    };
    let Some(own) = bump(declared, trial, stream, of)? else {
        return Err(Unread::NotApplicable("no group holds frames of a lossy class".to_owned()));
    };
    let peak = own.peak;
    let chip = name(trial, stream, of)?;
    let counters = &trial.observation.counters;
    let name = format!("{} {chip}", copy.table());
    if counters.after(&chip).is_none() && counters.after(&name).is_none() {
        return Err(trial.doubt(&format!("the device offers no counter {chip}")).into());
    }
    // Before the first poll there is no such entry.
    let got = counters.after(&name).unwrap_or(0);
    let before = done.trials.iter().map(Kept::outline);
    let before = before.filter(|other| other.number < trial.number);
    let earlier = before.map(|other| bump(declared, other, stream, of));
    let earlier: Vec<Bump> = earlier.filter_map(|bump| bump.ok().flatten()).collect();
    let span = shown(config, poll, trial, copy, &own, &earlier);
    let Span { lo, hi } = span;
    let wanted = if lo == hi { format!("{lo}B") } else { format!("{lo}B to {hi}B") };
    let took = match trial.observation.counters.took {
        Dur::ZERO => String::new(),
        took => format!(", read and cleared within {}", Unit::Ps.show(took.0)),
    };
    let want = Prediction {
        unit: Unit::Bytes,
        span,
        formula: "F7",
        text: format!("{name} {wanted}, for a peak of {peak}B and a poll every {poll}{took}"),
        source: watermark::SOURCE,
    };
    let frames = trial.stream(stream)?.1.count.unwrap_or(0);
    let looked = Looked { count: if peak > 0 { frames } else { 0 }, of: "frames held" };
    Ok(TrialReading { span: Span::exactly(got), want, got: None, records: Vec::new(), looked })
}

/// The level of one trial, on the session's clock.
#[derive(Debug, Clone, Copy)]
struct Bump {
    peak: u64,
    /// It may be above zero within these.
    most: (Time, Time),
    /// It is the peak for certain within these.
    least: (Time, Time),
}

/// What a stream does to its queue or group; `None` when no group holds its frames.
fn bump(declared: &Switch, trial: &Trial, stream: &str, of: Of) -> Result<Option<Bump>, Doubt> {
    let (index, spec) = trial.stream(stream)?;
    let before = watermarks::before(&trial.script, spec);
    let peak_of = |off: Off| {
        let fill = BufferLedger::empty(declared).with(off).filled(&trial.script, &before);
        match of {
            Of::Queue => watermarks::queued(declared, trial, spec, off),
            Of::Group => fill.holds(spec, spec.count.unwrap_or(0)).shared,
        }
    };
    if matches!(of, Of::Group) && !declared.qos.lossless(spec.class) {
        return Ok(None);
    }
    let (peak, most) = Off::span(declared, peak_of);
    if peak != most {
        let why = format!(
            "by the declared margin, or delay, {stream} fills {peak}B to {most}B: its peak is not known"
        );
        return Err(trial.doubt(&why));
    }
    let missing =
        || trial.doubt(&format!("no storm holds the queue of {stream} from before it starts"));
    let (start, until, pause) = held(trial, index, spec).ok_or_else(missing)?;
    let speed = |port: u16| trial.observation.ports[usize::from(port)].speed;
    let frames = spec.count.unwrap_or(0);
    let (sent, drain) = (
        spec.length(speed(spec.from)).unwrap_or_default(),
        speed(spec.to).slot(spec.on_wire()).max(shaped(&declared.scheduler, spec.on_wire()).most())
            * frames,
    );
    let bound = trial.observation.bound();
    // A frame has its place in the queue when it has come there whole, and the last PFC frame tells when it has.
    let to = |port: u16| trial.observation.ports[usize::from(port)].cable;
    let arrives = to(spec.from) + speed(spec.from).slot(spec.on_wire()) + declared.transit().most();
    let told = to(spec.to) + speed(spec.to).slot(declared.macsec.pfc_size());
    let at = |at: Dur| trial.observation.origin + at;
    let most = (at(start), at(until + told + pause + drain + bound));
    let full = start + sent + arrives + bound;
    let least = (at(full), at(until.max(full)));
    Ok(Some(Bump { peak, most, least }))
}

/// When a stream starts, until when a storm that was there before holds its queue, and how long the last pause may last.
pub(super) fn held(trial: &Trial, stream: u16, spec: &StreamSpec) -> Option<(Dur, Dur, Dur)> {
    let script = &trial.script;
    let start = script.steps.iter().position(|step| step.action == Action::StartStream(stream))?;
    let holds = |action: &Action| match action {
        Action::StartStorm(storm) => {
            let storm_spec = &script.storms[usize::from(*storm)];
            let here = storm_spec.from == spec.to && storm_spec.classes >> spec.class & 1 == 1;
            here.then_some(*storm)
        }
        _ => None,
    };
    let storm = script.steps[..start].iter().find_map(|step| holds(&step.action))?;
    let ends = script.steps.iter().find(|step| step.action == Action::StopStorm(storm));
    let until = ends.map_or(script.length, |step| step.at);
    let speed = trial.observation.ports[usize::from(spec.to)].speed;
    Some((script.steps[start].at, until, speed.pause(script.storms[usize::from(storm)].quanta)))
}

/// The device's own name of a watermark.
fn name(trial: &Trial, stream: &str, of: Of) -> Result<String, Doubt> {
    let (_, spec) = trial.stream(stream)?;
    let port = |rig: u16| Switch::port_name(trial.script.dut_ports[usize::from(rig)]);
    let class = spec.class;
    Ok(match of {
        Of::Queue => DutCounter::QueueMost.of(&port(spec.to), class),
        Of::Group => DutCounter::GroupMost.of(&port(spec.from), class),
    })
}

/// What a copy shows at the end of a trial.
fn shown(
    config: &Watermark,
    poll: Dur,
    trial: &Trial,
    copy: WatermarkCopy,
    own: &Bump,
    earlier: &[Bump],
) -> Span {
    let observation = &trial.observation;
    let (origin, bound, took) =
        (observation.origin, observation.bound(), observation.counters.took);
    let (at, late) = (origin + observation.length, origin + observation.length + took);
    let clears = trial.script.steps.iter().rev();
    let cleared = clears
        .filter(|step| step.action == Action::Device(DeviceVerb::ClearWatermarks(copy)))
        .map(|step| origin + step.at)
        .next();
    let least = steps([(own.least, own.peak)].into_iter());
    let oldest = match (copy, cleared) {
        // A reset and a poll ago is as far as the periodic copy reaches.
        (WatermarkCopy::Periodic, _) => {
            let reach = config.telemetry.unwrap_or(Watermark::TELEMETRY) + poll * 2;
            Time(at.0.saturating_sub(reach.0))
        }
        // The chip was cleared when the trial began.
        (_, Some(_)) => origin,
        (_, None) => Time::ZERO,
    };
    let earlier = earlier.iter().filter(|bump| bump.most.1 > oldest && bump.most.0 < origin);
    let earlier = earlier.filter(|_| oldest < origin);
    let most = steps(earlier.chain([own]).map(|bump| (bump.most, bump.peak)));
    match copy {
        WatermarkCopy::Periodic => {
            // In real time it is read somewhere between the two; a copy that is set or reset in between is met by one of them.
            let least = [at, late].map(|at| watermark::periodic(config, &least, at).lo);
            let most = [at, late].map(|at| watermark::periodic(config, &most, at).hi);
            Span { lo: least[0].min(least[1]), hi: most[0].max(most[1]) }
        }
        WatermarkCopy::User | WatermarkCopy::Persistent => {
            let (after, before) = (
                cleared.map(|at| at + took),
                cleared.map(|at| Time(at.0.saturating_sub(bound.0)).max(origin)),
            );
            Span {
                lo: watermark::until_cleared(poll, &least, after, at).lo,
                hi: watermark::until_cleared(poll, &most, before, late).hi,
            }
        }
    }
}

/// Levels one after the other.
fn steps(bumps: impl Iterator<Item = ((Time, Time), u64)>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for ((from, until), peak) in bumps {
        // One that begins before the one before is over.
        all.pop_if(|(end, _)| *end >= from);
        all.extend([(from, peak), (until, 0)]);
    }
    all
}
