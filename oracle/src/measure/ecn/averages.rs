//! The moving average of a queue's depth at each of its frames, under whatever load: it takes in each frame that comes, at the depth that the
//! wire shows, and falls while the queue is empty; or a timer that nobody sees has it take in what the queue holds.
//!
//! Where stamps leave open which of several frames came first, an average is that after any of them. Nothing is assumed of what was before the
//! trial but that the queue was empty from its start on.

use super::draws::Rule;
use super::{Passed, Span, Trial, Visit};
use crate::spec::wred::{self, Average, Sampled, Stay};
use core::ops::RangeInclusive;
use rig_capture::analyse::ActionView;
use rig_lab::{Buffer, DepthUnit, Wred};
use rig_units::{Apart, Bytes, Dur, MIN_FRAME};

/// The averages of one queue.
pub(super) enum Averages {
    /// Each frame that arrives makes another of it.
    ByFrame(ByFrame),
    /// A timer does.
    Timed(Timed),
}

impl Averages {
    /// Those of the queue that frames went to, by the rule of one of its streams; `None` where the depth of the moment decides.
    pub(super) fn of(trial: &Trial, visits: &[Visit], rule: &Rule) -> Option<Averages> {
        let wred = &rule.declared.wred;
        visits.first().filter(|_| wred.weight > 0)?;
        Some(match wred.average_interval {
            Some(every) => Averages::Timed(Timed::of(trial, visits, rule, every)),
            None => Averages::ByFrame(ByFrame::of(trial, visits, rule)),
        })
    }

    /// What decides about a frame when it comes, the `rank`-th of all, from 0: where frames make it, itself taken in.
    pub(super) fn at_arrival(&self, rank: usize, visit: &Visit) -> Average {
        match self {
            Averages::ByFrame(all) => all.at_arrival(rank, visit),
            Averages::Timed(all) => all.at(visit.came),
        }
    }

    /// What decides about one when it starts to leave.
    pub(super) fn at_departure(&self, passed: &Passed) -> Average {
        match self {
            Averages::ByFrame(all) => all.at_departure(passed),
            Averages::Timed(all) => all.at(passed.begun),
        }
    }
}

/// Those that a timer makes.
pub(super) struct Timed {
    held: Sampled,
    weight: u8,
    every: RangeInclusive<Dur>,
    /// What no queue is ever deeper than.
    most: u64,
}

impl Timed {
    fn of(trial: &Trial, visits: &[Visit], rule: &Rule, every: Dur) -> Timed {
        let (script, buffer, wred) = (&trial.script, &rule.declared.buffer, &rule.declared.wred);
        let stay = |visit: &Visit| {
            let spec = &script.streams[usize::from(visit.stream)];
            let port = &trial.observation.ports[usize::from(spec.to)];
            let begun = visit.passed.as_ref()?.begun;
            let left = begun.lo..=begun.hi + port.speed.slot(spec.size).0;
            let bytes = wred::step(buffer, wred, spec.size);
            Some(Stay { bytes, came: visit.came.lo..=visit.came.hi, left })
        };
        let stays: Vec<Stay> = visits.iter().filter_map(stay).collect();
        let apart = ActionView::from(&rule.declared).apart;
        Timed {
            held: Sampled::of(&stays),
            weight: wred.weight,
            every: apart.least(every)..=apart.most(every),
            most: most(buffer, wred),
        }
    }

    fn at(&self, time: Span) -> Average {
        self.held.average(self.weight, &self.every, &(time.lo..=time.hi), self.most)
    }
}

/// Those that each frame makes.
pub(super) struct ByFrame {
    /// After so many frames have come; the first is before any.
    after: Vec<Average>,
    /// The earliest and the latest that each may have come, each in order.
    early: Vec<u64>,
    late: Vec<u64>,
    /// Whether all came by one port, so that their order is known whatever their stamps.
    in_order: bool,
}

impl ByFrame {
    /// Those of some frames, of which there is one.
    fn of(trial: &Trial, visits: &[Visit], rule: &Rule) -> ByFrame {
        let Wred { weight, .. } = rule.declared.wred;
        let spec = |visit: &Visit| &trial.script.streams[usize::from(visit.stream)];
        let port = &trial.observation.ports[usize::from(spec(&visits[0]).to)];
        let apart = ActionView::from(&rule.declared).apart;
        let small = Small { frame: port.speed.slot(MIN_FRAME), apart };
        let mut now = Average::within(most(&rule.declared.buffer, &rule.declared.wred));
        let mut after = vec![now];
        // When the last frame may have begun to leave, and when it surely had left.
        let mut gone = Span::exactly(0);
        for visit in visits {
            if visit.found.lo == 0 {
                let least =
                    if visit.found.hi == 0 { visit.came.lo.saturating_sub(gone.hi) } else { 0 };
                let most = visit.came.hi.saturating_sub(gone.lo);
                now = now.idle(weight, &(small.least(Dur(least))..=small.most(Dur(most))));
            }
            let met = rule.with_itself(visit.found, spec(visit).size);
            now = now.take(weight, &(met.lo..=met.hi));
            after.push(now);
            if let Some(passed) = &visit.passed {
                let slot = port.speed.slot(spec(visit).size).0;
                gone.lo = gone.lo.max(passed.begun.lo);
                gone.hi = gone.hi.max(passed.begun.hi + slot);
            }
        }
        let sorted = |end: fn(Span) -> u64| {
            let mut all: Vec<u64> = visits.iter().map(|visit| end(visit.came)).collect();
            all.sort_unstable();
            all
        };
        let (early, late) = (sorted(|came| came.lo), sorted(|came| came.hi));
        let in_order = visits.iter().all(|visit| spec(visit).from == spec(&visits[0]).from);
        ByFrame { after, early, late, in_order }
    }

    fn at_arrival(&self, rank: usize, visit: &Visit) -> Average {
        if self.in_order {
            return self.after[rank + 1];
        }
        let before = self.late.partition_point(|&late| late < visit.came.lo);
        let by = self.early.partition_point(|&early| early <= visit.came.hi);
        self.any(before + 1, by)
    }

    fn at_departure(&self, passed: &Passed) -> Average {
        let before = self.late.partition_point(|&late| late < passed.begun.lo);
        let by = self.early.partition_point(|&early| early <= passed.begun.hi);
        self.any(before, by)
    }

    /// That after `from` frames, after `to`, or after any number between.
    fn any(&self, from: usize, to: usize) -> Average {
        let more = self.after[from..].iter().take(to.saturating_sub(from) + 1).skip(1);
        more.fold(self.after[from], |any, one| any.or(*one))
    }
}

/// How long a small frame takes of an idle port, by the device's clock.
struct Small {
    frame: Dur,
    apart: Apart,
}

impl Small {
    /// How many may surely have gone by in so long a time.
    fn least(&self, time: Dur) -> u64 {
        (self.apart.least(time) / self.frame).saturating_sub(1)
    }

    /// How many may have gone by at the most.
    fn most(&self, time: Dur) -> u64 {
        self.apart.most(time) / self.frame + 1
    }
}

/// What no queue is ever deeper than.
fn most(buffer: &Buffer, wred: &Wred) -> u64 {
    let Buffer { pool: Bytes(pool), lossy_pool, reserved, xoff, cell, .. } = buffer;
    let bytes = pool.saturating_add(lossy_pool.0).saturating_add(reserved.0).saturating_add(xoff.0);
    match wred.unit {
        DepthUnit::Bytes => bytes,
        DepthUnit::Packets(Bytes(each)) => (bytes / cell.0.max(1)).saturating_mul(each),
    }
}
