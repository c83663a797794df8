//! Real numbers that are known to within a bound: each is somewhere between two ends, and each operation keeps whatever it may come
//! to between the ends of its result. What floating point itself rounds off is kept, too: every end moves outward by one unit in
//! its last place.
//!
//! None is below zero: they are rates, and shares of them.

use core::ops::{Add, Mul, Sub};

/// A number somewhere from `lo` to `hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Real {
    /// Not below.
    pub lo: f64,
    /// Not above.
    pub hi: f64,
}

impl Real {
    /// All of one.
    pub const ONE: Real = Real::exactly(1.0);

    /// One that is known.
    pub const fn exactly(value: f64) -> Real {
        Real { lo: value, hi: value }
    }

    /// A whole number; exact below 2^53, which is 9 Pb/s.
    #[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
    pub const fn of(whole: u64) -> Real {
        Real::exactly(whole as f64)
    }

    /// The same, off by as much either way.
    #[must_use]
    pub fn give(self, by: f64) -> Real {
        Real::outward(self.lo - by, self.hi + by)
    }

    /// Both of them, and all between.
    #[must_use]
    pub const fn hull(self, other: Real) -> Real {
        Real { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// No more than `most`.
    #[must_use]
    pub const fn at_most(self, most: Real) -> Real {
        Real { lo: self.lo.min(most.lo), hi: self.hi.min(most.hi) }
    }

    /// No less than `least`.
    #[must_use]
    pub const fn at_least(self, least: Real) -> Real {
        Real { lo: self.lo.max(least.lo), hi: self.hi.max(least.hi) }
    }

    /// Its inverse; of what is above zero.
    #[must_use]
    pub fn inverse(self) -> Real {
        Real::outward(1.0 / self.hi, 1.0 / self.lo)
    }

    /// To a power. Each factor rounds once, and so many do as there are: each end moves as often.
    #[must_use]
    pub fn power(self, times: u64) -> Real {
        let exponent = i32::try_from(times).unwrap_or(i32::MAX);
        let off = f64::from(exponent) * f64::EPSILON;
        let (lo, hi) = (self.lo.powi(exponent), self.hi.powi(exponent));
        Real::outward(lo * (1.0 - off), hi * (1.0 + off))
    }

    /// The whole number nearest to the middle, for people.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "none is below zero, and what is too much is the most"
    )]
    pub fn nearest(self) -> u64 {
        f64::midpoint(self.lo, self.hi).round() as u64
    }

    fn outward(lo: f64, hi: f64) -> Real {
        Real { lo: lo.next_down().max(0.0), hi: hi.next_up().max(0.0) }
    }
}

impl Add for Real {
    type Output = Real;
    fn add(self, other: Real) -> Real {
        Real::outward(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Sub for Real {
    type Output = Real;
    fn sub(self, other: Real) -> Real {
        Real::outward(self.lo - other.hi, self.hi - other.lo)
    }
}

impl Mul for Real {
    type Output = Real;
    fn mul(self, other: Real) -> Real {
        Real::outward(self.lo * other.lo, self.hi * other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether `a / b` lies within, in whole numbers.
    fn holds(real: Real, a: u128, b: u128) -> bool {
        // 2^20 parts of one tell what the ends of numbers below 2^33 are.
        let parts = f64::from(1 << 20);
        let (lo, hi) = ((real.lo * parts).floor(), (real.hi * parts).ceil());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "none is below zero, and all are below 2^100"
        )]
        let (lo, hi) = (lo as u128, hi as u128);
        lo * b <= a << 20 && a << 20 <= hi * b
    }

    proptest! {
        #[test]
        fn every_result_lies_between_its_ends(a in 1_u64..1 << 30, b in 1_u64..1 << 30, n in 0_u64..4) {
            let (x, y) = (Real::of(a), Real::of(b));
            let (a, b) = (u128::from(a), u128::from(b));
            prop_assert!(holds(x + y, a + b, 1));
            prop_assert!(holds(x - y, a.saturating_sub(b), 1));
            prop_assert!(holds(x * y.inverse(), a, b));
            let exponent = u32::try_from(n).unwrap();
            prop_assert!(holds((x * y.inverse()).power(n), 1, 1) || a != b);
            prop_assert!(x.power(n).lo <= 2_f64.powi(120) && holds(Real::of(3).power(n), 3_u128.pow(exponent), 1));
        }
    }

    #[test]
    fn a_third_is_known_to_its_last_place_and_no_better() {
        let third = Real::of(3).inverse();
        assert!(third.lo < 1.0 / 3.0 && 1.0 / 3.0 < third.hi);
        assert!(third.hi - third.lo < 1e-15);
        assert_eq!(Real::of(0) - Real::ONE, Real { lo: 0.0, hi: 0.0 });
    }
}
