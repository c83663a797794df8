//! The line below a jump: its likelihood, the best of it with one thing fixed, and what keeps the likelihood above a bar.

use crate::judge::likelihood::{Bin, ln_likelihood};

/// Depths below a jump, and that every frame above was marked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    below: &'a [Bin],
    /// The first depth above the jump, if there is one.
    next: Option<f64>,
}

/// What is fixed while the rest is made as likely as can be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fixed {
    /// Slope and kmin are free.
    Nothing,
    /// kmin is this.
    Kmin(f64),
    /// The chance at a depth is this: the depth and the chance.
    Through(f64, f64),
}

/// A line that is the most likely one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    pub(super) ln_likelihood: f64,
    /// The chance that is gained with each byte.
    pub(super) slope: f64,
    pub(super) kmin: f64,
}

/// Halvings, or thirds of an interval that are left out: to a part in 10^7 and less.
const STEPS: usize = 36;

#[expect(clippy::cast_precision_loss, reason = "depths are far below 2^53")]
const fn depth(bin: &Bin) -> f64 {
    bin.depth as f64
}

impl<'a> Line<'a> {
    pub(super) fn below(bins: &'a [Bin], jump: usize) -> Line<'a> {
        Line { below: &bins[..jump], next: bins.get(jump).map(depth) }
    }

    /// Between which depths the jump is: above the first, at most the second.
    pub(super) fn jump(&self) -> (f64, f64) {
        (self.below.last().map_or(0.0, depth), self.next.unwrap_or(f64::INFINITY))
    }

    fn ln_likelihood(&self, slope: f64, kmin: f64) -> f64 {
        let of = |bin: &Bin| {
            let share = (slope * (depth(bin) - kmin)).clamp(0.0, 1.0);
            ln_likelihood(bin.frames, bin.marked, share)
        };
        self.below.iter().map(of).sum()
    }

    /// kmin lies below the first depth that was marked; where none was it may be anything up to the jump.
    fn most_kmin(&self) -> f64 {
        let first = self.below.iter().find(|bin| bin.marked > 0).map(depth);
        first.unwrap_or_else(|| self.jump().0)
    }

    /// The steepest line from `kmin` that is no certainty at the last depth.
    fn most_slope(&self, kmin: f64) -> f64 {
        let run = self.jump().0 - kmin;
        if run > 0.0 { 1.0 / run } else { 0.0 }
    }

    /// The most likely line with something fixed.
    pub(super) fn most(&self, fixed: Fixed) -> Best {
        match fixed {
            Fixed::Kmin(kmin) => {
                let (ln_likelihood, slope) =
                    greatest(0.0, self.most_slope(kmin), |slope| self.ln_likelihood(slope, kmin));
                Best { ln_likelihood, slope, kmin }
            }
            Fixed::Nothing => {
                let likely = |kmin: f64| self.most(Fixed::Kmin(kmin)).ln_likelihood;
                let (_, kmin) = greatest(0.0, self.most_kmin(), likely);
                self.most(Fixed::Kmin(kmin))
            }
            Fixed::Through(at, share) => {
                let slope = |kmin: f64| share / (at - kmin);
                let (ln_likelihood, kmin) = greatest(0.0, self.most_kmin().min(at), |kmin| {
                    self.ln_likelihood(slope(kmin), kmin)
                });
                Best { ln_likelihood, slope: slope(kmin), kmin }
            }
        }
    }

    /// The values of kmin that keep the likelihood above a bar which `best` reaches.
    pub(super) fn kmins(&self, best: &Best, bar: f64) -> (f64, f64) {
        let likely = |kmin: f64| self.most(Fixed::Kmin(kmin)).ln_likelihood >= bar;
        // Without a mark below the jump kmin may be just below it.
        let marked = self.below.iter().any(|bin| bin.marked > 0);
        let hi = if marked { edge(best.kmin, self.most_kmin(), likely) } else { self.jump().1 };
        (edge(best.kmin, 0.0, likely), hi)
    }

    /// The same for the chance just below the jump, wherever between its two depths that is.
    pub(super) fn pmaxs(&self, best: &Best, bar: f64) -> (f64, f64) {
        let (from, to) = self.jump();
        let at = |end: f64| (best.slope * (end - best.kmin)).clamp(0.0, 1.0);
        let likely =
            |end: f64| move |share: f64| self.most(Fixed::Through(end, share)).ln_likelihood >= bar;
        // The chance grows on the way from one depth to the next; with none above it may grow to anything.
        let lo = edge(at(from), 0.0, likely(from));
        let hi = if to.is_finite() { edge(at(to), 1.0, likely(to)) } else { 1.0 };
        (lo, hi)
    }
}

/// The greatest value of a function with one maximum, and where it is: by golden sections. At the ends it may be undefined, or
/// minus infinity.
fn greatest(from: f64, to: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut lo, mut hi) = (from, to);
    let (mut a, mut b) = (hi - GOLDEN * (hi - lo), lo + GOLDEN * (hi - lo));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..STEPS {
        // Of two impossible values the one nearer to the start is the better: marks are there, so some chance has to be.
        if at_a > at_b || (at_a == at_b && at_a == f64::NEG_INFINITY) {
            (hi, b, at_b) = (b, a, at_a);
            a = hi - GOLDEN * (hi - lo);
            at_a = f(a);
        } else {
            (lo, a, at_a) = (a, b, at_b);
            b = lo + GOLDEN * (hi - lo);
            at_b = f(b);
        }
    }
    let ends = [(f(from), from), (f(to), to), (at_a, a), (at_b, b)];
    let better = |best: (f64, f64), end: (f64, f64)| if end.0 > best.0 { end } else { best };
    ends.into_iter().fold((f64::NEG_INFINITY, from), better)
}

/// How far from `inside` towards `end` a condition holds that holds inside and, once it fails, fails for good.
fn edge(inside: f64, end: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(end) {
        return end;
    }
    let (mut yes, mut no) = (inside, end);
    for _ in 0..STEPS {
        let middle = f64::midpoint(yes, no);
        if holds(middle) { yes = middle } else { no = middle }
    }
    // Outwards: an interval that is a little too long is none too short.
    no
}
