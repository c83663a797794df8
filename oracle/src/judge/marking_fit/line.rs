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
        }
    }

    /// Whether the most likely line from this `kmin` reaches a bar.
    fn reaches_from(&self, kmin: f64, bar: f64) -> bool {
        let likely = |slope| self.ln_likelihood(slope, kmin);
        reaches((0.0, self.most_slope(kmin)), bar, likely, |slope| slope)
    }

    /// Whether the most likely line with this chance at a depth does.
    fn reaches_through(&self, (at, share): (f64, f64), bar: f64) -> bool {
        let slope = |kmin: f64| share / (at - kmin);
        let likely = |kmin| self.ln_likelihood(slope(kmin), kmin);
        reaches((0.0, self.most_kmin().min(at)), bar, likely, slope)
    }

    /// The values of kmin that keep the likelihood above a bar which `best` reaches.
    pub(super) fn kmins(&self, best: &Best, bar: f64) -> (f64, f64) {
        let likely = |kmin: f64| self.reaches_from(kmin, bar);
        // Without a mark below the jump kmin may be just below it.
        let marked = self.below.iter().any(|bin| bin.marked > 0);
        let hi = if marked { edge(best.kmin, self.most_kmin(), likely) } else { self.jump().1 };
        (edge(best.kmin, 0.0, likely), hi)
    }

    /// The same for the chance just below the jump, wherever between its two depths that is.
    pub(super) fn pmaxs(&self, best: &Best, bar: f64) -> (f64, f64) {
        let (from, to) = self.jump();
        let at = |end: f64| (best.slope * (end - best.kmin)).clamp(0.0, 1.0);
        let likely = |end: f64| move |share: f64| self.reaches_through((end, share), bar);
        // The chance grows on the way from one depth to the next; with none above it may grow to anything.
        let lo = edge(at(from), 0.0, likely(from));
        let hi = if to.is_finite() { edge(at(to), 1.0, likely(to)) } else { 1.0 };
        (lo, hi)
    }
}

/// The part of an interval that golden sections leave.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The greatest value of a function with one maximum, and where it is: by golden sections. At the ends it may be undefined, or
/// minus infinity.
fn greatest(from: f64, to: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
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

/// Whether [`greatest`] comes to `bar` or more. It is known as soon as one value does, or as soon as none can: `f` is concave in `x`,
/// and so lies below each of its chords where that is prolonged.
fn reaches(
    (from, to): (f64, f64),
    bar: f64,
    f: impl Fn(f64) -> f64,
    x: impl Fn(f64) -> f64,
) -> bool {
    // What a prolonged chord is off by at most, for rounding.
    let clear = bar - 1e-6 * bar.abs().max(1.0);
    let (mut lo, mut hi) = (from, to);
    let (mut at_lo, mut at_hi) = (None, None);
    let (mut a, mut b) = (hi - GOLDEN * (hi - lo), lo + GOLDEN * (hi - lo));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..STEPS {
        if at_a >= bar || at_b >= bar {
            return true;
        }
        let prolonged = |(p, at_p): (f64, f64), (q, at_q): (f64, f64), to: f64| {
            at_q + ((at_q - at_p) / (x(q) - x(p)) * (x(to) - x(q))).max(0.0)
        };
        let outside = prolonged((b, at_b), (a, at_a), lo).max(prolonged((a, at_a), (b, at_b), hi));
        // Of what cannot be nothing follows.
        let below = |at: f64| at.is_finite() && at < clear;
        let left = at_lo.is_some_and(|at_lo| below(prolonged((lo, at_lo), (a, at_a), b)));
        let right = at_hi.is_some_and(|at_hi| below(prolonged((hi, at_hi), (b, at_b), a)));
        if below(outside) && (left || right) {
            return false;
        }
        if at_a > at_b || (at_a == at_b && at_a == f64::NEG_INFINITY) {
            (hi, at_hi, b, at_b) = (b, Some(at_b), a, at_a);
            a = hi - GOLDEN * (hi - lo);
            at_a = f(a);
        } else {
            (lo, at_lo, a, at_a) = (a, Some(at_a), b, at_b);
            b = lo + GOLDEN * (hi - lo);
            at_b = f(b);
        }
    }
    [at_a, at_b, f(from), f(to)].into_iter().any(|value| value >= bar)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::Draws;

    /// What is known early is what comes of looking to the end, for bars around what there is, and however few frames there are.
    #[test]
    fn a_bar_is_reached_where_the_greatest_value_is_no_less() {
        let (mut reached, mut missed) = (0, 0);
        for seed in 0..60 {
            let mut draws = Draws::new(seed);
            let frames = [1, 7, 400][usize::try_from(seed % 3).unwrap()];
            let bin = |behind: u32| {
                let share = f64::from(behind.saturating_sub(12)) / 60.0;
                let marked = (0..frames).map(|_| u32::from(draws.share() < share)).sum();
                Bin { depth: u64::from(behind) * 1_040, frames, marked }
            };
            let bins: Vec<Bin> = (0..40).map(bin).collect();
            let line = Line::below(&bins, bins.len());
            let top = line.most(Fixed::Nothing).ln_likelihood;
            for off in [0.0, 0.1, 3.0, 12.0, 1_000.0] {
                let bar = top - off;
                let mut same = |got: bool, want: bool, what: &str| {
                    assert_eq!(got, want, "{seed}: {off} below the top, {what}");
                    *if want { &mut reached } else { &mut missed } += 1;
                };
                for part in 0..=20 {
                    let kmin = line.most_kmin() * f64::from(part) / 20.0;
                    let want = line.most(Fixed::Kmin(kmin)).ln_likelihood >= bar;
                    same(line.reaches_from(kmin, bar), want, "from kmin");
                    let (at, share) = (line.jump().0, f64::from(part) / 20.0);
                    let slope = |kmin: f64| share / (at - kmin);
                    let likely = |kmin: f64| line.ln_likelihood(slope(kmin), kmin);
                    let (most, _) = greatest(0.0, line.most_kmin().min(at), likely);
                    same(line.reaches_through((at, share), bar), most >= bar, "through the end");
                }
            }
        }
        assert!(reached > 1_000 && missed > 1_000, "{reached} and {missed}");
    }
}
