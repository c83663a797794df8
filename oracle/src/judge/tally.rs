//! How often something happens when it is drawn for many times, each time with a chance of its own (Poisson's binomial
//! distribution): exactly, by folding one chance after another into the distribution.
//!
//! What is left out of the far tails is kept count of and added to either tail, so that a stated chance is never too small.

use super::stats;
use core::ops::RangeInclusive;

/// Chances below it are left out of the tails.
pub(super) const LEAST: f64 = 1e-22;

/// The distribution of a count.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The least count that is not left out.
    first: usize,
    /// Chances of it and those that follow.
    chances: Vec<f64>,
    /// What was left out, and more than rounding took away.
    lost: f64,
    mean: f64,
    variance: f64,
}

impl Tally {
    /// Each of `shares` is drawn for `times` times.
    pub fn of(shares: &[f64], times: u32) -> Tally {
        let counts: Vec<(f64, u32)> = shares.iter().map(|&p| (p, times)).collect();
        Tally::of_counts(&counts)
    }

    /// So many draws of each chance.
    pub fn of_counts(counts: &[(f64, u32)]) -> Tally {
        let none = Tally { first: 0, chances: vec![1.0], lost: 0.0, mean: 0.0, variance: 0.0 };
        counts.iter().fold(none, |tally, &(p, times)| tally.and(times, p.clamp(0.0, 1.0)))
    }

    /// The same with `times` more draws of chance `p`.
    fn and(mut self, times: u32, p: f64) -> Tally {
        self.mean += f64::from(times) * p;
        self.variance += f64::from(times) * p * (1.0 - p);
        if p <= 0.0 || times == 0 {
            return self;
        }
        if p >= 1.0 {
            self.first += usize::try_from(times).unwrap_or(usize::MAX);
            return self;
        }
        let (first, more) = binomial(times, p);
        self.first += first;
        self.fold(&more)
    }

    /// As many times over as `times` says: what is counted once has the chances `once`, from 0 on.
    pub fn repeated(once: &[f64], times: u32) -> Tally {
        let counts = || (0_u32..).map(f64::from).zip(once);
        let mean: f64 = counts().map(|(count, p)| count * p).sum();
        let square: f64 = counts().map(|(count, p)| count * count * p).sum();
        let mut all = Tally::of(&[], 0);
        // By squaring: the power that each bit of the number stands for.
        let mut power = Tally { chances: once.to_vec(), ..Tally::of(&[], 0) };
        let mut left = times;
        while left > 0 {
            if left & 1 == 1 {
                all.first += power.first;
                all = all.fold(&power.chances);
                all.lost += power.lost;
            }
            let chances = power.chances.clone();
            power.first *= 2;
            power.lost *= 2.0;
            power = power.fold(&chances);
            left >>= 1;
        }
        all.mean = f64::from(times) * mean;
        all.variance = f64::from(times) * (square - mean * mean);
        all
    }

    /// The sum with another count that does not depend on this one.
    #[must_use]
    pub fn plus(self, other: &Tally) -> Tally {
        let (mean, variance) = (self.mean + other.mean, self.variance + other.variance);
        let (first, lost) = (self.first + other.first, self.lost + other.lost);
        let sum = Tally { first, ..self }.fold(&other.chances);
        Tally { mean, variance, lost: sum.lost.max(lost), ..sum }
    }

    /// The sum with something else that is counted.
    fn fold(self, more: &[f64]) -> Tally {
        let mut chances = vec![0.0; self.chances.len() + more.len() - 1];
        for (at, chance) in self.chances.iter().enumerate() {
            for (sum, other) in chances[at..].iter_mut().zip(more) {
                *sum += chance * other;
            }
        }
        let cut = chances.iter().take_while(|chance| **chance < LEAST).count();
        let keep =
            chances.len() - chances.iter().rev().take_while(|chance| **chance < LEAST).count();
        chances.truncate(keep);
        chances.drain(..cut.min(keep));
        // Rounding: a part in 10^15 for every fold.
        let lost = (1.0 - chances.iter().sum::<f64>()).max(0.0) + 1e-15;
        Tally { first: self.first + cut, chances, lost: lost.max(self.lost), ..self }
    }

