//! How far two clocks may be apart: what one shows of a time that the other counts.

use crate::{Dur, Ppm, Within};

/// The most by which two clocks are apart: the limits of both, together.
///
/// What lasts T by one lasts at least T (1 - x) and at most T / (1 - x) by the other, x their sum: with a second of one within a of right,
/// and of the other within b, the two differ by (1 - a) / (1 + b) to (1 + a) / (1 - b), which lies inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Apart(Ppm);

impl Apart {
    /// Two clocks that agree.
    pub const NOT: Apart = Apart(Ppm(0));
    const WHOLE: u32 = Ppm::ONE.0;

    /// Of two that may each be off by so much.
    pub fn of(one: Ppm, other: Ppm) -> Apart {
        Apart(Ppm(one.0.saturating_add(other.0).min(Apart::WHOLE - 1)))
    }

    /// The sum of both limits.
    pub const fn limit(self) -> Ppm {
        self.0
    }

    /// The shortest that the other shows of `time`.
    pub fn least(self, time: Dur) -> Dur {
        time.scaled((Apart::WHOLE - self.0.0).into(), Apart::WHOLE.into())
    }

    /// The longest.
    pub fn most(self, time: Dur) -> Dur {
        let (most, rest) =
            time.scaled_to_rest(Apart::WHOLE.into(), (Apart::WHOLE - self.0.0).into());
        most.saturating_add(Dur(u64::from(rest > 0)))
    }

    /// The shortest and the longest of a range.
    pub fn range(self, range: Within) -> Within {
        match self {
            Apart::NOT => range,
            Apart(_) => Within::between(self.least(range.least()), self.most(range.most())),
        }
    }

    /// What of a rate or a number is in doubt, rounded up.
    pub fn part(self, of: u64) -> u64 {
        let part =
            (u128::from(of) * u128::from(self.0.0)).div_ceil(u128::from(Apart::WHOLE - self.0.0));
        u64::try_from(part).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_count() {
        let apart = Apart::of(Ppm(100), Ppm(50));
        assert_eq!(apart.least(Dur::ms(100)), Dur::us(99_985));
        // 100 ms / (1 - 0.00015) = 100.015002250... ms, to the next picosecond.
        assert_eq!(apart.most(Dur::ms(100)), Dur(100_015_002_251));
        assert_eq!(apart.part(1_000_000), 151);
        assert_eq!(Apart::of(Ppm(u32::MAX), Ppm(1)), Apart(Ppm(999_999)));
    }

    #[test]
    fn clocks_that_agree_change_nothing() {
        let range = Within::at_most(Dur::us(3));
        assert_eq!(Apart::NOT.range(range).to_string(), "{max: 3us}");
        assert_eq!([Apart::NOT.least(Dur(7)), Apart::NOT.most(Dur(7))], [Dur(7); 2]);
        assert_eq!(Apart::NOT.part(u64::MAX), 0);
    }

    /// Whatever the two clocks within their limits are, what is shown lies between.
    #[test]
    fn any_two_clocks_within_their_limits_show_what_lies_between() {
        let (a, b) = (Ppm(100), Ppm(40));
        let apart = Apart::of(a, b);
        let time = Dur::ms(335);
        for own in [-100_i64, -37, 0, 63, 100] {
            for rig in [-40_i64, 0, 40] {
                let second = |off: i64| 1_000_000_u64.saturating_add_signed(off);
                let shown = time.scaled(second(own), second(rig));
                assert!((apart.least(time)..=apart.most(time)).contains(&shown), "{own} {rig}");
            }
        }
    }
}
