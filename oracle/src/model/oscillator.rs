//! The clock that a device goes by: how long each of its seconds is. It is put in where a device is built (its settings, its bytes on
//! the wire, its pause times), so that the engine knows one time and no other.

use rig_lab::{BadSetting, ClockFaults, Declared};
use rig_units::{Dur, Ppm};

/// A clock, by what each of its seconds is longer than a second, in millionths: below zero it is fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oscillator {
    slow: i32,
}

impl Oscillator {
    /// One that is right.
    pub const EXACT: Oscillator = Oscillator { slow: 0 };
    /// What the length of a second is a fraction of.
    const WHOLE: u64 = 1_000_000;

    /// One anywhere within `limit` of what is right, either way; which, a number drawn from all numbers says.
    pub(crate) fn within(limit: Ppm, word: u64) -> Oscillator {
        let values = u128::from(limit.0) * 2 + 1;
        let above = i64::try_from((u128::from(word) * values) >> 64).unwrap_or(0);
        Oscillator { slow: i32::try_from(above - i64::from(limit.0)).unwrap_or(0) }
    }

    /// The clock of a device: as it departs, or one within what is declared.
    pub(crate) fn of(running: &Declared, faults: &ClockFaults, word: u64) -> Oscillator {
        let by = |ppm: u32| i32::try_from(ppm).unwrap_or(i32::MAX);
        match (faults.clock_slow, faults.clock_fast) {
            (None, None) => Oscillator::within(running.clock(), word),
            (slow, fast) => Oscillator { slow: slow.map_or(0, by) - fast.map_or(0, by) },
        }
    }

    /// How long a second of it is, in millionths of a second.
    pub(crate) fn second(self) -> u64 {
        Oscillator::WHOLE.saturating_add_signed(self.slow.into())
    }

    /// How long what it takes for `own` really is, rounded down.
    pub(crate) fn lasting(self, own: Dur) -> Dur {
        match self {
            Oscillator::EXACT => own,
            Oscillator { .. } => own.scaled(self.second(), Oscillator::WHOLE),
        }
    }

    /// What it takes for `own` bits a second, rounded down.
    pub(crate) fn rate(self, own: u64) -> u64 {
        let real =
            u128::from(own) * u128::from(Oscillator::WHOLE) / u128::from(self.second().max(1));
        u64::try_from(real).unwrap_or(u64::MAX)
    }

    /// What a device really does that works with `running` by this clock.
    ///
    /// # Errors
    /// When a time gets longer than one may be.
    pub(crate) fn running(self, running: Declared) -> Result<Declared, BadSetting> {
        match self {
            Oscillator::EXACT => Ok(running),
            Oscillator { .. } => running.paced(self.second(), Oscillator::WHOLE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_clock_makes_times_longer_and_rates_lower() {
        let slow = Oscillator { slow: 100 };
        assert_eq!(slow.lasting(Dur::ms(200)), Dur::us(200_020));
        assert_eq!(slow.rate(100_000_000_000), 99_990_000_999);
        let fast = Oscillator { slow: -100 };
        assert_eq!(fast.lasting(Dur::ms(200)), Dur::us(199_980));
        assert_eq!(fast.rate(100_000_000_000), 100_010_001_000);
        assert_eq!(Oscillator::EXACT.rate(7), 7);
    }

    #[test]
    fn a_clock_is_drawn_from_both_ends_of_its_limit_and_all_between() {
        let limit = Ppm(100);
        assert_eq!(Oscillator::within(limit, 0), Oscillator { slow: -100 });
        assert_eq!(Oscillator::within(limit, u64::MAX), Oscillator { slow: 100 });
        assert_eq!(Oscillator::within(limit, 1 << 63), Oscillator::EXACT);
        assert_eq!(Oscillator::within(Ppm(0), u64::MAX), Oscillator::EXACT);
    }
}
