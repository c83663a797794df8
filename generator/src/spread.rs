//! How far off many things were: a histogram, and the few figures that stand for it.

use hdrhistogram::Histogram;
use rig_units::{Dur, Time};

/// Anything above counts as this much.
const MOST: Dur = Dur::s(1_000);
/// Digits that are kept.
const DIGITS: u8 = 3;

/// Lengths of time, each counted to three digits.
#[derive(Debug, Clone)]
pub struct Spread(Histogram<u64>);

/// The figures of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// How many there were.
    pub count: u64,
    /// Half of them were no longer.
    pub p50: Dur,
    /// Nine tenths.
    pub p90: Dur,
    /// 99 of a hundred.
    pub p99: Dur,
    /// 999 of a thousand.
    pub p99_9: Dur,
    /// The longest.
    pub max: Dur,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread::new()
    }
}

impl Spread {
    /// Of nothing yet.
    pub fn new() -> Spread {
        Spread(Histogram::new_with_max(MOST.0, DIGITS).expect("bounds that the crate takes"))
    }

    /// How far the gaps between `timestamps` are from `gap`.
    pub fn of_gaps(timestamps: &[Time], gap: Dur) -> Spread {
        let mut spread = Spread::new();
        for pair in timestamps.windows(2) {
            let between = pair[1].since(pair[0]).unwrap_or_default();
            spread.add(Dur(between.0.abs_diff(gap.0)));
        }
        spread
    }

    /// How late `timestamps` are that were due from `first` on, one every `gap`.
    pub fn of_lateness(timestamps: &[Time], first: Time, gap: Dur) -> Spread {
        let mut spread = Spread::new();
        for (number, stamp) in (0_u64..).zip(timestamps) {
            spread.add(stamp.since(first + gap * number).unwrap_or_default());
        }
        spread
    }

    /// Counts one more.
    #[inline]
    pub fn add(&mut self, dur: Dur) {
        self.0.saturating_record(dur.0);
    }

    /// Counts everything that `other` counted.
    pub fn merge(&mut self, other: &Spread) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// How many it counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Count, quantiles and greatest of what it counted.
    pub fn figures(&self) -> Figures {
        let at = |quantile| Dur(self.0.value_at_quantile(quantile));
        Figures {
            count: self.0.len(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: Dur(self.0.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::ZERO + Dur::ns(ns)
    }

    #[test]
    fn figures_are_those_of_what_was_counted_to_a_thousandth() {
        let mut spread = Spread::new();
        (1..=1_000).for_each(|n| spread.add(Dur::ns(n)));
        let figures = spread.figures();
        let near = |got: Dur, want: Dur| got.0.abs_diff(want.0) * 1_000 <= want.0 * 2;
        assert_eq!(figures.count, 1_000);
        assert!(
            near(figures.p50, Dur::ns(500)) && near(figures.p99_9, Dur::ns(999)),
            "{figures:?}"
        );
        assert!(near(figures.max, Dur::us(1)));
        assert_eq!(Spread::new().figures(), Figures::default());
    }

    #[test]
    fn what_is_longer_than_all_it_counts_to_counts_as_that() {
        let mut spread = Spread::new();
        spread.add(Dur(u64::MAX));
        assert!(spread.figures().max >= MOST);
    }

    #[test]
    fn gaps_and_lateness_are_taken_from_the_stamps() {
        let timestamps = [at(100), at(205), at(300)];
        let gaps = Spread::of_gaps(&timestamps, Dur::ns(100)).figures();
        assert_eq!((gaps.count, gaps.p50.0 / 1_000, gaps.max.0 / 1_000), (2, 5, 5));
        let late = Spread::of_lateness(&timestamps, at(100), Dur::ns(100)).figures();
        assert_eq!((late.count, late.p50, late.max.0 / 1_000), (3, Dur::ZERO, 5));
    }
}
