//! Exact fractions, as many as the sizing rules need.

/// A fraction that is not below nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fraction {
    num: u128,
    den: u128,
}

impl Fraction {
    /// `num / den`, in lowest terms.
    pub(super) fn of(num: u128, den: u128) -> Fraction {
        let common = common_divisor(num, den.max(1));
        Fraction { num: num / common, den: den.max(1) / common }
    }

    pub(super) fn plus(self, num: u128, den: u128) -> Fraction {
        let other = Fraction::of(num, den);
        let common = common_divisor(self.den, other.den);
        let (mine, theirs) = (other.den / common, self.den / common);
        Fraction::of(self.num * mine + other.num * theirs, self.den * mine)
    }

    pub(super) fn times(self, num: u128, den: u128) -> Fraction {
        // Cut down first: the products stay small.
        let (across, down) = (Fraction::of(self.num, den), Fraction::of(num, self.den));
        Fraction { num: across.num * down.num, den: across.den * down.den }
    }

    /// So many whole ones less, but not below nothing.
    pub(super) fn less(self, whole: u128) -> Fraction {
        Fraction::of(self.num.saturating_sub(whole * self.den), self.den)
    }

    /// The next whole multiple of `unit` that is not below.
    pub(super) fn up_to(self, unit: u128) -> u128 {
        self.num.div_ceil(self.den * unit) * unit
    }
}

fn common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a.max(1) } else { common_divisor(b, a % b) }
}
