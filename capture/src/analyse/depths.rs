//! Rule `ecn.depth`: what each frame of a queue found in it when it came, what it left behind in it when it went, and whether it
//! was marked meanwhile.
//!
//! Nothing is asked of the device: a frame is in its queue from when it has come into the device to its first bit out of it. Where
//! stamps are off, or it is open whether a frame that is leaving still counts, a depth is an interval.

use crate::passage::{Passages, around, come, start};
use crate::{Observation, Span, What};
use rig_testcases::{Script, SwitchingMode};
use rig_units::Bytes;
use std::collections::BTreeMap;

/// One frame that was sent to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Index of its stream.
    pub stream: u16,
    /// Its number in the stream.
    pub seq: u32,
    /// The record of its sending.
    pub sent: usize,
    /// Whether it was marked then.
    pub came_marked: bool,
    /// When it had come into the device, in picoseconds of the trial.
    pub came: Span,
    /// What other frames held of the queue when it came.
    pub found: Span,
    /// What it showed when it had passed; `None`: it never arrived.
    pub passed: Option<Passed>,
}

/// A frame that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The record of its arrival.
    pub record: usize,
    /// Whether it was marked then.
    pub marked: bool,
    /// When it started to leave, in picoseconds of the trial.
    pub begun: Span,
    /// What other frames held of the queue when it started to leave.
    pub left: Span,
}

/// Every recorded frame to one queue, named by the rig port behind it and the class, in the order in which they were sent.
/// `weigh` tells what a frame of some size takes of the queue.
///
/// # Errors
/// Not every frame of the queue was recorded.
pub fn depths(
    observation: &Observation,
    script: &Script,
    (to, class): (u16, u8),
    mode: SwitchingMode,
    weigh: &dyn Fn(Bytes) -> u64,
) -> Result<Vec<Visit>, String> {
    let mut all = Vec::new();
    let own =
        (0_u16..).zip(&script.streams).filter(|(_, spec)| (spec.to, spec.class) == (to, class));
    for (stream, spec) in own {
        if observation.partial(stream) {
            return Err(format!("not every frame of {} was recorded", spec.name));
        }
        let (from, out) =
            (&observation.ports[usize::from(spec.from)], &observation.ports[usize::from(to)]);
        let weight = weigh(spec.size);
        all.extend(Passages::of(observation, script, stream).all.into_iter().map(|passage| {
            let gone = passage.received.map(|sight| Gone {
                record: sight.record,
                begun: start(out, spec.on_wire(), sight.at),
                ended: around(sight.at.saturating_sub(out.cable), out.provenance.bound()),
            });
            let came = come(from, (mode, spec.on_wire()), passage.sent.at);
            let (seq, sent) = (passage.seq, passage.sent.record);
            Way { stream, seq, from: spec.from, weight, sent, came, gone }
        }));
    }
    all.sort_by_key(|way| way.sent);
    let queue = Queue::of(&all, script.ports.len());
    let marked =
        |record: usize| matches!(observation.records[record].what, What::Data { ce: true, .. });
    // Frames of one port come in the order in which they were sent, whatever their stamps.
    let mut before = vec![0; script.ports.len()];
    let visits = all.iter().map(|way| {
        let same = &mut before[usize::from(way.from)];
        let found = queue.found(way, *same);
        let passed = way.gone.as_ref().map(|gone| {
            *same += way.weight;
            let (record, begun) = (gone.record, gone.begun);
            Passed { record, marked: marked(record), begun, left: queue.left(gone) }
        });
        let (stream, seq, sent, came) = (way.stream, way.seq, way.sent, way.came);
        Visit { stream, seq, sent, came_marked: marked(sent), came, found, passed }
    });
    Ok(visits.collect())
}

/// One frame's way through the queue.
struct Way {
    stream: u16,
    seq: u32,
    from: u16,
    weight: u64,
    sent: usize,
    came: Span,
    gone: Option<Gone>,
}

