//! The clock of a NIC beside that of the ports: what a count of its ticks is in CLOCK_MONOTONIC.
//!
//! Its rate is not told: it follows from two readings. The more recent ones are used, as neither clock is steady. Left
//! out on purpose: what a reading over the bus takes one way and the other; half of it is the bound.

use crate::port::Mono;
use rig_units::Dur;

/// How long after a reading the next one is due.
pub(super) const EVERY: Dur = Dur::s(1);

/// One reading of a NIC's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// What it said.
    pub(super) ticks: u64,
    /// When: the middle between the instants before and after.
    pub(super) at: Mono,
    /// Nanoseconds between those two.
    pub(super) took: u64,
}

impl Reading {
    /// Reads with `read` several times over, and keeps what was read fastest.
    pub(super) fn best<E>(mut read: impl FnMut() -> Result<u64, E>) -> Result<Reading, E> {
        let mut once = || {
            let before = Mono::now();
            let ticks = read()?;
            let took = Mono::now().0 - before.0;
            Ok(Reading { ticks, at: Mono(before.0 + took / 2), took })
        };
        let mut best = once()?;
        for _ in 0..4 {
            let next = once()?;
            if next.took < best.took {
                best = next;
            }
        }
        Ok(best)
    }
}

/// Two readings that lie apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct NicClock {
    earlier: Reading,
    later: Reading,
}

impl NicClock {
    /// A clock that was read twice; `None` when it did not run meanwhile.
    pub(super) fn new(earlier: Reading, later: Reading) -> Option<NicClock> {
        (later.ticks > earlier.ticks && later.at > earlier.at)
            .then_some(NicClock { earlier, later })
    }

    /// Whether it is time to read it again.
    pub(super) fn is_due(&self, now: Mono) -> bool {
        now.since(self.later.at) >= Some(EVERY)
    }

    /// Takes in another reading; one that does not lie behind the last is left out.
    pub(super) fn learn(&mut self, reading: Reading) {
        if let Some(next) = NicClock::new(self.later, reading) {
            *self = next;
        }
    }

    /// The instant at which the clock said `ticks`, to the nanosecond below.
    pub(super) fn at(&self, ticks: u64) -> Mono {
        let ns = i128::from(self.later.at.0 - self.earlier.at.0);
        let run = i128::from(self.later.ticks - self.earlier.ticks);
        let off = i128::from(ticks) - i128::from(self.later.ticks);
        let at = i128::from(self.later.at.0) + (off * ns).div_euclid(run);
        Mono(u64::try_from(at.max(0)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(ticks: u64, at: u64) -> Reading {
        Reading { ticks, at: Mono(at), took: 100 }
    }

    #[test]
    fn ticks_become_instants_by_the_rate_between_two_readings() {
        // 156.25 MHz: 6.4 ns a tick.
        let clock = NicClock::new(reading(1_000, 50_000), reading(157_250, 1_050_000));
        let clock = clock.expect("it runs");
        assert_eq!(clock.at(157_250), Mono(1_050_000));
        assert_eq!(clock.at(1_000), Mono(50_000));
        assert_eq!(clock.at(157_255), Mono(1_050_032));
        assert_eq!(clock.at(157_249), Mono(1_049_993), "6.4 ns before, to the nanosecond below");
    }

    #[test]
    fn a_clock_that_stands_still_or_runs_backwards_is_none() {
        assert!(NicClock::new(reading(7, 0), reading(7, 10)).is_none());
        assert!(NicClock::new(reading(7, 0), reading(6, 10)).is_none());
        assert!(NicClock::new(reading(7, 10), reading(8, 10)).is_none());
    }

    #[test]
    fn a_rate_that_changes_is_followed_and_a_reading_out_of_order_is_not() {
        let mut clock = NicClock::new(reading(0, 0), reading(1_000, 1_000)).expect("it runs");
        clock.learn(reading(3_000, 2_000));
        assert_eq!(clock.at(3_200), Mono(2_100), "two ticks a nanosecond by now");
        clock.learn(reading(2_999, 2_500));
        assert_eq!(clock.at(3_200), Mono(2_100));
        assert!(!clock.is_due(Mono(2_000 + 999_999_999)));
        assert!(clock.is_due(Mono(2_000 + 1_000_000_000)));
    }

    #[test]
    fn the_fastest_of_several_readings_is_kept() {
        let mut count = 0;
        let reading = Reading::best(|| {
            count += 1;
            Ok::<u64, ()>(count)
        });
        let reading = reading.expect("read");
        assert_eq!(count, 5);
        assert!((1..=5).contains(&reading.ticks));
        assert_eq!(Reading::best(|| Err("no clock")), Err("no clock"));
    }

    proptest! {
        #[test]
        fn later_ticks_are_never_earlier_instants(
            rate in 1_u64..5_000, from in 0_u64..1 << 50, a in 0_u64..1 << 40, b in 0_u64..1 << 40,
        ) {
            let clock = NicClock::new(reading(from, 1 << 50), reading(from + rate, (1 << 50) + 1_000));
            let clock = clock.expect("it runs");
            let (a, b) = (from + a.min(b), from + a.max(b));
            prop_assert!(clock.at(a) <= clock.at(b));
        }
    }
}
