//! The shaper of a port: a token bucket that fills at the peak information rate. A frame of data starts while the bucket is not in debt,
//! and takes as many bytes as it has, FCS counted. What the MAC sends of itself, PFC, passes it by.
//!
//! Left out on purpose: shapers of single queues, minimum rates (`cir`), and metering in packets.

use crate::model::chance;
use crate::model::egress::{Choice, Egress};
use rig_lab::Scheduler;
use rig_units::{Ppm, Time};

/// What a bit costs, in picoseconds times the rate: so counted nothing is ever rounded.
const BIT: u128 = 1_000_000_000_000;

/// How a port is shaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    bps: u64,
    burst: u64,
    /// By how much of it the rate of a port may lie off, either way.
    margin: Ppm,
}

impl Config {
    /// The shaper that a profile declares, if it declares one.
    pub fn declared(scheduler: &Scheduler) -> Option<Config> {
        let pir = scheduler.pir?;
        let burst = scheduler.pbs.map_or(0, |bytes| bytes.0);
        let margin = scheduler.pir_margin.unwrap_or_default();
        Some(Config { bps: pir.bps.max(1), burst, margin })
    }

    /// The rate of one port: each millionth of it within the margin is as likely; which, follows from a `seed` of that port.
    fn drawn(&self, seed: u64) -> u64 {
        let word = chance::draw(chance::stream(seed, *b"pir kept"), 0);
        let values = u128::from(self.margin.0) * 2 + 1;
        let above = (u128::from(word) * values) >> 64;
        let millionths = u128::from(Ppm::ONE.0.saturating_sub(self.margin.0)) + above;
        let bps = u128::from(self.bps) * millionths / u128::from(Ppm::ONE.0);
        u64::try_from(bps).unwrap_or(u64::MAX).max(1)
    }
}

/// The bucket of one port.
#[derive(Debug, Clone)]
pub struct Shaper {
    bps: u128,
    /// What it holds when it is full, as the cost of its bits.
    depth: u128,
    /// When it would be full if nothing more were sent, in picoseconds times the rate.
    full: u128,
}

impl Shaper {
    /// A full bucket of the port with that `seed`.
    pub fn new(config: &Config, seed: u64) -> Shaper {
        let depth = u128::from(config.burst) * 8 * BIT;
        Shaper { bps: config.drawn(seed).into(), depth, full: 0 }
    }

    /// Chooses what a free port sends at `now`, with the queues in `closed` held back, and charges it.
    #[cold]
    pub fn choose(&mut self, now: Time, egress: &mut Egress, closed: u8) -> Option<Choice> {
        let held = if now < self.opens() { u8::MAX } else { 0 };
        let choice = egress.choose(closed | held)?;
        if choice != Choice::Control {
            self.charge(now, egress.front(choice)?.size);
        }
        Some(choice)
    }

    /// Takes what a frame of `size` bytes costs that starts at `now`.
    fn charge(&mut self, now: Time, size: u16) {
        self.full = self.full.max(u128::from(now.0) * self.bps) + u128::from(size) * 8 * BIT;
    }

    /// When it is out of debt, unless it is charged again.
    pub fn opens(&self) -> Time {
        let opens = self.full.saturating_sub(self.depth).div_ceil(self.bps);
        Time(u64::try_from(opens).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::{Bytes, Dur, L2Rate};

    /// 1 Gb/s: a byte takes 8 ns.
    fn shaper(burst: u64) -> Shaper {
        let (pir, pbs) = (Some(L2Rate { bps: 1_000_000_000 }), Some(Bytes(burst)));
        let scheduler = Scheduler { pir, pbs, ..Scheduler::default() };
        Shaper::new(&Config::declared(&scheduler).unwrap(), 0)
    }

    #[test]
    fn without_a_burst_each_frame_waits_for_the_one_before() {
        let mut shaper = shaper(0);
        assert_eq!(shaper.opens(), Time::ZERO);
        shaper.charge(Time::ZERO, 1_000);
        assert_eq!(shaper.opens(), Time::ZERO + Dur::us(8));
        shaper.charge(Time::ZERO + Dur::us(8), 500);
        assert_eq!(shaper.opens(), Time::ZERO + Dur::us(12));
    }

    #[test]
    fn a_bucket_of_three_frames_lets_a_fourth_start_and_holds_the_fifth() {
        let mut shaper = shaper(3_000);
        for _ in 0..3 {
            shaper.charge(Time::ZERO, 1_000);
            assert_eq!(shaper.opens(), Time::ZERO);
        }
        shaper.charge(Time::ZERO, 1_000);
        assert_eq!(shaper.opens(), Time::ZERO + Dur::us(8));
    }

    #[test]
    fn a_bucket_saves_no_more_than_it_holds() {
        let mut shaper = shaper(1_000);
        let late = Time::ZERO + Dur::ms(10);
        shaper.charge(late, 1_000);
        assert_eq!(shaper.opens(), late);
        shaper.charge(late, 1_000);
        assert_eq!(shaper.opens(), late + Dur::us(8));
    }

    #[test]
    fn a_rate_that_divides_nothing_is_kept_over_any_number_of_frames() {
        let config = Config { bps: 3, burst: 0, margin: Ppm(0) };
        let mut shaper = Shaper::new(&config, 0);
        for _ in 0..3 {
            shaper.charge(shaper.opens(), 64);
        }
        assert!(shaper.opens() <= Time(512 * 1_000_000_000_000 + 3));
        assert!(shaper.opens() >= Time(512 * 1_000_000_000_000));
    }

    #[test]
    fn each_port_has_a_rate_of_its_own_within_the_margin() {
        let config = Config { bps: 1_000, burst: 0, margin: Ppm(5_000) };
        let mut rates: Vec<u64> = (0..200).map(|seed| config.drawn(seed)).collect();
        rates.sort_unstable();
        rates.dedup();
        // Rounded down: the last of them is one draw in ten thousand.
        assert_eq!(rates, (995..=1_004).collect::<Vec<u64>>());
    }
}