    /// The expected count.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the count.
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// The chance of `count` or less; never stated too small.
    pub fn at_most(&self, count: u64) -> f64 {
        let up_to = usize::try_from(count).unwrap_or(usize::MAX).checked_sub(self.first);
        let sum = up_to.map_or(0.0, |up_to| {
            self.chances[..=up_to.min(self.chances.len() - 1)].iter().sum::<f64>()
        });
        self.with_lost(sum)
    }

    /// The chance of `count` or more; never stated too small.
    pub fn at_least(&self, count: u64) -> f64 {
        let from = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(self.first);
        let sum = self.chances.get(from..).map_or(0.0, |chances| chances.iter().sum::<f64>());
        self.with_lost(sum)
    }

    /// Certain draws alone leave nothing out.
    fn with_lost(&self, sum: f64) -> f64 {
        if self.chances.len() == 1 { sum.min(1.0) } else { (sum + self.lost).min(1.0) }
    }

    /// The counts that a healthy device shows but for a chance of `alpha`, half of it on each side.
    pub fn bounds(&self, alpha: f64) -> RangeInclusive<u64> {
        let first = u64::try_from(self.first).unwrap_or(u64::MAX);
        let last = first + u64::try_from(self.chances.len() - 1).unwrap_or(0);
        let lo = (first..=last).find(|&count| self.at_most(count) >= alpha / 2.0).unwrap_or(last);
        let hi = (first..=last).rev().find(|&count| self.at_least(count) >= alpha / 2.0);
        lo..=hi.unwrap_or(first).max(lo)
    }

    /// Whether a count contradicts the chances, at a false-alarm chance of `alpha`.
    #[cfg(test)]
    pub(super) fn is_contradicted_by(&self, count: u64, alpha: f64) -> bool {
        self.at_most(count) < alpha / 2.0 || self.at_least(count) < alpha / 2.0
    }
}

/// The chances of `first`, `first + 1`, ... of `n`, without tails below [`LEAST`].
fn binomial(n: u32, p: f64) -> (usize, Vec<f64>) {
    let odds = p / (1.0 - p);
    let up = |k: u32| f64::from(n - k) / f64::from(k + 1) * odds;
    let mode = stats::whole(((f64::from(n) + 1.0) * p).floor()).min(n);
    // Upwards and downwards from the most frequent, and then scaled to a sum of one.
    let mut above = vec![1.0];
    let mut k = mode;
    while k < n && above[above.len() - 1] > LEAST {
        above.push(above[above.len() - 1] * up(k));
        k += 1;
    }
    let mut below = Vec::new();
    let (mut k, mut chance) = (mode, 1.0);
    while k > 0 && chance > LEAST {
        k -= 1;
        chance /= up(k);
        below.push(chance);
    }
    let first = usize::try_from(k).unwrap_or(0);
    below.reverse();
    below.append(&mut above);
    let sum: f64 = below.iter().sum();
    below.iter_mut().for_each(|chance| *chance /= sum);
    (first, below)
}

/// The fewest repetitions after which the count tells `other` from `declared` with the given power, at a false-alarm chance of
/// `alpha`; `None` when even `most` do not. Exact, but for a chance that the power falls short again for a few more.
pub fn repetitions(
    declared: &[f64],
    other: &[f64],
    (alpha, power): (f64, f64),
    most: u32,
) -> Option<u32> {
    let tells = |times: u32| {
        let bounds = Tally::of(declared, times).bounds(alpha);
        let other = Tally::of(other, times);
        let below = bounds.start().checked_sub(1).map_or(0.0, |count| other.at_most(count));
        below.max(other.at_least(bounds.end() + 1)) >= power
    };
    let mut times = 1;
    while !tells(times) {
        if times >= most {
            return None;
        }
        times = times.saturating_mul(2).min(most);
    }
    let (mut lo, mut hi) = (times / 2, times);
    while hi - lo > 1 {
        let middle = lo + (hi - lo) / 2;
        if tells(middle) { hi = middle } else { lo = middle }
    }
    Some(hi)
}

#[cfg(test)]
mod tests;
