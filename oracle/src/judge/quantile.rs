//! A quantile of what was seen, and what chance leaves of it: by order statistics, whatever the distribution is.
//!
//! Of n values in their order the i-th is above the quantile q if fewer than i are below it, and how many are is binomial (n, q). So two of them hold the quantile between
//! them with a confidence that rests on nothing else (David and Nagaraja, Order Statistics, 7.1).

use super::stats::{at_least, at_most};

/// Which of the values in their order, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks {
    /// The quantile of what was seen.
    pub at: u32,
    /// The lesser of the two that hold the quantile of all that could have been.
    pub lo: u32,
    /// The greater of them.
    pub hi: u32,
}

/// The ranks of the quantile `q` of `n` values, with half of `alpha` on each side; `None`: too few, the greatest of them may be below it.
pub fn ranks(n: u32, q: f64, alpha: f64) -> Option<Ranks> {
    let first = |is: &dyn Fn(u32) -> bool| {
        let (mut below, mut from) = (0, n + 1);
        while below + 1 < from {
            let middle = u32::midpoint(below, from);
            if is(middle) { from = middle } else { below = middle }
        }
        from
    };
    let hi = first(&|rank| at_least(n, rank, q) <= alpha / 2.0);
    let above = first(&|rank| at_most(n, rank - 1, q) > alpha / 2.0);
    let at = first(&|rank| f64::from(rank) >= q * f64::from(n));
    (hi <= n).then_some(Ranks { at: at.max(1), lo: above.saturating_sub(1).max(1), hi })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_hold_a_quantile_whatever_the_distribution() {
        // The median of 10: P(K <= 1) = 11/1024, P(K <= 2) = 56/1024; by symmetry 9.
        assert_eq!(ranks(10, 0.5, 0.05), Some(Ranks { at: 5, lo: 2, hi: 9 }));
        assert_eq!(ranks(10, 0.5, 0.2), Some(Ranks { at: 5, lo: 3, hi: 8 }));
    }

    #[test]
    fn of_too_few_the_greatest_may_be_below_it() {
        // 0.99 to the power of 368 is just below 0.025.
        assert_eq!(ranks(367, 0.99, 0.05), None);
        let of = ranks(368, 0.99, 0.05).expect("enough");
        assert_eq!((of.at, of.hi), (365, 368));
    }
}