/// How a frame left.
struct Gone {
    record: usize,
    begun: Span,
    ended: Span,
}

/// What went into the queue and out of it.
struct Queue {
    /// By the port that they came in by.
    ins: Vec<Steps>,
    begins: Steps,
    ends: Steps,
    /// What has left with each frame and before it, by its record: frames of one port go in the order in which they arrive.
    out: BTreeMap<usize, u64>,
}

impl Queue {
    fn of(all: &[Way], ports: usize) -> Queue {
        let mut ins: Vec<Steps> = (0..ports).map(|_| Steps::default()).collect();
        let (mut begins, mut ends) = (Steps::default(), Steps::default());
        let mut out = BTreeMap::new();
        for (way, gone) in all.iter().filter_map(|way| Some((way, way.gone.as_ref()?))) {
            ins[usize::from(way.from)].push(way.came, way.weight);
            begins.push(gone.begun, way.weight);
            ends.push(gone.ended, way.weight);
            out.insert(gone.record, way.weight);
        }
        ins.iter_mut().chain([&mut begins, &mut ends]).for_each(Steps::sort);
        let mut sum = 0;
        for weight in out.values_mut() {
            sum += *weight;
            *weight = sum;
        }
        Queue { ins, begins, ends, out }
    }

    /// What a frame finds; `same` is what came by its own port before it.
    fn found(&self, way: &Way, same: u64) -> Span {
        let others = self.ins.iter().enumerate().filter(|(port, _)| *port != usize::from(way.from));
        let (mut lo, mut hi) = (same, same);
        for (_, steps) in others {
            lo += steps.surely_before(way.came.lo);
            hi += steps.perhaps_by(way.came.hi);
        }
        Span {
            lo: lo.saturating_sub(self.begins.perhaps_by(way.came.hi)),
            hi: hi.saturating_sub(self.ends.surely_before(way.came.lo)),
        }
    }

    /// What is left when a frame has begun to leave.
    fn left(&self, gone: &Gone) -> Span {
        let out = self.out[&gone.record];
        let sum = |of: &dyn Fn(&Steps) -> u64| self.ins.iter().map(of).sum::<u64>();
        Span {
            lo: sum(&|steps| steps.surely_by(gone.begun.lo)).saturating_sub(out),
            hi: sum(&|steps| steps.perhaps_by(gone.begun.hi)).saturating_sub(out),
        }
    }
}

/// Weights that are added at instants.
#[derive(Debug, Default)]
struct Steps {
    /// By the earliest that each may have been, and the sum up to it; by the latest.
    early: Vec<(u64, u64)>,
    late: Vec<(u64, u64)>,
}

impl Steps {
    fn push(&mut self, at: Span, weight: u64) {
        self.early.push((at.lo, weight));
        self.late.push((at.hi, weight));
    }

    /// Sorts them and adds them up.
    fn sort(&mut self) {
        for steps in [&mut self.early, &mut self.late] {
            steps.sort_unstable();
            let mut sum = 0;
            for (_, weight) in steps {
                sum += *weight;
                *weight = sum;
            }
        }
    }

    /// All that surely were before `at`.
    fn surely_before(&self, at: u64) -> u64 {
        sum(&self.late, |time| time < at)
    }

    /// All that surely were by `at`.
    fn surely_by(&self, at: u64) -> u64 {
        sum(&self.late, |time| time <= at)
    }

    /// All that may have been by `at`.
    fn perhaps_by(&self, at: u64) -> u64 {
        sum(&self.early, |time| time <= at)
    }
}

/// The sum up to the last step for which `counts` holds, as it does for every one before it.
fn sum(steps: &[(u64, u64)], counts: impl Fn(u64) -> bool) -> u64 {
    let counted = steps.partition_point(|(time, _)| counts(*time));
    counted.checked_sub(1).map_or(0, |last| steps[last].1)
}

#[cfg(test)]
mod tests;
