//! Departures at rates whose gap is no whole number of picoseconds: exact after an hour as after the first frame.

use proptest::prelude::*;
use rig_units::{Bytes, Dur, Pace, PortSpeed, Rate, Time};

fn pace(rate: &str, frame: u64, speed: PortSpeed) -> Pace {
    rate.parse::<Rate>().expect("a rate").pace(Bytes(frame), speed)
}

/// When the `n`-th frame after the first leaves: `n * bits / rate`, rounded down once.
fn exact(n: u64, bytes: u64, bps: u64) -> Time {
    let ps = u128::from(n) * u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(bps);
    Time(u64::try_from(ps).expect("within 213 days"))
}

/// Runs an hour of departures and compares every one of them.
fn an_hour(rate: &str, frame: u64, wire: u64, bps: u64) {
    let mut pace = pace(rate, frame, PortSpeed::G10);
    let hour = Time::ZERO + Dur::s(3_600);
    let mut at = Time::ZERO;
    let mut n = 0;
    while at < hour {
        at = pace.next(at);
        n += 1;
        assert_eq!(at, exact(n, wire, bps), "frame {n} at {rate}");
    }
    let expected = 3_600 * bps / (wire * 8);
    assert!(n.abs_diff(expected) <= 1, "{n} frames, {expected} expected");
}

#[test]
fn an_hour_of_frames_at_a_prime_rate_in_frames() {
    an_hour("7.000003Mbps-L2", 64, 64, 7_000_003);
}

#[test]
fn an_hour_of_frames_at_an_odd_rate_on_the_wire() {
    an_hour("3.333333Mbps-L1", 1_001, 1_021, 3_333_333);
}

#[test]
fn an_hour_of_frames_at_an_odd_share_of_the_port() {
    // 0.0333 % of 10 Gb/s, preamble and gap counted.
    an_hour("0.0333%", 1_022, 1_042, 3_330_000);
}

#[test]
fn the_whole_of_a_port_is_back_to_back() {
    for speed in [PortSpeed::G10, PortSpeed::G100, PortSpeed::G400] {
        let mut pace = pace("100%", 9_022, speed);
        assert_eq!(pace.next(Time::ZERO), Time::ZERO + speed.slot(Bytes(9_022)));
        assert_eq!(pace.gap(), speed.slot(Bytes(9_022)));
    }
}

#[test]
fn layer_1_and_layer_2_rates_are_different_kinds() {
    let speed = PortSpeed::G100;
    let (l1, l2) = (pace("10Gbps-L1", 1_000, speed), pace("10Gbps-L2", 1_000, speed));
    assert_eq!((l1.gap(), l2.gap()), (Dur::ns(816), Dur::ns(800)));
}

#[test]
fn one_frame_per_interval_is_the_interval() {
    let mut pace = Pace::every(Dur::us(500));
    let third = (0..3).fold(Time::ZERO, |at, _| pace.next(at));
    assert_eq!(third, Time::ZERO + Dur::us(1_500));
}

proptest! {
    #[test]
    fn no_rate_drifts(bps in 1_000_u64..=400_000_000_000, frame in 64_u64..=9_216) {
        let mut pace = pace(&format!("{bps}bps-L2"), frame, PortSpeed::G400);
        let mut at = Time::ZERO;
        for n in 1..=5_000 {
            at = pace.next(at);
            prop_assert_eq!(at, exact(n, frame, bps));
        }
    }
}

proptest! {
    /// What is told at once is what counting frame by frame finds.
    #[test]
    fn departures_within_a_time_are_those_counted_one_by_one(
        bps in 1_000_000_u64..=400_000_000_000, frame in 64_u64..=9_216, frames in 0_u64..2_000, more in 0_u64..100_000_000,
    ) {
        let mut pace = pace(&format!("{bps}bps-L2"), frame, PortSpeed::G400);
        let told = pace;
        let length = told.after(frames) + Dur(more);
        let (mut at, mut counted) = (Time::ZERO, 0);
        while at < Time::ZERO + length {
            at = pace.next(at);
            counted += 1;
            prop_assert_eq!(at, Time::ZERO + told.after(counted));
        }
        // A picosecond is lost where the exact instant lies between two.
        prop_assert!(counted.abs_diff(told.within(length)) <= 1);
        prop_assert!(told.within(length) >= counted);
    }
}
