//! Which frame of a load crosses, which one brings its group back, and whether it surely was more than its group had room for, by what others held of
//! the memory as each frame came or went. Read off the record: how much another stream holds at an instant follows from its frames that had come
//! by then and had not left.

use crate::spec::buffer::{Off, Others, first_drop, first_xoff, occupied, xon_after};
use crate::trials::trial::Trial;
use rig_capture::analyse::{ActionView, sends};
use rig_capture::fate::Fates;
use rig_capture::passage::{Way, around};
use rig_capture::{Dir, Span, What};
use rig_lab::Switch;
use rig_testcases::StreamSpec;
use rig_units::Within;

/// Whether more frames of a load surely came, before any of them left, than its group may have had room for; `None` where not every frame was
/// recorded, or what others hold is no matter of counting their frames.
///
/// While frames come beyond the crossing one, others leave, the limit rises, and one more may find room in the pool: so many fit at the most as
/// where others held the least that they held meanwhile.
pub(super) fn overflows(declared: &Switch, trial: &Trial, index: u16) -> Option<bool> {
    let (spec, others) = beside(declared, trial, index)?;
    // What comes once the queue is let go finds room that others made.
    let released = instants(trial, index, (spec.to, Dir::Rx)).first().map(|left| left.lo);
    let came = come(declared, trial, index);
    let came = came.into_iter().filter(|came| released.is_none_or(|at| came.hi < at));
    let held: Vec<u64> = came.map(|at| held(&others, at).lo).collect();
    let with = |pool: u64, off| Others { pool, ..Others::ALONE.with(off) };
    // None before this one needs more than the pool.
    let most = held.iter().copied().max()?;
    let first = |off| first_xoff(&declared.buffer, spec.size, &with(most, off));
    let first = usize::try_from(Off::span(declared, first).0).ok()?;
    let least = held.iter().skip(first.saturating_sub(1)).copied().min().unwrap_or(0);
    let drop = |off| first_drop(&declared.buffer, spec.size, &with(least, off));
    let (_, full) = Off::span(declared, drop);
    Some(u64::try_from(held.len()).ok()? >= full)
}

/// The frame of a load with which its group may cross its limit and surely does, counted from 1, by what others held as each came: the less of
/// the pool is left, the lower a dynamic limit. `alone` where that is not known, or there is nobody else.
pub(super) fn crossing(declared: &Switch, trial: &Trial, index: u16, alone: Span) -> Span {
    let Some((spec, others)) = beside(declared, trial, index) else { return alone };
    let with = |pool: u64| {
        let first = |off| {
            first_xoff(&declared.buffer, spec.size, &Others { pool, ..Others::ALONE.with(off) })
        };
        Off::span(declared, first)
    };
    let came = come(declared, trial, index);
    between(alone, &others, &came, |held| Span { lo: with(held.hi).0, hi: with(held.lo).1 })
}

/// The frame of a load that leaves with which a group may be back at its XON and surely is, counted from 1, by what others held as each went: a
/// limit that they lower lowers its XON. `alone` where that is not known, or there is nobody else.
pub(super) fn relieving(declared: &Switch, trial: &Trial, index: u16, alone: Span) -> Span {
    let Some((spec, others)) = beside(declared, trial, index) else { return alone };
    let count = spec.count.unwrap_or(0);
    let with = |pool: u64| {
        let after = |off| {
            let others = Others { pool, ..Others::ALONE.with(off) };
            xon_after(&declared.buffer, spec.size, &others, count).unwrap_or(0)
        };
        Off::hull(declared, after)
    };
    let mut gone = begun(trial, index, spec);
    for (begins, ends) in gone.iter_mut().zip(instants(trial, index, (spec.to, Dir::Rx))) {
        begins.hi = ends.hi;
    }
    between(alone, &others, &gone, |held| Span { lo: with(held.lo).0, hi: with(held.hi).1 })
}

/// Whether the first `frames` of a load surely had come before any of them began to leave: what its group held then is their number. Of one that
/// was not recorded a later one tells, or the rhythm by which it is sent.
pub(super) fn held_together(trial: &Trial, index: u16, frames: u64) -> bool {
    let Some(spec) = trial.script.streams.get(usize::from(index)) else { return false };
    let observation = &trial.observation;
    let port = &observation.ports[usize::from(spec.from)];
    let mut sent = observation.of_stream(index, (spec.from, Dir::Tx));
    let last = sent.find(|(_, record)| match record.what {
        What::Data { seq, .. } => u64::from(seq) + 1 >= frames,
        _ => false,
    });
    let due = || {
        let (_, due) =
            sends(observation, &trial.script, index).filter(|_| observation.partial(index))?;
        Some(due)
    };
    let came = last.map(|(_, record)| record.at).or_else(due);
    let came = came.map(|at| around(at + port.cable, port.provenance.bound()));
    let leaves = begun(trial, index, spec).first().copied();
    came.is_some_and(|came| leaves.is_none_or(|leaves| came.hi < leaves.lo))
}

