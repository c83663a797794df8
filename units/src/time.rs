//! Instants and lengths of time in whole picoseconds: a byte lasts exactly 800 ps at 10 Gb/s and 5 ps at
//! 1.6 Tb/s, so nothing is ever rounded. A `u64` of them reaches 213 days.

use crate::limits;
use crate::parse::{BadQuantity, Scale, decimal, print, string_forms, unit};
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};
use core::str::FromStr;

/// An instant, in picoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A length of time, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dur(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const MAX: Time = Time(u64::MAX);

    /// How long after `earlier` this is; `None` when it is not after it.
    pub const fn since(self, earlier: Time) -> Option<Dur> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(Dur(ps)),
            None => None,
        }
    }

    /// The instant `dur` earlier, but not before the start of the run.
    pub const fn saturating_sub(self, dur: Dur) -> Time {
        Time(self.0.saturating_sub(dur.0))
    }

    /// The instant as a length of time since the start of the run.
    pub const fn elapsed(self) -> Dur {
        Dur(self.0)
    }
}

impl Dur {
    /// What is taken for one where it is read.
    pub(crate) const WANT: &str = "a number and ps, ns, us, ms or s, up to 86400s, such as 200ms";

    /// No time at all.
    pub const ZERO: Dur = Dur(0);

    /// Whole nanoseconds.
    pub const fn ns(n: u64) -> Dur {
        Dur(n * 1_000)
    }
    /// Whole microseconds.
    pub const fn us(n: u64) -> Dur {
        Dur(n * 1_000_000)
    }
    /// Whole milliseconds.
    pub const fn ms(n: u64) -> Dur {
        Dur(n * 1_000_000_000)
    }
    /// Whole seconds.
    pub const fn s(n: u64) -> Dur {
        Dur(n * 1_000_000_000_000)
    }

    /// The sum, or the longest there is: for what is not known yet to be within the limits.
    #[must_use]
    pub const fn saturating_add(self, other: Dur) -> Dur {
        Dur(self.0.saturating_add(other.0))
    }

    /// `n` times as long, or the longest there is.
    #[must_use]
    pub const fn saturating_mul(self, n: u64) -> Dur {
        Dur(self.0.saturating_mul(n))
    }

    /// The difference, or zero.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }

    /// How many times `part` fits, rounded up: `ceil(self / part)`.
    pub const fn div_ceil(self, part: Dur) -> u64 {
        self.0.div_ceil(part.0)
    }

    /// `self * num / den`, rounded down, without overflow in between.
    pub fn scaled(self, num: u64, den: u64) -> Dur {
        self.scaled_to_rest(num, den).0
    }

    /// The same, and what was rounded down, in parts of which `den` are a picosecond.
    pub fn scaled_to_rest(self, num: u64, den: u64) -> (Dur, u64) {
        let (all, den) = (u128::from(self.0) * u128::from(num), u128::from(den));
        let narrow = |n: u128| u64::try_from(n).unwrap_or(u64::MAX);
        (Dur(narrow(all / den)), narrow(all % den))
    }
}

macro_rules! arithmetic {
    ($($left:ident $op:ident $fn:ident $right:ident -> $out:ident: $expr:expr;)*) => {$(
        impl $op<$right> for $left {
            type Output = $out;
            fn $fn(self, rhs: $right) -> $out {
                let f: fn(u64, u64) -> u64 = $expr;
                $out(f(self.0, rhs.0))
            }
        }
    )*};
}

arithmetic! {
    Time Add add Dur -> Time: |a, b| a + b;
    Time Sub sub Dur -> Time: |a, b| a - b;
    Time Sub sub Time -> Dur: |a, b| a - b;
    Dur Add add Dur -> Dur: |a, b| a + b;
    Dur Sub sub Dur -> Dur: |a, b| a - b;
    Dur Rem rem Dur -> Dur: |a, b| a % b;
}

impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, rhs: Dur) {
        self.0 += rhs.0;
    }
}
impl AddAssign for Dur {
    fn add_assign(&mut self, rhs: Dur) {
        self.0 += rhs.0;
    }
}
impl SubAssign for Dur {
    fn sub_assign(&mut self, rhs: Dur) {
        self.0 -= rhs.0;
    }
}
impl Mul<u64> for Dur {
    type Output = Dur;
    fn mul(self, n: u64) -> Dur {
        Dur(self.0 * n)
    }
}
impl Div<u64> for Dur {
    type Output = Dur;
    fn div(self, n: u64) -> Dur {
        Dur(self.0 / n)
    }
}
impl Div for Dur {
    type Output = u64;
    fn div(self, part: Dur) -> u64 {
        self.0 / part.0
    }
}
impl Sum for Dur {
    fn sum<I: Iterator<Item = Dur>>(all: I) -> Dur {
        all.fold(Dur::ZERO, Add::add)
    }
}

const UNITS: &[Scale] = &[
    Scale { suffix: "ps", factor: 1 },
    Scale { suffix: "ns", factor: 1_000 },
    Scale { suffix: "us", factor: 1_000_000 },
    Scale { suffix: "ms", factor: 1_000_000_000 },
    Scale { suffix: "s", factor: 1_000_000_000_000 },
];

impl FromStr for Dur {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Dur, BadQuantity> {
        let dur = Dur(decimal("a duration", Dur::WANT, UNITS, text)?);
        if dur > limits::TIME {
            return Err(BadQuantity::new("a duration", Dur::WANT, text));
        }
        Ok(dur)
    }
}

/// To the picosecond: in the largest unit that needs no more than three decimals, and where that takes more than four digits before
/// the point (`1157335518.289ns`), in the largest that is not below one, with as many decimals as it takes.
impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = unit(UNITS, self.0).filter(|unit| self.0 / unit.factor < 10_000);
        let largest = UNITS.iter().rfind(|unit| self.0 >= unit.factor);
        let (None, Some(unit)) = (short, largest) else { return print(f, UNITS, "ms", self.0) };
        let digits = unit.factor.ilog10() as usize;
        let decimals = format!("{:0digits$}", self.0 % unit.factor);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        f.pad(&format!("{}{point}{decimals}{}", self.0 / unit.factor, unit.suffix))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Dur(self.0), f)
    }
}

string_forms!(Dur, "duration", r"^[0-9]+(\.[0-9]+)?(ps|ns|us|ms|s)$", "a duration such as 200ms");
