//! A burst of equal frames that is held and let go: what each frame sees, and what is to be expected of it.

use super::{Chance, Class, Fate, chance, step};
use core::ops::RangeInclusive;
use rig_lab::{Buffer, Curve, Marking, Wred};
use rig_units::Bytes;

/// Equal frames that fill a queue and are let go. Valid without an average (`weight: 0`); see [`super::Average`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// How many frames go in.
    pub frames: u64,
    /// What each adds to the depth.
    pub step: u64,
    /// The curve that decides.
    pub curve: Curve,
    /// Where it is looked at.
    pub point: Marking,
    /// Whether a frame counts in its own depth.
    pub counts_itself: bool,
    /// Frames of the queue that stand before the first, and leave before it.
    pub before: u64,
}

/// How often something is to be expected, when each frame is drawn for by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// F9: the sum of the chances.
    pub mean: f64,
    /// The sum of p (1 - p).
    pub variance: f64,
    /// Frames of which it is certain.
    pub always: u64,
    /// Frames of which it is out of the question.
    pub never: u64,
}

impl Burst {
    /// A burst of frames of one class, into an empty queue of a device as it is declared. For frames that are dropped, `frames`
    /// is how many arrive, and what each sees holds as long as none before it was dropped.
    pub fn of(buffer: &Buffer, wred: &Wred, class: Class, frame: Bytes, frames: u64) -> Burst {
        Burst {
            frames,
            step: step(buffer, wred, frame),
            curve: class.curve(wred),
            point: class.point(wred),
            counts_itself: wred.counts_itself,
            before: 0,
        }
    }

    /// The same with the point of marking the other way round.
    pub const fn turned(self) -> Burst {
        let point = match self.point {
            Marking::Dequeue => Marking::Enqueue,
            Marking::Enqueue => Marking::Dequeue,
        };
        Burst { point, ..self }
    }

    /// The depth that decides about the `rank`-th frame, the first being 1.
    pub const fn depth(&self, rank: u64) -> u64 {
        let others = match self.point {
            Marking::Dequeue => self.frames.saturating_sub(rank),
            Marking::Enqueue => (self.before + rank).saturating_sub(1),
        };
        (others + self.counts_itself as u64).saturating_mul(self.step)
    }

    /// The chance that the frame of this rank, from 1, is marked or dropped early.
    pub fn chance(&self, rank: u64) -> Chance {
        chance(&self.curve, self.depth(rank))
    }

    /// The chances of all frames, the first first.
    pub fn chances(&self) -> impl Iterator<Item = Chance> + '_ {
        (1..=self.frames).map(|rank| self.chance(rank))
    }

    /// The same in floating point.
    pub fn shares(&self) -> Vec<f64> {
        self.chances().map(Chance::share).collect()
    }

    /// F9.
    pub fn expected(&self) -> Expected {
        let none = Expected { mean: 0.0, variance: 0.0, always: 0, never: 0 };
        self.chances().fold(none, |sum, chance| {
            let p = chance.share();
            Expected {
                mean: sum.mean + p,
                variance: sum.variance + p * (1.0 - p),
                always: sum.always + u64::from(chance.certain() == Some(true)),
                never: sum.never + u64::from(chance.certain() == Some(false)),
            }
        })
    }

    /// The ranks that are certainly taken; `None` when there is none. They are in one piece: depth rises or falls with rank.
    pub fn always(&self) -> Option<RangeInclusive<u64>> {
        self.piece(|chance| chance.certain() == Some(true))
    }

    /// The ranks that certainly are not.
    pub fn never(&self) -> Option<RangeInclusive<u64>> {
        self.piece(|chance| chance.certain() == Some(false))
    }

    /// The ranks of which chance decides.
    #[cfg(test)]
    pub(super) fn by_chance(&self) -> Option<RangeInclusive<u64>> {
        self.piece(|chance| chance.certain().is_none())
    }

    fn piece(&self, is: impl Fn(Chance) -> bool) -> Option<RangeInclusive<u64>> {
        let within = |rank: &u64| is(self.chance(*rank));
        let first = (1..=self.frames).find(within)?;
        let last = (first..=self.frames).take_while(within).last()?;
        Some(first..=last)
    }
}

/// How many of the frames that arrive at an empty queue surely go in before the first may be dropped, and how many are in it
/// when the next is certain to be, nothing leaving; `None` for frames that are marked instead. With a step at kmax the two are
/// the same.
pub fn goes_in(buffer: &Buffer, wred: &Wred, class: Class, frame: Bytes) -> Option<(u64, u64)> {
    let fate = class.fate(wred);
    if fate == Fate::Mark {
        return None;
    }
    // By the curve that takes the most: what may be dropped by none of those that the device may hold goes in.
    let held = class.held(wred);
    let (curve, step) = (held.most, step(buffer, wred, frame));
    let itself = u64::from(wred.counts_itself);
    // The n-th frame sees (n - 1 + itself) steps: the first to see a depth is the one after depth / step, rounded up.
    let before = |depth: u64| depth.div_ceil(step.max(1)).saturating_sub(itself);
    let grows = curve.pmax.0 > 0 && fate == Fate::Drop;
    let kmin = if grows { curve.kmin.0.saturating_add(1) } else { curve.kmax.0 };
    let least = before(kmin.min(curve.kmax.0));
    Some((least, before(held.least.kmax.0)))
}
