//! Changing the configuration while it runs: limits, big red switch, buffer.

use super::bench::{Bench, Case, bench, id, set};
use crate::model::dut::Refused;
use crate::model::pfcwd::Event;
use rig_lab::{RuleFamily, Setting};
use rig_units::Dur;

fn refused(bench: &mut Bench, settings: &[Setting]) -> String {
    let before = bench.dut.configured().clone();
    let why = bench.dut.configure(settings).expect_err("it should be refused");
    assert_eq!(*bench.dut.configured(), before);
    why.to_string()
}

#[test]
fn times_are_accepted_up_to_their_limits_and_not_past_them() {
    let mut bench = bench();
    for (name, taken, not_taken) in [
        ("pfcwd.detection_time", ["100ms", "5s"], ["99ms", "5001ms"]),
        ("pfcwd.restoration_time", ["100ms", "60s"], ["99ms", "60001ms"]),
    ] {
        for value in taken {
            bench.dut.configure(&[set(name, value)]).unwrap();
            assert_eq!(
                bench.dut.configured().get(name).unwrap(),
                value.parse::<Dur>().unwrap().to_string()
            );
        }
        for value in not_taken {
            let why = bench.dut.configure(&[set(name, value)]).unwrap_err();
            assert!(matches!(why, Refused::OutOfRange { path, .. } if path == name), "{why}");
        }
    }
}

#[test]
fn a_detection_time_below_the_poll_interval_is_refused_by_yang_only() {
    let below = [set("pfcwd.poll_interval", "250ms")];
    bench().dut.configure(&below).unwrap();
    let mut yang = Case::of(RuleFamily::Broadcom).with("pfcwd.config_path", "yang").start();
    insta::assert_snapshot!(
        refused(&mut yang, &below),
        @"pfcwd.detection_time 200ms is below pfcwd.poll_interval 250ms"
    );
    // Together with a longer detection time it is one valid change.
    yang.dut.configure(&[below[0].clone(), set("pfcwd.detection_time", "250ms")]).unwrap();
}

#[test]
fn an_interval_that_is_typed_is_held_against_its_range_and_the_times_that_are_set() {
    let mut cli = Case::of(RuleFamily::Broadcom).with("pfcwd.config_path", "cli").start();
    insta::assert_snapshot!(
        refused(&mut cli, &[set("pfcwd.poll_interval", "250ms")]),
        @"unable to use polling interval = 250ms, value is bigger than one of the configured times (200ms)"
    );
    insta::assert_snapshot!(
        refused(&mut cli, &[set("pfcwd.poll_interval", "99ms")]),
        @"pfcwd.poll_interval 99ms is not within 100ms to 1s"
    );
    cli.dut.configure(&[set("pfcwd.poll_interval", "150ms")]).unwrap();
    // Nobody types the interval, and `pfcwd start` does not look at it.
    cli.dut.configure(&[set("pfcwd.detection_time", "100ms")]).unwrap();
}

#[test]
fn refusals_name_what_would_be_accepted() {
    let mut cisco = Case::of(RuleFamily::Cisco8000).start();
    insta::assert_snapshot!(
        refused(&mut cisco, &[set("pfcwd.action", "forward")]),
        @"pfcwd.action forward is not supported on cisco-8000"
    );
    insta::assert_snapshot!(
        refused(&mut cisco, &[set("pfcwd.restoration_time", "40ms")]),
        @"pfcwd.restoration_time 40ms is not within 100ms to 60s"
    );
    insta::assert_snapshot!(
        refused(&mut cisco, &[set("mtu", "1500B")]),
        @"mtu cannot be changed while the device runs"
    );
    let unreadable = refused(&mut cisco, &[set("pfcwd.action", "panic")]);
    assert!(unreadable.starts_with("`pfcwd.action`"), "{unreadable}");
}

