//! The copies that a device's software makes of its counters (row 78): two intervals after the rig's frames have passed, each
//! group must show them. One that stands still or comes late shows less.
//!
//! A copy may be of a moment before the trial as the trial begins, and has then grown by more than the trial's frames at its end: by what
//! the chip had counted and the copy did not show. By more than that and all that was sent to be counted no copy grows.

use super::judge_context::{JudgeContext, TrialReading};
use super::judged::Unread;
use super::measurement::{Known, Needs, Red, Tells, by_source};
use crate::Prediction;
use crate::spec::flex_counter::{SOURCE, shown_by};
use crate::trials::trial::Trial;
use crate::verdict::Looked;
use rig_capture::fate::{Delays, Fates};
use rig_capture::passage::Passage;
use rig_capture::{DutCounter, Observation, Record, Span, Unit, What};
use rig_lab::{FlexGroup, Part};
use rig_testcases::vocabulary::{Entry, Looks, STREAM, ValueKind, required};
use rig_testcases::{Measure, Script, StreamSpec};
use rig_units::Time;

/// `counters.copied`.
pub(super) static COPIED: Known = Known {
    entry: Entry {
        name: "counters.copied",
        parts: Some(&[Part::FlexCounter]),
        about: "the copies that the device's software makes of a group of its counters show the frames of a stream once two of the group's intervals have gone by",
        source: "what the wire shows",
        fields: &[
            STREAM,
            required(
                "group",
                ValueKind::Word(FlexGroup::WORDS),
                "port, queue or pg-drop",
                "the counters that are copied together: `port` is what the stream's last port has sent, `queue` what its queue has, `pg-drop` what its priority group has dropped of it",
            ),
        ],
        looks: &[Looks::FOLLOWS],
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("frame of the stream that passed two intervals before the trial's end"),
    red: Red::Mutated("copies-of-what-passed-broadcom", "flex_counter.queue=never"),
    on: |measure| {
        let word = measure.arguments.word("group").unwrap_or_default();
        format!("{}: {word}", measure.named("stream"))
    },
    expected: |measure, context, _| {
        let every = group(measure).and_then(|group| context.switch().flex_counter.every(group));
        let text = match every {
            None => "nothing: the device makes no copies of that group".to_owned(),
            Some(every) => {
                format!(
                    "each frame of the stream counted in the copy within two intervals of {every}"
                )
            }
        };
        by_source(text, SOURCE)
    },
    judge: |measure, done, judged| {
        let Some(group) = group(measure) else { return };
        let on = (COPIED.on)(measure);
        done.each("counters.copied", &on, judged, |trial| {
            read(done, trial, measure.named("stream"), group)
        });
    },
    ..Known::USUAL
};

fn group(measure: &Measure) -> Option<FlexGroup> {
    let word = measure.arguments.word("group")?;
    FlexGroup::NAMES.into_iter().find(|(name, _)| *name == word).map(|(_, group)| group)
}

fn read(
    done: &JudgeContext<'_>,
    trial: &Trial,
    stream: &str,
    group: FlexGroup,
) -> Result<TrialReading, Unread> {
    let declared = done.context.switch();
    let Some(every) = declared.flex_counter.every(group) else {
        return Err(trial.doubt("the device makes no copies of that group").into());
    };
    let (index, spec) = trial.stream(stream)?;
    if group == FlexGroup::PgDrop && !declared.qos.lossless(spec.class) {
        let why = "no priority group drops frames of a lossy class".to_owned();
        return Err(Unread::NotApplicable(why));
    }
    let observation = &trial.observation;
    let port = |rig: u16| observation.ports[usize::from(rig)].dut_port.as_str();
    let counter = match group {
        FlexGroup::Port => DutCounter::PortSent.of(port(spec.to), spec.class),
        FlexGroup::Queue => DutCounter::QueueSent.of(port(spec.to), spec.class),
        FlexGroup::PgDrop => DutCounter::GroupDropped.of(port(spec.from), spec.class),
    };
    let counters = &observation.counters;
    let name = format!("{} {counter}", FlexGroup::TABLE);
    let is_there = counters.has(&counter) || counters.moving.contains(&counter);
    if !is_there && !counters.has(&name) {
        return Err(trial.doubt(&format!("the device offers no counter {counter}")).into());
    }
    let ends = Time::ZERO + observation.length;
    let too_short = || trial.doubt(&format!("the trial is shorter than two intervals of {every}"));
    let by = shown_by(every, ends).ok_or_else(too_short)?;
    let fates = Fates::of(observation, &trial.script, index, Delays::from(done.context.seen()));
    if fates.sampled {
        return Err(trial.doubt(&format!("not every frame of {stream} was recorded")).into());
    }
    let counted = counted(&fates, group, by.saturating_sub(observation.bound()));
    // Of a group that was not copied yet there is nothing.
    let got = counters.grew(&name).unwrap_or(0);
    let most =
        most(observation, (&trial.script, spec), group).zip(behind(observation, &counter, &name));
    let hi = most.map_or(u64::MAX, |(sent, behind)| sent.saturating_add(behind));
    let want = Prediction {
        unit: Unit::Frames,
        span: Span { lo: counted, hi },
        formula: "",
        text: format!(
            "{name} grown by at least {counted}, what the wire shows up to two intervals of {every} before the trial's end{}",
            most.map_or_else(String::new, |_| format!(
                ", and by no more than the {hi} that there were"
            ))
        ),
        source: SOURCE,
    };
    let looked = Looked { count: counted, of: "frames that must have been copied" };
    let got_text = format!("grown by {got}");
    Ok(TrialReading {
        span: Span::exactly(got),
        want,
        got: Some(got_text),
        records: Vec::new(),
        looked,
    })
}

/// How many frames were surely counted by then.
fn counted(fates: &Fates<'_>, group: FlexGroup, by: Time) -> u64 {
    let is_counted = |passage: &&Passage| match group {
        // Whatever has come to the rig has left its queue and its port.
        FlexGroup::Port | FlexGroup::Queue => {
            passage.received.is_some_and(|received| received.at <= by)
        }
        FlexGroup::PgDrop => fates.lost(passage) && fates.way.ready(passage.sent.at).hi <= by.0,
    };
    let count = fates.passages.all.iter().filter(is_counted).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// How many frames the rig had counted at most: all that it sent to that port, queue or group. `None` where not every frame was recorded,
/// or somebody else sends, too: ends that answer.
fn most(
    observation: &Observation,
    (script, of): (&Script, &StreamSpec),
    group: FlexGroup,
) -> Option<u64> {
    let ours = |record: &Record| {
        matches!(record.what, What::Data { .. } | What::Pfc { .. } | What::BadPfc { .. })
    };
    if observation.integrity.unrecorded > 0 || !observation.records.iter().all(ours) {
        return None;
    }
    let counts = |spec: &StreamSpec| match group {
        FlexGroup::Port => spec.to == of.to,
        FlexGroup::Queue => spec.to == of.to && spec.class == of.class,
        FlexGroup::PgDrop => spec.from == of.from && spec.class == of.class,
    };
    let all = script.streams.iter().zip(&observation.streams);
    let sent = all.filter(|(spec, _)| counts(spec)).map(|(_, count)| match group {
        FlexGroup::Port | FlexGroup::Queue => count.sent,
        FlexGroup::PgDrop => count.sent.saturating_sub(count.received),
    });
    Some(sent.sum())
}

/// What the chip had counted as the trial began and the copy did not show; `None` where nobody says what the chip had.
fn behind(observation: &Observation, counter: &str, name: &str) -> Option<u64> {
    let counters = &observation.counters;
    let before = |name: &str| Some(counters.after(name)? - counters.grew(name)?);
    Some(before(counter)?.saturating_sub(before(name).unwrap_or(0)))
}
