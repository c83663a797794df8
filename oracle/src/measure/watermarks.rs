//! The device's own watermarks and drop counters of a group and a queue, after every number of frames that was tried (F7).

use super::counted_late;
use super::judge_context::{JudgeContext, TrialReading, judgement};
use super::judged::{At, Judged};
use super::measurement::{Known, Needs, Red, Tells, by_formula};
use super::through::Through;
use crate::Prediction;
use crate::measure::buffer_ledger::BufferLedger;
use crate::spec::buffer::{self, Off};
use crate::trials::ask::Role;
use crate::trials::kept::Kept;
use crate::trials::trial::Trial;
use crate::verdict::{Doubt, Looked};
use rig_capture::{DutCounter, Span, Unit};
use rig_lab::{Part, Switch};
use rig_testcases::vocabulary::{ByMemory, Entry, STREAM};
use rig_testcases::{Script, StreamSpec};

/// `buffer.watermarks`.
pub(super) static WATERMARKS: Known = Known {
    entry: Entry {
        name: "buffer.watermarks",
        parts: Some(&[Part::Buffer]),
        memory: ByMemory::Shared,
        about: "the device's watermarks of the group and the queue after every number of frames that was tried",
        source: "F7",
        fields: &[STREAM],
        beside_a_search: true,
        ..Entry::USUAL
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("counter after each number of frames"),
    red: Red::Mutated("xoff-threshold-broadcom", "deviation=watermark_not_cleared"),
    expected: |measure, _, _| {
        let stream = measure.named("stream");
        let text = format!(
            "what the frames of {stream} that wait take of its group and its queue, for each number of them"
        );
        by_formula(text, measure.entry.source)
    },
    judge: |measure, done, judged| judge(done, measure.named("stream"), judged),
    unpromised: Some(counted_late::by_several),
    ..Known::USUAL
};

/// One counter of the device, and what it must show.
struct Check {
    name: String,
    want: Span,
    got: Option<u64>,
}

impl Check {
    fn is_met(&self) -> bool {
        self.got.is_some_and(|got| self.want.meets(Span::exactly(got)))
    }
}

/// Judges the watermarks of the group that `stream` fills and of the queue that it is sent to.
fn judge(done: &JudgeContext<'_>, stream: &str, judged: &mut Judged) {
    let declared = done.context.switch();
    if let Some(poll) = declared.watermark.poll {
        let detail = format!("the device reads and clears its watermarks by itself every {poll}");
        judged.doubt(At::Whole, Doubt { reason: "not-observable", detail });
        return;
    }
    let mut all = Vec::new();
    for trial in done.goes_on().map(Kept::whole) {
        if trial.void.is_some() || trial.role == Role::Calibration {
            continue;
        }
        let Some(spec) = trial.script.streams.iter().find(|spec| spec.name == stream) else {
            continue;
        };
        let checks = checks(declared, &trial, spec);
        if let Some(missing) = checks.iter().find(|check| check.got.is_none()) {
            let why = format!("the device offers no counter {}", missing.name);
            judged.doubt(At::Whole, trial.doubt(&why));
            return;
        }
        let wrong: Vec<&Check> = checks.iter().filter(|check| !check.is_met()).collect();
        let frames = spec.count.unwrap_or(0);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "F7",
            text: match wrong.first() {
                Some(Check { name, want: Span { lo, hi }, .. }) if lo == hi => {
                    format!("{name} {lo} after {frames} frames")
                }
                Some(Check { name, want: Span { lo, hi }, .. }) => {
                    format!("{name} {lo} to {hi} after {frames} frames")
                }
                None => format!(
                    "each of {} watermarks and counters right after every number of frames",
                    checks.len()
                ),
            },
            source: DutCounter::WATERMARK_SOURCE,
        };
        let got = wrong.first().map(|first| {
            let more = match wrong.len() {
                1 => String::new(),
                more => format!(", and {} more off", more - 1),
            };
            format!("{}{more}", first.got.unwrap_or_default())
        });
        let off = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
        let looked = Looked { count: frames, of: "frames held" };
        let span = Span::exactly(off);
        all.push((trial.number, TrialReading { span, want, got, records: Vec::new(), looked }));
    }
    let place = done.context.group.label.clone();
    if let Some(one) = judgement("buffer.watermarks", stream, place, &all) {
        judged.file(At::Whole, one);
    }
}

