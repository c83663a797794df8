//! Reboots: what goes on, what comes back, and each way in which it does not.

use super::bench::{Bench, Case, id};
use crate::model::pfcwd::Event;
use rig_lab::{RebootKind, RuleFamily};
use rig_testcases::DeviceVerb;
use rig_units::Dur;

/// A device that is back 300 ms after a reboot at the latest, with a stream.
fn device(deviation: &str, seed: u64) -> Bench {
    let mut case = Case::of(RuleFamily::Broadcom).seed(seed);
    for kind in ["warm", "fast", "cold"] {
        case = case.with(&format!("reboot.{kind}"), "300ms");
    }
    case = case.with("reboot.fast_outage", "100ms").with("reboot.cold_outage", "200ms");
    if !deviation.is_empty() {
        case = case.mutated(&format!("deviation={deviation}"));
    }
    let mut bench = case.start();
    bench.stream(0, 1, 3, Dur::us(500));
    bench
}

fn reboots(bench: &mut Bench, kind: RebootKind) {
    assert!(bench.dut.perform(DeviceVerb::Reboot(kind)));
}

#[test]
fn a_device_that_says_nothing_of_a_reboot_does_none() {
    let mut bench = Case::of(RuleFamily::Broadcom).start();
    assert!(!bench.dut.perform(DeviceVerb::Reboot(RebootKind::Warm)));
}

#[test]
fn frames_pass_in_a_warm_reboot_and_a_chip_that_drops_them_does_so_until_the_software_is_back() {
    let passed = |deviation: &str, seed: u64| {
        let mut bench = device(deviation, seed);
        bench.run(100);
        reboots(&mut bench, RebootKind::Warm);
        bench.run(600);
        [bench.frames(id(0, 1, 3), 100, 400), bench.frames(id(0, 1, 3), 401, 600)]
    };
    for seed in 0..8 {
        let [during, after] = passed("", seed);
        assert!((599..=601).contains(&during) && after > 390, "{during} {after}");
    }
    let lost = (0..8).map(|seed| 600 - passed("warm_reboot_drops", seed)[0].min(600));
    assert!(lost.max() > Some(100));
    assert!((0..8).all(|seed| passed("warm_reboot_drops", seed)[1] > 390), "it is back");
}

#[test]
fn nothing_passes_for_as_long_as_is_said_in_a_fast_and_in_a_cold_reboot() {
    for (kind, most) in [(RebootKind::Fast, 200), (RebootKind::Cold, 400)] {
        let lost = |seed: u64| {
            let mut bench = device("", seed);
            bench.run(100);
            reboots(&mut bench, kind);
            bench.run(600);
            let after = bench.frames(id(0, 1, 3), 401, 600);
            assert!(after > 390, "{after}");
            600 - bench.frames(id(0, 1, 3), 100, 400).min(600)
        };
        let all: Vec<usize> = (0..20).map(lost).collect();
        assert!(all.iter().all(|lost| *lost <= most + 1), "{all:?}");
        assert!(all.iter().all(|lost| *lost + 1 >= most / 2), "{all:?}");
    }
}

#[test]
fn ports_obey_pfc_in_a_warm_reboot() {
    let passed = |deviation: &str, seed: u64| {
        let mut bench = device(deviation, seed);
        bench.run(100);
        reboots(&mut bench, RebootKind::Warm);
        bench.storm(1, 3);
        // Nothing is detected before two polls have seen it.
        bench.run(190);
        bench.frames(id(0, 1, 3), 101, 190)
    };
    assert!((0..8).all(|seed| passed("", seed) == 0));
    assert!((0..8).any(|seed| passed("warm_reboot_ignores_pfc", seed) > 20));
}

#[test]
fn ports_obey_pfc_after_a_fast_and_a_cold_reboot() {
    for kind in [RebootKind::Fast, RebootKind::Cold] {
        let passed = |deviation: &str| {
            let mut bench = device(deviation, 5);
            reboots(&mut bench, kind);
            bench.run(310);
            bench.storm(1, 3);
            bench.run(400);
            bench.frames(id(0, 1, 3), 311, 400)
        };
        assert_eq!(passed(""), 0, "{kind:?}");
        assert!(passed("reboot_leaves_pfc_off") > 100, "{kind:?}");
    }
}

