//! A timer that has the average of a queue take in the depth, at instants that the seed draws.

use rig_units::{Dur, Time};

/// The timer of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timer {
    /// Which share of an interval it is ahead of the beginning of time.
    drawn: u64,
    /// Up to when it was counted.
    counted: Time,
}

impl Timer {
    pub(super) const fn drawn(drawn: u64) -> Timer {
        Timer { drawn, counted: Time::ZERO }
    }

    /// How often it has run out since it was counted last, one at `now` counted.
    pub(super) fn ran_out(&mut self, every: Dur, now: Time) -> u64 {
        let every = u128::from(every.0.max(1));
        let ahead = (u128::from(self.drawn) * every) >> 64;
        let by = |at: Time| (u128::from(at.0) + ahead) / every;
        let times = by(now) - by(self.counted);
        self.counted = now;
        u64::try_from(times).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_out_once_in_each_interval_whenever_it_is_counted() {
        let every = Dur::ns(100);
        let mut timer = Timer::drawn(u64::MAX / 4);
        // A quarter ahead: at 75 ns and each 100 ns from there on.
        let at = |ns| Time::ZERO + Dur::ns(ns);
        assert_eq!(
            [74, 76, 174, 176, 1_076].map(|ns| timer.ran_out(every, at(ns))),
            [0, 1, 0, 1, 9]
        );
    }
}