#[test]
fn one_refused_setting_takes_the_others_with_it() {
    let settings = [set("pfcwd.detection_time", "400ms"), set("pfcwd.restoration_time", "1ms")];
    refused(&mut bench(), &settings);
}

#[test]
fn a_new_detection_time_holds_from_then_on() {
    let mut bench = bench();
    bench.storm(1, 3);
    bench.run(150);
    bench.dut.configure(&[set("pfcwd.detection_time", "1s")]).unwrap();
    bench.run(1_000);
    assert_eq!(bench.events(), []);
    bench.run(1_400);
    assert_eq!(bench.count(Event::Storm), 1);
}

#[test]
fn the_big_red_switch_drops_everywhere_without_a_storm() {
    let mut bench = bench();
    for (from, to, class) in [(0, 1, 3), (2, 3, 4), (0, 1, 1)] {
        bench.stream(from, to, class, Dur::us(500));
    }
    bench.run(100);
    bench.dut.configure(&[set("pfcwd.big_red_switch", true)]).unwrap();
    bench.run(200);
    assert_eq!(bench.frames(id(0, 1, 3), 101, 200) + bench.frames(id(2, 3, 4), 101, 200), 0);
    assert!(bench.frames(id(0, 1, 1), 101, 200) >= 197);
    bench.dut.configure(&[set("pfcwd.big_red_switch", false)]).unwrap();
    bench.run(300);
    assert!(bench.frames(id(0, 1, 3), 201, 300) >= 197);
    assert!(bench.frames(id(2, 3, 4), 201, 300) >= 197);
    for queue in ["Ethernet0:3", "Ethernet12:4"] {
        assert_eq!(bench.stat(queue, "DEADLOCK_DETECTED"), 1);
        assert_eq!(bench.stat(queue, "DEADLOCK_RESTORED"), 1);
    }
    assert_eq!(bench.events(), []);
}

#[test]
fn the_big_red_switch_bypasses_detection_and_may_be_on_from_the_start() {
    let mut bench = Case::of(RuleFamily::Broadcom).with("pfcwd.big_red_switch", true).start();
    bench.stream(0, 1, 3, Dur::us(500));
    bench.storm(1, 3);
    bench.run(1_000);
    assert_eq!((bench.events(), bench.frames(id(0, 1, 3), 0, 1_000)), (vec![], 0));
    bench.dut.configure(&[set("pfcwd.big_red_switch", false)]).unwrap();
    bench.run(1_400);
    assert_eq!(bench.count(Event::Storm), 1);
}

#[test]
fn a_buffer_change_takes_effect_and_leaves_a_storm_alone() {
    let mut bench = bench();
    bench.stream(0, 1, 3, Dur::us(500));
    bench.storm(1, 3);
    bench.run(400);
    assert_eq!(bench.count(Event::Storm), 1);
    bench.dut.configure(&[set("buffer.dynamic_th", 0)]).unwrap();
    bench.run(700);
    assert_eq!((bench.count(Event::Storm), bench.count(Event::Restore)), (1, 0));
    assert_eq!(bench.frames(id(0, 1, 3), 402, 700), 0);
}

/// With alpha 1/8 the group of a held queue reaches XOFF at about a ninth of the pool, with alpha 1 at half of it.
#[test]
fn a_smaller_alpha_pauses_the_sender_earlier() {
    let first_xoff = |alpha: i8| {
        let mut bench = Case::of(RuleFamily::Mellanox).with("pfcwd.detection_time", "5s").start();
        bench.dut.configure(&[set("buffer.dynamic_th", alpha)]).unwrap();
        bench.storm(1, 3);
        bench.run(1);
        bench.stream(0, 1, 3, Dur::us(10));
        bench.run(100);
        bench.told.first().map(|told| told.0.0)
    };
    let (small, large) = (first_xoff(-3).unwrap(), first_xoff(0).unwrap());
    assert!((small - 1_000_000_000) * 3 < large - 1_000_000_000, "{small} {large}");
}