#[test]
fn the_watchdog_is_back_in_time_and_has_forgotten_what_it_had_seen() {
    for kind in [RebootKind::Warm, RebootKind::Fast, RebootKind::Cold] {
        let fired = |deviation: &str, seed: u64| {
            let mut bench = device(deviation, seed);
            bench.storm(1, 3);
            bench.run(100);
            reboots(&mut bench, kind);
            bench.run(1_000);
            let events = bench.events();
            events.iter().find(|event| event.3 == Event::Storm).map(|event| event.0 / 1_000)
        };
        for seed in 0..20 {
            let at = fired("", seed).expect("it is back");
            // Three polls from the first one on, which comes within 300 ms.
            assert!((300..=700).contains(&at), "{kind:?} {at}");
            assert_eq!(fired("reboot_forgets_watchdog", seed), None);
        }
    }
}

#[test]
fn a_queue_that_is_stormed_stays_so_and_is_restored_once_the_storm_is_over() {
    let seen = |deviation: &str, seed: u64| {
        let mut bench = device(deviation, seed);
        bench.storm(1, 3);
        bench.run(400);
        assert_eq!(bench.count(Event::Storm), 1);
        reboots(&mut bench, RebootKind::Warm);
        bench.run(800);
        let arrived = bench.frames(id(0, 1, 3), 402, 800);
        bench.calm(1, 3);
        bench.run(1_800);
        (arrived, bench.count(Event::Storm), bench.count(Event::Restore))
    };
    assert_eq!(seen("", 3), (0, 1, 1));
    // Where the software is back soon enough the storm is detected anew, and what the queue held leaves.
    let mut ended = (0..8).map(|seed| seen("warm_reboot_ends_storm", seed));
    assert!(ended.any(|(arrived, storms, _)| arrived > 0 && storms == 2));
}

#[test]
fn a_row_that_was_left_of_a_stopped_watchdog_is_a_storm_after_a_warm_reboot() {
    let passed = |deviation: &str| {
        let mut bench = device(deviation, 3);
        bench.storm(1, 3);
        bench.run(400);
        assert_eq!(bench.count(Event::Storm), 1);
        bench.calm(1, 3);
        assert!(bench.dut.perform(DeviceVerb::RestartPfcwd));
        bench.run(420);
        reboots(&mut bench, RebootKind::Warm);
        bench.run(600);
        let during = bench.frames(id(0, 1, 3), 421, 600);
        bench.run(1_600);
        (during, bench.frames(id(0, 1, 3), 1_400, 1_600))
    };
    let (during, after) = passed("");
    assert!(during > 350 && after > 390, "{during} {after}");
    let (during, after) = passed("warm_reboot_replays_storm");
    assert!(during == 0 && after > 390, "restored as nobody pauses it: {during} {after}");
}

#[test]
fn it_counts_what_it_has_come_back_from_once_it_has_and_nothing_that_it_has_ignored() {
    let counted = |deviation: &str, kind: RebootKind| {
        let mut bench = device(deviation, 3);
        reboots(&mut bench, kind);
        let mut at = |ms: u64| {
            bench.run(ms);
            RebootKind::ALL.map(|kind| bench.dut.counter(&kind.counter()))
        };
        [at(0), at(301)]
    };
    for (index, kind) in RebootKind::ALL.into_iter().enumerate() {
        let mut once = [Some(0); 3];
        once[index] = Some(1);
        assert_eq!(counted("", kind), [[Some(0); 3], once]);
        assert_eq!(counted("reboot_ignored", kind), [[Some(0); 3]; 2]);
    }
}

#[test]
fn a_chip_that_stops_twice_passes_frames_in_between() {
    let mut bench = device("reboot_stops_twice", 3);
    bench.run(100);
    reboots(&mut bench, RebootKind::Fast);
    bench.run(900);
    let passes = |from: u64| bench.frames(id(0, 1, 3), from, from + 5) > 0;
    let mut turns = Vec::new();
    for from in (100..900).step_by(5) {
        if turns.last() != Some(&passes(from)) {
            turns.push(passes(from));
        }
    }
    assert_eq!(turns, [true, false, true, false, true]);
}
