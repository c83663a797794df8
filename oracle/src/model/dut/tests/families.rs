//! Each rule on the real switch, against formula F13.

use super::bench::{Case, bench};
use crate::model::pfcwd::Event;
use proptest::prelude::*;
use rig_lab::RuleFamily;
use rig_units::{Dur, Quanta};

const FAMILIES: [RuleFamily; 5] = [
    RuleFamily::Broadcom,
    RuleFamily::Mellanox,
    RuleFamily::Cisco8000,
    RuleFamily::Barefoot,
    RuleFamily::IntervalCounter,
];

/// Microseconds from the start of a storm to its detection, and from its last frame to restoration. The storm lasts
/// from 150 to 650 ms.
fn times(case: Case, data: bool) -> (u64, u64) {
    let mut bench = case.start();
    if data {
        bench.stream(0, 1, 3, Dur::us(500));
    }
    bench.run(150);
    bench.storm(1, 3);
    bench.run(650);
    bench.calm(1, 3);
    bench.run(1_200);
    let events = bench.events();
    assert_eq!((events[0].1, events[0].2, events[0].3), (1, 3, Event::Storm), "{events:?}");
    let restored =
        events.iter().find(|event| event.3 == Event::Restore && event.0 > 650_000).unwrap();
    (events[0].0 - 150_000, restored.0 - 650_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// n = 2. A pause begins up to 3 us after the storm does: a frame, 3 m of cable and the MAC's response. The last
    /// frame leaves within 150 us before the storm is stopped, its pause lasts 336 us.
    #[test]
    fn every_family_fires_and_lets_go_within_its_interval(seed in any::<u64>()) {
        for family in FAMILIES {
            let (fired, restored) = times(Case::of(family).seed(seed), true);
            let interval = match family {
                RuleFamily::Broadcom => 200_000..300_004,
                RuleFamily::Mellanox | RuleFamily::Barefoot => 199_500..300_004,
                RuleFamily::Cisco8000 | RuleFamily::IntervalCounter => 100_000..200_004,
                RuleFamily::Hardware => 200_000..200_004,
            };
            prop_assert!(interval.contains(&fired), "{:?} fired after {} us", family, fired);
            let interval = match family {
                RuleFamily::Broadcom | RuleFamily::Mellanox | RuleFamily::Barefoot => 199_800..300_001,
                RuleFamily::Cisco8000 => 100_000..200_400,
                // Not a matter of the storm's end: 200 ms after the last time it fired.
                RuleFamily::IntervalCounter | RuleFamily::Hardware => 0..400_001,
            };
            prop_assert!(interval.contains(&restored), "{:?} let go after {} us", family, restored);
        }
    }

    #[test]
    fn barefoot_without_data_goes_by_the_pause_duration(seed in any::<u64>()) {
        let (fired, _) = times(Case::of(RuleFamily::Barefoot).seed(seed), false);
        prop_assert!((180_000..280_004).contains(&fired), "fired after {} us", fired);
    }
}

/// A storm of 600 ms: detected, let go, and detected again with what is left of it, each time after 200 ms and what its timers take.
#[test]
fn hardware_goes_by_timers_that_begin_with_the_pause_and_with_each_other() {
    let after = |lag: &str, seed: u64| -> [u64; 3] {
        let case = Case::of(RuleFamily::Hardware).with("pfcwd.timer_lag", lag).seed(seed);
        let mut bench = case.start();
        bench.run(150);
        bench.storm(1, 3);
        bench.run(790);
        let events = bench.events();
        let kinds: Vec<Event> = events.iter().map(|event| event.3).collect();
        assert_eq!(kinds, [Event::Storm, Event::Restore, Event::Storm], "{events:?}");
        [events[0].0 - 150_000, events[1].0 - events[0].0, events[2].0 - events[1].0]
    };
    for seed in 0..8 {
        let [first, recovery, again] = after("0us", seed);
        assert!((200_000..200_004).contains(&first), "{first}");
        assert_eq!([recovery, again], [200_000; 2]);
    }
    let drawn: Vec<u64> = (0..40).flat_map(|seed| after("0us..10ms", seed)).collect();
    assert!(drawn.iter().all(|took| (200_000..=210_004).contains(took)), "{drawn:?}");
    assert!(drawn.iter().any(|took| *took < 201_000) && drawn.iter().any(|took| *took > 209_000));
}

#[test]
fn mellanox_never_fires_on_an_empty_queue() {
    let mut bench = Case::of(RuleFamily::Mellanox).start();
    bench.storm(1, 3);
    bench.run(2_000);
    assert_eq!(bench.events(), []);
}

/// Detections over all seeds fill the interval: the phase is uniform, not merely different.
#[test]
fn the_phase_of_the_polls_is_uniform() {
    let phases: Vec<u64> = (0..400).map(|seed| times_of_first_poll(seed) / 10_000).collect();
    for tenth in 0..10 {
        let count = phases.iter().filter(|&&phase| phase == tenth).count();
        assert!((15..=65).contains(&count), "{count} of 400 in tenth {tenth}");
    }
}

fn times_of_first_poll(seed: u64) -> u64 {
    let mut bench =
        Case::of(RuleFamily::Cisco8000).with("pfcwd.detection_time", "100ms").seed(seed).start();
    bench.storm(1, 3);
    bench.run(110);
    bench.events()[0].0
}

#[test]
fn polls_come_late_where_the_profile_says_so() {
    let storms = |jitter: &str| -> Vec<u64> {
        let mut bench = Case::of(RuleFamily::IntervalCounter)
            .with("pfcwd.jitter", jitter)
            .with("pfcwd.detection_time", "100ms")
            .with("pfcwd.restoration_time", "100ms")
            .start();
        bench.storm(1, 3);
        bench.run(5_000);
        let times: Vec<u64> = bench.events().iter().map(|event| event.0).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    assert!(storms("0us").iter().all(|&gap| gap == 100_000));
    let late = storms("50us..1.1ms");
    assert!(late.iter().all(|gap| (100_050..=101_100).contains(gap)), "{late:?}");
    assert!(late.iter().any(|gap| *gap != late[0]));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another_phase() {
    let run = |seed| {
        let mut bench = Case::of(RuleFamily::Broadcom).seed(seed).start();
        bench.stream(0, 1, 3, Dur::us(500));
        bench.storm(1, 3);
        bench.run(500);
        (bench.events(), bench.received, bench.dut.counters())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
}

/// Advancing in small steps is advancing at once: where the executor stops does not matter.
#[test]
fn the_steps_of_a_run_do_not_show() {
    let run = |step: u64| {
        let mut bench = bench();
        bench.stream(0, 1, 3, Dur::us(500));
        bench.storm(1, 3);
        for until in (step..=600).step_by(usize::try_from(step).unwrap()) {
            bench.run(until);
        }
        (bench.events(), bench.received)
    };
    assert_eq!(run(600), run(1));
}

#[test]
fn an_override_changes_what_it_does_and_not_what_it_says() {
    let (right, _) = times(Case::of(RuleFamily::Broadcom), true);
    let slow = Case::of(RuleFamily::Broadcom).mutated("pfcwd.detection_time=x1.5");
    let (late, _) = times(slow, true);
    assert_eq!(late, right + 100_000);
    let bench = Case::of(RuleFamily::Broadcom).mutated("pfcwd.detection_time=x1.5").start();
    assert_eq!(
        bench.dut.configured().switch().expect("a switch").pfcwd.detection_time,
        Dur::ms(200)
    );
}

#[test]
fn without_a_restoration_time_it_stays_stormed() {
    let mut bench = Case::of(RuleFamily::Broadcom)
        .with("pfcwd.restoration_time", serde_json::Value::Null)
        .start();
    bench.storm(1, 3);
    bench.run(400);
    bench.calm(1, 3);
    bench.run(3_000);
    assert_eq!((bench.count(Event::Storm), bench.count(Event::Restore)), (1, 0));
}

/// Pauses of half the detection time, traffic without pauses, and a storm whose frames come too seldom.
#[test]
fn what_is_no_storm_does_not_fire() {
    let mut bench = bench();
    bench.stream(0, 1, 3, Dur::us(1));
    for round in 0..8 {
        bench.run(round * 400 + 100);
        bench.storm(1, 3);
        bench.run(round * 400 + 200);
        bench.calm(1, 3);
    }
    bench.run(4_000);
    bench.pfc(1, 3, Quanta::MAX, Dur::us(500));
    bench.run(6_000);
    assert_eq!(bench.events(), []);
}
