//! A device whose clock is off: whatever it times, and how fast its ports send.

use super::bench::{Bench, Case, id, ms, set};
use rig_lab::RuleFamily;
use rig_units::{Dur, Quanta, Time};

fn case() -> Case {
    Case::of(RuleFamily::Broadcom)
}

fn off(deviation: &str) -> Case {
    case().mutated(&format!("deviation={deviation}"))
}

/// When the XOFFs of a congested port come to host 0.
fn refreshed(case: Case) -> Vec<Time> {
    let mut bench = case.start();
    bench.stream(0, 1, 3, Dur::us(1));
    bench.storm(1, 3);
    bench.run(150);
    bench.told.iter().filter(|told| told.1 == 0).map(|told| told.0).collect()
}

/// The time between two of them.
fn refresh(case: Case) -> Dur {
    let at = refreshed(case);
    assert!(at.len() > 100, "{}", at.len());
    let gaps = || at.windows(2).map(|pair| pair[1] - pair[0]);
    assert_eq!(gaps().min(), gaps().max());
    gaps().min().unwrap_or_default()
}

#[test]
fn what_a_device_times_is_longer_by_a_slow_clock_and_shorter_by_a_fast_one() {
    assert_eq!(refresh(case()), Dur::us(100));
    assert_eq!(refresh(off("clock_slow:100")), Dur::ns(100_010));
    assert_eq!(refresh(off("clock_fast:100")), Dur::ns(99_990));
}

#[test]
fn a_clock_is_drawn_within_what_is_declared_and_stays() {
    let drawn = |seed| refresh(case().with("clock", "100ppm").seed(seed));
    let all: Vec<Dur> = (1..=20).map(drawn).collect();
    assert!(all.iter().all(|one| (Dur::ns(99_990)..=Dur::ns(100_010)).contains(one)), "{all:?}");
    assert!(all.iter().min() < Some(&Dur::ns(99_995)), "{all:?}");
    assert!(all.iter().max() > Some(&Dur::ns(100_005)), "{all:?}");
    // What departs goes by its own clock, whatever is declared.
    assert_eq!(refresh(off("clock_slow:300").with("clock", "100ppm")), Dur::ns(100_030));
    // What a device does that says so of itself, and does otherwise.
    assert_ne!(refresh(case().mutated("clock=500ppm").seed(3)), Dur::us(100));
}

/// Frames of 1024 B that one full port carries from 10 ms to 110 ms: 83.52 ns each, 1 197 318 of them.
#[test]
fn a_port_sends_by_its_clock() {
    let carried = |case: Case| {
        let mut bench = case.start();
        for from in [0, 1] {
            bench.stream(from, 2, 3 + u8::try_from(from).unwrap_or(0), Dur(83_520));
        }
        bench.run(110);
        [id(0, 2, 3), id(1, 2, 4)].iter().map(|&of| bench.frames(of, 10, 110)).sum::<usize>()
    };
    // Two hosts offer twice as much.
    let right = 1_197_318;
    assert!(carried(case()).abs_diff(right) <= 1);
    assert!(carried(off("clock_slow:1000")).abs_diff(right - 1_196) <= 1);
    // 1 197 318 / 0.999
    assert!(carried(off("clock_fast:1000")).abs_diff(right + 1_198) <= 1);
    assert!(carried(off("egress_rate_low:1000")).abs_diff(right - 1_197) <= 1);
}

/// How long a pause of 65535 quanta lasts: 335.5392 us at 100 Gb/s.
#[test]
fn a_pause_lasts_by_the_clock_of_who_is_paused() {
    let resumed = |case: Case| {
        let mut bench: Bench = case.start();
        bench.stream(0, 1, 3, Dur(83_520));
        bench.run(1);
        bench.pfc(1, 3, Quanta::MAX, Dur::ms(50));
        bench.run(2);
        let gaps = bench.received.windows(2).map(|pair| pair[1].0 - pair[0].0);
        gaps.max().unwrap_or_default()
    };
    let [right, slow] = [resumed(case()), resumed(off("clock_slow:10000"))];
    // 1 % of 335.5 us, up to a frame more or less.
    let more = slow - right;
    assert!(more > Dur::ns(3_355 - 84) && more < Dur::ns(3_355 + 84), "{more}");
}

#[test]
fn a_device_that_runs_keeps_its_clock_when_it_is_configured() {
    let mut bench = off("clock_slow:100").start();
    bench.run(1);
    let interval = set("pfcwd.poll_interval", "200ms");
    bench.dut.configure(&[interval]).expect("a live setting");
    assert_eq!(bench.dut.configured().get("pfcwd.poll_interval"), Some("200ms".into()));
    let polls = |bench: &mut Bench| {
        let at = bench.dut.next_event();
        bench.dut.run_until(at + Dur(1), &mut crate::model::NoTap);
        at
    };
    let first = polls(&mut bench);
    let second = polls(&mut bench);
    let third = polls(&mut bench);
    assert_eq!(third - second, Dur::us(200_020), "{first}");
    assert!(third > ms(200));
}
