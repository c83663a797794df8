//! How marks are spaced by a device that counts frames since the last one (Floyd and Jacobson, ToN 1(4), 1993, figure 17, as Linux has it in
//! include/net/red.h).
//!
//! After each mark a threshold R is drawn, uniform from 0 to 1. The k-th frame after the mark is marked where `k p_k >= R`, with p_k its chance by
//! the curve (F8). So after a mark of frame j none of the frames up to i is marked with a chance of
//!
//! `1 - max over k from j + 1 to i of (k - j) p_k`,
//!
//! at a p that stays the same a gap is one of 1 to 1/p, each as likely, and marks are twice as many as p says. A frame below kmin, or from kmax on, ends
//! the count: the next one between the two is not marked, and R is drawn anew.
//!
//! What a device did to the frames before is seen, so each frame has a chance given those: [`Gap`]. With a depth that is open it is an interval.

use super::{Average, Curves, chance};
use rig_lab::Curve;

/// Where on a curve the depth is that a frame met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Zone {
    /// Below kmin.
    Below,
    /// From kmin to below kmax, with the chance there.
    Between(f64),
    /// From kmax on.
    Above,
}

impl Zone {
    /// That of a depth in bytes.
    pub fn of(curve: &Curve, depth: u64) -> Zone {
        if depth >= curve.kmax.0 {
            Zone::Above
        } else if depth < curve.kmin.0 {
            Zone::Below
        } else {
            Zone::Between(chance(curve, depth).share())
        }
    }
}

/// Where a frame was, at the least and at the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Met {
    /// At the least depth that it may have met.
    pub least: Zone,
    /// At the greatest.
    pub most: Zone,
}

impl Met {
    /// Where no curve applies.
    pub const NOWHERE: Met = Met { least: Zone::Below, most: Zone::Below };

    /// At a depth of `lo` to `hi` bytes.
    pub fn at(held: &Curves, lo: u64, hi: u64) -> Met {
        Met { least: Zone::of(&held.least, lo), most: Zone::of(&held.most, hi) }
    }

    /// At an average, which is compared in whole bytes.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an average is that of depths: not below 0, far below 2^53"
    )]
    pub fn of_average(held: &Curves, average: Average) -> Met {
        let (lo, hi) = average.compared();
        Met::at(held, lo.floor() as u64, hi.ceil() as u64)
    }

    /// The least and the greatest chance by the curve of a frame that is surely between kmin and kmax.
    pub const fn between(&self) -> Option<(f64, f64)> {
        match (self.least, self.most) {
            (Zone::Between(lo), Zone::Between(hi)) => Some((lo, hi)),
            _ => None,
        }
    }

    /// The same of one that may be there.
    fn may_be_between(&self, held: &Curves) -> Option<(f64, f64)> {
        let lo = match self.least {
            Zone::Below => 0.0,
            Zone::Between(lo) => lo,
            Zone::Above => return None,
        };
        let hi = match self.most {
            Zone::Below => return None,
            Zone::Between(hi) => hi,
            Zone::Above if held.is_step => return None,
            Zone::Above => f64::from(held.most.pmax.0) / 1e6,
        };
        Some((lo, hi))
    }

    /// Whether the count surely ends with it.
    pub fn ends_the_count(&self) -> bool {
        self.least == self.most && self.between().is_none()
    }
}

/// What is known of the count when a frame comes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// By how many frames the count is at for this one, at the least and at the most; none: nobody knows.
    least: u64,
    most: Option<u64>,
    /// What R is above, being above what frames since the last mark came to: at the least and at the most.
    passed: (f64, f64),
}

#[expect(clippy::cast_precision_loss, reason = "counts of frames are far below 2^53")]
const fn real(count: u64) -> f64 {
    count as f64
}

impl Gap {
    /// Of a queue of which nothing was seen.
    pub const UNKNOWN: Gap = Gap { least: 0, most: None, passed: (0.0, 1.0) };

    /// After the count has ended with the frame before, or with its mark.
    const fn begun(count: u64) -> Gap {
        Gap { least: count, most: Some(count), passed: (0.0, 0.0) }
    }