/// What the counters must show after a trial: of a device whose thresholds may lie off, all that they may.
fn checks(declared: &Switch, trial: &Trial, spec: &StreamSpec) -> Vec<Check> {
    let mut ends = Off::ends(declared).into_iter();
    let first = ends.next().unwrap_or_default();
    let mut all = checks_of(declared, trial, spec, first);
    for off in ends {
        let others = checks_of(declared, trial, spec, off);
        for (own, other) in all.iter_mut().zip(others) {
            own.want.lo = own.want.lo.min(other.want.lo);
            own.want.hi = own.want.hi.max(other.want.hi);
        }
    }
    all
}

/// The same of one whose thresholds all lie so far off.
fn checks_of(declared: &Switch, trial: &Trial, spec: &StreamSpec, off: Off) -> Vec<Check> {
    let frames = spec.count.unwrap_or(0);
    let before = before(&trial.script, spec);
    let fill = BufferLedger::empty(declared).with(off).filled(&trial.script, &before);
    let lossless = fill.is_lossless(spec.class);
    let kept = frames.min(fill.first_drop(spec) - 1);
    let queued = queued(declared, trial, spec, off);
    let dropped = frames - kept;
    let port = |rig: u16| trial.observation.ports[usize::from(rig)].dut_port.clone();
    let (from, to, class) = (port(spec.from), port(spec.to), spec.class);
    let peak = |counter: DutCounter, port: &str, want: u64| {
        let name = counter.of(port, class);
        let got = trial.observation.counters.after(&name);
        Check { name, want: Span::exactly(want), got }
    };
    let grown = |counter: DutCounter, port: &str, want: u64| {
        let name = counter.of(port, class);
        let got = trial.observation.counters.grew(&name);
        Check { name, want: Span::exactly(want), got }
    };
    let mut all = vec![
        peak(DutCounter::QueueMost, &to, queued),
        grown(DutCounter::PortReceivedOther, &from, 0),
        grown(DutCounter::PortReceivedOther, &to, 0),
    ];
    let Through { received, sent } = Through::of(trial, declared, spec);
    for (counter, port, want) in [
        (DutCounter::PortReceived, &from, received),
        (DutCounter::PortSent, &to, sent),
        (DutCounter::GroupReceived, &from, Span::exactly(frames)),
    ] {
        // Not every device counts what passes its ports, nor does SONiC what its groups take in.
        if trial.observation.counters.has(&counter.of(port, class)) {
            all.push(Check { want, ..grown(counter, port, 0) });
        }
    }
    if lossless {
        let held = fill.holds(spec, frames);
        let (shared, headroom) = (held.shared, held.headroom);
        let risen = fill.risen_while_draining(spec, &held);
        let most = peak(DutCounter::GroupMost, &from, shared);
        all.push(Check { want: Span { lo: shared, hi: shared + risen }, ..most });
        all.push(peak(DutCounter::GroupMostHeadroom, &from, headroom));
        all.push(grown(DutCounter::GroupDropped, &from, dropped));
        let (pool, headroom) = everything(declared, trial, off);
        all.push(peak(DutCounter::IngressPoolMost, &from, pool));
        all.push(peak(DutCounter::HeadroomPoolMost, &from, headroom));
    } else {
        all.push(grown(DutCounter::QueueDropped, &to, dropped));
        all.push(peak(DutCounter::LossyPoolMost, &to, queued));
    }
    all
}

/// What the queue of a stream holds of all counted streams together.
pub(super) fn queued(declared: &Switch, trial: &Trial, of: &StreamSpec, off: Off) -> u64 {
    let same =
        trial.script.streams.iter().filter(|spec| (spec.to, spec.class) == (of.to, of.class));
    let counted = same.filter_map(|spec| Some((spec, spec.count?)));
    let held = counted.map(|(spec, count)| {
        let before = before(&trial.script, spec);
        let fill = BufferLedger::empty(declared).with(off).filled(&trial.script, &before);
        count.min(fill.first_drop(spec) - 1) * buffer::occupied(&declared.buffer, spec.size)
    });
    held.sum()
}

/// What all counted streams of a trial hold together of the pools and of headroom.
fn everything(declared: &Switch, trial: &Trial, off: Off) -> (u64, u64) {
    let counted = trial.script.streams.iter().filter(|spec| spec.count.is_some());
    let names: Vec<&str> = counted.map(|spec| spec.name.as_str()).collect();
    BufferLedger::empty(declared).with(off).filled(&trial.script, &names).pools()
}

/// The other streams of a trial that were filled before this one.
pub(super) fn before<'a>(script: &'a Script, spec: &StreamSpec) -> Vec<&'a str> {
    let others = script.streams.iter().take_while(|other| other.name != spec.name);
    others.filter(|other| other.count.is_some()).map(|other| other.name.as_str()).collect()
}
