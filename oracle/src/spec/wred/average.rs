//! The moving average of a queue's depth as frames come, whatever the load (Floyd and Jacobson, ToN 1(4), 1993, section 4), in real
//! numbers: with w = 2^-n each frame that arrives and meets a depth d makes `a` to `a + w (d - a)`. While the queue is empty, `a` falls as if
//! small frames went by that meet nothing: m of them make it `(1 - w)^m a`.
//!
//! What is known of a depth is an interval, and so is the average: both recurrences grow with what they are given, and each end
//! follows from its own.
//!
//! A device rounds: in the fixed point of DPDK's `rte_red` each frame rounds up by less than a step of 2^-(10+n) B, of which
//! what is old keeps 1 - w: together less than 2^-10 B. What is left after idle time is rounded down, in 32 bits behind the point, once for each
//! frame at the most. And it compares whole bytes: less than a byte more.

use super::{Curves, chance_at};
use core::ops::RangeInclusive;

/// The least and the most that an average may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Average {
    lo: f64,
    hi: f64,
}

/// A step of the fixed point in which idle time is counted.
const IDLE_STEP: f64 = 1.0 / 4_294_967_296.0;

#[expect(
    clippy::cast_precision_loss,
    reason = "depths and counts of frames are far below 2^53, or beyond all that matters"
)]
const fn real(whole: u64) -> f64 {
    whole as f64
}

impl Average {
    /// Of a queue that never held more than `most` bytes.
    pub const fn within(most: u64) -> Average {
        Average { lo: 0.0, hi: real(most) }
    }

    /// Whatever lies from `lo` to `hi` bytes.
    pub(super) const fn between(lo: f64, hi: f64) -> Average {
        Average { lo, hi }
    }

    /// Its least and its most.
    #[cfg(test)]
    pub(super) const fn ends(self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    /// A frame arrived, and the depth that decides about it was one of `depths`. The weight is 2^-`weight`.
    #[must_use]
    pub fn take(self, weight: u8, depths: &RangeInclusive<u64>) -> Average {
        let w = (-f64::from(weight)).exp2();
        let taken = |average: f64, depth: &u64| average + w * (real(*depth) - average);
        Average { lo: taken(self.lo, depths.start()), hi: taken(self.hi, depths.end()) }
    }

    /// The queue was empty while as many small frames as one of `frames` might have gone by.
    #[must_use]
    pub fn idle(self, weight: u8, frames: &RangeInclusive<u64>) -> Average {
        let old = 1.0 - (-f64::from(weight)).exp2();
        let (least, most) = (real(*frames.start()), real(*frames.end()));
        let rounded = (1.0 - (most + 64.0) * IDLE_STEP).max(0.0);
        Average { lo: self.lo * old.powf(most) * rounded, hi: self.hi * old.powf(least) }
    }

    /// What may be this or the other.
    #[must_use]
    pub const fn or(self, other: Average) -> Average {
        Average { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The least and the most that a device may compare, in bytes.
    pub(super) const fn compared(self) -> (f64, f64) {
        ((self.lo - 1.0).max(0.0), self.hi + 1.0 / 1_024.0)
    }

    /// The chances at those.
    pub fn chances(self, held: &Curves) -> (f64, f64) {
        let (lo, hi) = self.compared();
        (chance_at(&held.least, lo), chance_at(&held.most, hi))
    }
}