    /// What R is held against for a frame between the thresholds, at the least and at the most.
    fn reaches(&self, (lo, hi): (f64, f64)) -> (f64, f64) {
        let most = self.most.map_or(1.0, |most| real(most) * hi);
        ((real(self.least) * lo).min(1.0), most.min(1.0))
    }

    /// The least and the greatest chance that a frame is taken, given all before.
    pub fn chances(&self, held: &Curves, met: Met) -> (f64, f64) {
        let given = |reached: f64, passed: f64| {
            if passed >= 1.0 {
                f64::from(u8::from(reached >= 1.0))
            } else {
                ((reached - passed) / (1.0 - passed)).clamp(0.0, 1.0)
            }
        };
        let between = met.may_be_between(held).map(|shares| {
            let (lo, hi) = self.reaches(shares);
            let most = if self.passed.0 >= 1.0 { 1.0 } else { given(hi, self.passed.0) };
            (given(lo, self.passed.1), most)
        });
        let below = (met.least == Zone::Below).then_some((0.0, 0.0));
        let above = (met.most == Zone::Above).then_some((1.0, 1.0));
        let all = [between, below, above].into_iter().flatten();
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0))
    }

    /// After a frame of which it was seen whether it was taken; `None`: it does not show.
    #[must_use]
    pub fn after(self, held: &Curves, met: Met, taken: Option<bool>) -> Gap {
        let both = |a: Gap, b: Gap| Gap {
            least: a.least.min(b.least),
            most: a.most.zip(b.most).map(|(a, b)| a.max(b)),
            passed: (a.passed.0.min(b.passed.0), a.passed.1.max(b.passed.1)),
        };
        let between = met.may_be_between(held).map(|shares| {
            let (lo, hi) = self.reaches(shares);
            let passed = (self.passed.0.max(lo), self.passed.1.max(hi));
            let goes_on =
                Gap { least: self.least + 1, most: self.most.map(|most| most + 1), passed };
            match taken {
                Some(true) => Gap::begun(1),
                Some(false) => goes_on,
                None => both(Gap::begun(1), goes_on),
            }
        });
        // What is below kmin is not taken, what is above kmax is: either way the next one is the first of a count.
        let below = met.least == Zone::Below && taken != Some(true);
        let above = met.most == Zone::Above && taken != Some(false);
        let ended = (below || above).then_some(Gap::begun(0));
        let all = [between, ended].into_iter().flatten();
        // What no right device does ends the count, too, or goes on: both are left open.
        all.reduce(both).unwrap_or_else(|| both(Gap::begun(0), Gap::begun(1)))
    }
}

/// The chances of no, one, two, ... marks among frames between the thresholds, by their chances by the curve, in order, of which the first has a count
/// of 0. Only marks count whose gap to the one before is one of those that `counts` says.
pub fn marks(shares: &[f64], counts: impl Fn(usize) -> bool) -> Vec<f64> {
    // By the frame that the count is from: the chance of so many marks up to it.
    let mut by_last: Vec<Vec<f64>> = vec![Vec::new(); shares.len().max(1)];
    by_last[0] = vec![1.0];
    let mut all = Vec::new();
    for last in 0..by_last.len() {
        let so_far = core::mem::take(&mut by_last[last]);
        if so_far.is_empty() {
            continue;
        }
        let mut passed = 0.0_f64;
        for (gap, &share) in (1_usize..).zip(&shares[(last + 1).min(shares.len())..]) {
            let reached = (real(gap as u64) * share).clamp(passed, 1.0);
            if reached > passed {
                let more = usize::from(counts(gap));
                add(&mut by_last[last + gap], &so_far, (more, reached - passed));
            }
            passed = reached;
            if passed >= 1.0 {
                break;
            }
        }
        add(&mut all, &so_far, (0, 1.0 - passed));
    }
    all
}

/// Adds chances, `more` marks further on and so many times as likely.
fn add(to: &mut Vec<f64>, from: &[f64], (more, times): (usize, f64)) {
    if times <= 0.0 {
        return;
    }
    if to.len() < from.len() + more {
        to.resize(from.len() + more, 0.0);
    }
    for (sum, chance) in to[more..].iter_mut().zip(from) {
        *sum += chance * times;
    }
}

#[cfg(test)]
mod tests;