/// The first of the frames at these instants that may be the one which is meant, and the first that surely is, where `meant` says which by what others
/// hold.
fn between(alone: Span, others: &[Other], at: &[Span], meant: impl Fn(Span) -> Span) -> Span {
    if others.is_empty() {
        return alone;
    }
    let numbered = || (1_u64..).zip(at).map(|(number, at)| (number, meant(held(others, *at))));
    let may = numbered().find(|(number, of)| of.lo <= *number);
    let surely = numbered().find(|(number, of)| of.hi <= *number);
    let lo = may.map_or(alone.lo, |(number, _)| number.min(alone.lo));
    let hi = surely.map_or(alone.hi, |(number, _)| number.max(alone.hi));
    Span { lo, hi }
}

/// A load of which every frame was recorded, and what else may hold some of the memory meanwhile.
fn beside<'t>(
    declared: &Switch,
    trial: &'t Trial,
    index: u16,
) -> Option<(&'t StreamSpec, Vec<Other>)> {
    let streams = &trial.script.streams;
    let spec = streams.get(usize::from(index))?;
    let others = (0_u16..).zip(streams).filter(|(other, _)| *other != index);
    let others = others.map(|one| Other::of(declared, trial, one)).collect::<Option<_>>()?;
    (!trial.observation.partial(index)).then_some((spec, others))
}

/// The least and the most that others hold at an instant.
fn held(others: &[Other], at: Span) -> Span {
    let all = others.iter().map(|other| other.holds(at));
    all.fold(Span::exactly(0), |sum, one| Span { lo: sum.lo + one.lo, hi: sum.hi + one.hi })
}

/// When each frame of a stream had come to the device: sorted.
fn come(declared: &Switch, trial: &Trial, stream: u16) -> Vec<Span> {
    let spec = &trial.script.streams[usize::from(stream)];
    let way = Way::of(&trial.observation, spec, (Within::ZERO, declared.switching_mode));
    let frames = trial.observation.of_stream(stream, (spec.from, Dir::Tx));
    let mut all: Vec<Span> = frames.map(|(_, record)| way.arrival(record.at)).collect();
    all.sort_unstable_by_key(|span| span.lo);
    all
}

/// When the last bit of each frame of a stream was at the device, as it passed a port of the rig: sorted.
fn instants(trial: &Trial, stream: u16, (port, dir): (u16, Dir)) -> Vec<Span> {
    let trace = &trial.observation.ports[usize::from(port)];
    let frames = trial.observation.of_stream(stream, (port, dir));
    let at = frames.map(|(_, record)| match dir {
        Dir::Tx => record.at + trace.cable,
        Dir::Rx => record.at.saturating_sub(trace.cable),
    });
    let mut all: Vec<Span> = at.map(|at| around(at, trace.provenance.bound())).collect();
    all.sort_unstable_by_key(|span| span.lo);
    all
}

/// When each frame of a stream began to leave the device: from then on it may have freed it.
fn begun(trial: &Trial, stream: u16, spec: &StreamSpec) -> Vec<Span> {
    let slot = trial.observation.ports[usize::from(spec.to)].speed.slot(spec.on_wire());
    let mut all = instants(trial, stream, (spec.to, Dir::Rx));
    for left in &mut all {
        left.lo = left.lo.saturating_sub(slot.0);
        left.hi = left.hi.saturating_sub(slot.0);
    }
    all
}

/// Another stream, none of which pauses anybody: whatever of it is in the device has its place in the pool.
struct Other {
    /// Bytes that each frame takes.
    each: u64,
    came: Vec<Span>,
    /// When each began to leave.
    left: Vec<Span>,
    /// When each was gone.
    gone: Vec<Span>,
}

impl Other {
    fn of(declared: &Switch, trial: &Trial, (index, spec): (u16, &StreamSpec)) -> Option<Other> {
        let counted = !declared.qos.lossless(spec.class) && !trial.observation.partial(index);
        // What is lost has no place in the memory.
        let came = || {
            let delays = ActionView::from(declared).delays();
            let fates = Fates::of(&trial.observation, &trial.script, index, delays);
            let kept = fates.passages.all.iter().filter(|passage| !fates.lost(passage));
            let mut came: Vec<Span> =
                kept.map(|passage| fates.way.arrival(passage.sent.at)).collect();
            came.sort_unstable_by_key(|span| span.lo);
            came
        };
        counted.then(|| Other {
            each: occupied(&declared.buffer, spec.size),
            came: came(),
            left: begun(trial, index, spec),
            gone: instants(trial, index, (spec.to, Dir::Rx)),
        })
    }

    /// What it holds at an instant: at the least what surely had come, less what may have left; at the most what may have come, less what
    /// surely was gone.
    fn holds(&self, at: Span) -> Span {
        let bytes = |came: usize, left: usize| {
            u64::try_from(came.saturating_sub(left)).unwrap_or(u64::MAX).saturating_mul(self.each)
        };
        let came = self.came.partition_point(|came| came.hi < at.lo);
        let left = self.left.partition_point(|left| left.lo <= at.hi);
        let may = self.came.partition_point(|came| came.lo <= at.hi);
        let gone = self.gone.partition_point(|gone| gone.hi < at.lo);
        Span { lo: bytes(came, left), hi: bytes(may, gone) }
    }
}
