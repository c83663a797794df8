//! When the frames of a stream are due, one after another: evenly, in bursts, faster and faster, or at random.
//!
//! Whole picoseconds throughout; a random rhythm draws from its own seed and needs no floating point.

use rig_units::{Dur, Pace, Time};

/// From one departure to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rhythm {
    /// At an exact rate, remainders carried.
    Even(Pace),
    /// So many frames `within` apart, a burst every `every`.
    Bursts {
        /// Frames in a burst.
        frames: u32,
        /// Between two frames of a burst.
        within: Dur,
        /// From the start of a burst to the start of the next.
        every: Dur,
        /// Frames of this burst that have been due.
        done: u32,
    },
    /// From one gap to another over so many frames, then at the last: a ramp in equal steps.
    Ramp {
        /// The first gap.
        from: Dur,
        /// The last gap.
        to: Dur,
        /// Frames from the first to the last.
        frames: u32,
        /// Frames that have been due.
        done: u32,
    },
    /// Exponential gaps around a mean: the arrivals of a Poisson process, none closer than the frame is long.
    Poisson {
        /// The mean gap.
        mean: Dur,
        /// The shortest gap.
        least: Dur,
        /// State of the draws.
        draws: Draws,
    },
}

impl Rhythm {
    /// Bursts of `frames`.
    pub const fn bursts(frames: u32, within: Dur, every: Dur) -> Rhythm {
        Rhythm::Bursts { frames, within, every, done: 0 }
    }

    /// Frames whose distance goes evenly from `from` to `to`.
    pub const fn ramp(from: Dur, to: Dur, frames: u32) -> Rhythm {
        Rhythm::Ramp { from, to, frames, done: 0 }
    }

    /// Poisson arrivals, the same for the same seed.
    pub const fn poisson(mean: Dur, least: Dur, seed: u64) -> Rhythm {
        Rhythm::Poisson { mean, least, draws: Draws(seed) }
    }

    /// The departure after the one at `at`.
    pub fn next(&mut self, at: Time) -> Time {
        match self {
            Rhythm::Even(pace) => pace.next(at),
            Rhythm::Bursts { frames, within, every, done } => {
                *done += 1;
                if *done < *frames {
                    return at + *within;
                }
                *done = 0;
                at + every.saturating_sub(*within * u64::from(frames.saturating_sub(1)))
            }
            Rhythm::Ramp { from, to, frames, done } => {
                let (at_step, steps) = (u64::from(*done), u64::from((*frames).max(2) - 1));
                *done = (*done + 1).min(*frames - u32::from(*frames > 0));
                let part = |gap: Dur, share: u64| gap.scaled(share, steps);
                at + part(*from, steps.saturating_sub(at_step)) + part(*to, at_step.min(steps))
            }
            Rhythm::Poisson { mean, least, draws } => {
                let above = mean.saturating_sub(*least);
                at + *least + draws.exponential(above)
            }
        }
    }
}

/// Random numbers from a seed: splitmix64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws(pub u64);

impl Draws {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An exponential length of time with this mean: `-mean * ln(u)`.
    fn exponential(&mut self, mean: Dur) -> Dur {
        /// ln 2, in units of 2^-32.
        const LN2: u128 = 2_977_044_472;
        let log2 = u128::from(minus_log2(self.bits() | 1));
        // log2 has 32 bits behind the point, as LN2 has.
        let ps = (u128::from(mean.0) * log2 * LN2) >> 64;
        Dur(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// `-log2(u / 2^64)` with 32 bits behind the point, by squaring: each squaring yields one bit.
fn minus_log2(u: u64) -> u64 {
    let whole = u.leading_zeros();
    // 1 <= x < 2, with 63 bits behind the point.
    let mut x = u << whole;
    let mut part: u64 = 0;
    for _ in 0..32 {
        let square = (u128::from(x) * u128::from(x)) >> 63;
        part <<= 1;
        x = match u64::try_from(square) {
            Ok(below_two) => below_two,
            Err(_) => {
                part |= 1;
                u64::try_from(square >> 1).unwrap_or(u64::MAX)
            }
        };
    }
    // log2(u / 2^64) = -(whole + 1) + part.
    ((u64::from(whole) + 1) << 32) - part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(mut rhythm: Rhythm, count: usize) -> Vec<Dur> {
        let mut at = Time::ZERO;
        let mut gap = || {
            let next = rhythm.next(at);
            let gap = next.since(at).expect("time goes on");
            at = next;
            gap
        };
        (0..count).map(|_| gap()).collect()
    }

    #[test]
    fn bursts_come_at_their_period() {
        let us = |n| Dur::us(n);
        let three = gaps(Rhythm::bursts(3, us(1), us(10)), 7);
        assert_eq!(three, [us(1), us(1), us(8), us(1), us(1), us(8), us(1)]);
        assert_eq!(gaps(Rhythm::bursts(1, us(1), us(10)), 2), [us(10), us(10)]);
    }

    #[test]
    fn a_ramp_goes_from_its_first_gap_to_its_last_and_stays_there() {
        let ramp = gaps(Rhythm::ramp(Dur(100), Dur(20), 5), 7);
        assert_eq!(ramp, [100, 80, 60, 40, 20, 20, 20].map(Dur));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        const N: usize = 100_000;
        let mean = Dur::us(10);
        let all = gaps(Rhythm::poisson(mean, Dur::ZERO, 7), N);
        let sum: u64 = all.iter().map(|gap| gap.0).sum();
        // The mean of N exponentials has a deviation of mean/sqrt(N); six of them.
        let off = (sum / N as u64).abs_diff(mean.0);
        assert!(off < mean.0 * 6 / 316, "off by {off} ps");
        // A share of 1/e exceeds the mean: 36788 +- 6 * 152.
        let above = all.iter().filter(|gap| **gap > mean).count();
        assert!(above.abs_diff(36_788) < 915, "{above}");
        assert_eq!(all, gaps(Rhythm::poisson(mean, Dur::ZERO, 7), N), "the seed decides");
        assert_ne!(all, gaps(Rhythm::poisson(mean, Dur::ZERO, 8), N));
    }

    #[test]
    fn no_poisson_gap_is_shorter_than_the_frame_and_the_mean_stays() {
        let all = gaps(Rhythm::poisson(Dur::us(10), Dur::us(4), 1), 20_000);
        assert!(all.iter().all(|&gap| gap >= Dur::us(4)));
        let sum: u64 = all.iter().map(|gap| gap.0).sum();
        assert!((sum / 20_000).abs_diff(10_000_000) < 6 * 6_000_000 / 141);
    }

    #[test]
    fn logarithms_of_powers_of_two_are_whole() {
        assert_eq!(minus_log2(1 << 63), 1 << 32);
        assert_eq!(minus_log2(1), 64 << 32);
        // -log2(3/4) = 0.415037499278843818..., times 2^32 = 1782572486.07...
        assert!(minus_log2(3 << 62).abs_diff(1_782_572_486) <= 1, "the last bit is cut off");
    }
}
