//! Each deviation is seen from outside, beside the device that does right.

use super::bench::{Bench, Case, bench, broken, id, ms, set};
use crate::model::packet::Packet;
use crate::model::pfcwd::Event;
use rig_lab::RuleFamily;
use rig_testcases::DeviceVerb;
use rig_units::{Dur, Quanta};

/// A victim of storms from 100 to 600 ms, in 1200 ms; `late` happens at 800 ms, which is after the first quiet poll
/// and before the second, wherever the polls are.
fn storm_once(mut bench: Bench, late: impl Fn(&mut Bench)) -> Bench {
    bench.stream(0, 1, 3, Dur::us(500));
    bench.stream(0, 1, 4, Dur::us(500));
    bench.stream(0, 2, 3, Dur::us(500));
    bench.run(100);
    bench.storm(1, 3);
    bench.run(600);
    bench.calm(1, 3);
    bench.run(800);
    late(&mut bench);
    bench.run(1_200);
    bench
}

fn plain(bench: Bench) -> Bench {
    storm_once(bench, |_| {})
}

fn with_action(action: &str, deviation: Option<&str>) -> Case {
    let case = Case::of(RuleFamily::Broadcom).with("pfcwd.action", action);
    deviation.into_iter().fold(case, |case, name| case.mutated(&format!("deviation={name}")))
}

/// In milliseconds: when it fired first, and when it let go first.
fn times(bench: &Bench) -> (u64, u64) {
    let events = bench.events();
    let first =
        |what| events.iter().find(|event| event.3 == what).map(|event| event.0 / 1_000).unwrap();
    (first(Event::Storm), first(Event::Restore))
}

/// Frames of a stream from shortly after detection to restoration.
fn during(bench: &Bench, stream: u16) -> usize {
    let (fired, restored) = times(bench);
    bench.frames(stream, fired + 2, restored)
}

#[test]
fn detection_ignores_the_highest_guarded_class_or_the_one_named() {
    let fired = |mut bench: Bench| -> Vec<u8> {
        bench.storm(1, 3);
        bench.storm(1, 4);
        bench.run(1_000);
        bench.dut.events().iter().map(|acted| acted.class).collect()
    };
    assert_eq!(fired(bench()), [3, 4]);
    assert_eq!(fired(broken("detection_ignores_class")), [3]);
    assert_eq!(fired(broken("detection_ignores_class:3")), [4]);
}

#[test]
fn timer_not_reset_by_gap_adds_up_storms_that_are_too_short() {
    let fired = |mut bench: Bench| {
        for round in 0..4 {
            bench.run(round * 400 + 100);
            bench.storm(1, 3);
            bench.run(round * 400 + 298);
            bench.calm(1, 3);
        }
        bench.run(2_000);
        bench.count(Event::Storm)
    };
    assert_eq!(fired(bench()), 0);
    assert!(fired(broken("timer_not_reset_by_gap")) > 0);
}

#[test]
fn xon_counts_as_storm_fires_on_frames_that_pause_nothing() {
    let fired = |mut bench: Bench| {
        bench.stream(0, 1, 3, Dur::us(500));
        bench.pfc(1, 3, Quanta(0), Dur::ms(5));
        bench.run(1_000);
        bench.count(Event::Storm)
    };
    assert_eq!(fired(bench()), 0);
    assert_eq!(fired(broken("xon_counts_as_storm")), 1);
}

#[test]
fn restores_too_early_is_a_poll_early() {
    let (right, early) = (plain(bench()), plain(broken("restores_too_early")));
    assert_eq!(times(&early), (times(&right).0, times(&right).1 - 100));
}

#[test]
fn restores_during_storm_lets_go_and_fires_again() {
    let count = |mut bench: Bench| {
        bench.storm(1, 3);
        bench.run(2_000);
        (bench.count(Event::Storm), bench.count(Event::Restore))
    };
    assert_eq!(count(bench()), (1, 0));
    let (storms, restores) = count(broken("restores_during_storm"));
    assert!(storms >= 3 && restores >= 3, "{storms} {restores}");
}

#[test]
fn late_frame_does_not_restart_shows_after_a_late_frame_only() {
    let late = |bench: &mut Bench| bench.dut.rig().send(1, Packet::pfc(8, 0, Quanta(1), 64));
    let restored = |bench| times(&storm_once(bench, late)).1;
    assert_eq!(restored(broken("late_frame_does_not_restart")), restored(bench()) - 200);
    assert_eq!(times(&plain(broken("late_frame_does_not_restart"))), times(&plain(bench())));
}

#[test]
fn xon_does_not_restart_shows_after_an_xon_frame_where_it_is_counted() {
    let xon = |bench: &mut Bench| bench.dut.rig().send(1, Packet::pfc(8, 8, Quanta(0), 64));
    let restored = |bench| times(&storm_once(bench, xon)).1;
    assert_eq!(restored(broken("xon_does_not_restart")), restored(bench()) - 200);
    let uncounted = || Case::of(RuleFamily::Broadcom).with("pfc.xon_counts", false);
    let mutated = uncounted().mutated("deviation=xon_does_not_restart");
    assert_eq!(restored(mutated.start()), restored(uncounted().start()));
}

/// The leak comes right behind the backlog, so it is counted from detection on.
#[test]
fn drop_leaks_as_many_frames_as_it_is_told() {
    let left = |bench| {
        let bench = plain(bench);
        let (fired, restored) = times(&bench);
        bench.frames(id(0, 1, 3), fired, restored)
    };
    let backlog = left(bench());
    assert_eq!(left(broken("drop_leaks")), backlog + 1);
    assert_eq!(left(broken("drop_leaks:5")), backlog + 5);
}

#[test]
fn drop_spreads_to_the_next_queue() {
    let neighbour = |bench| during(&plain(bench), id(0, 1, 4));
    assert!(neighbour(bench()) > 200);
    assert_eq!(neighbour(broken("drop_spreads_to_queue")), 0);
}

#[test]
fn drop_spreads_to_the_next_port() {
    let neighbour = |bench| during(&plain(bench), id(0, 2, 3));
    assert!(neighbour(bench()) > 200);
    assert_eq!(neighbour(broken("drop_spreads_to_port")), 0);
}

#[test]
fn what_a_drop_spread_to_is_given_back() {
    for deviation in ["drop_spreads_to_queue", "drop_spreads_to_port"] {
        let bench = plain(broken(deviation));
        let restored = times(&bench).1;
        for stream in [id(0, 1, 3), id(0, 1, 4), id(0, 2, 3)] {
            assert!(bench.frames(stream, restored + 1, 1_200) > 100, "{deviation} {stream}");
        }
    }
}

#[test]
fn forward_drops_instead() {
    let victim = |deviation| during(&plain(with_action("forward", deviation).start()), id(0, 1, 3));
    assert!(victim(None) > 200);
    assert_eq!(victim(Some("forward_drops")), 0);
}

#[test]
fn alert_acts_by_dropping() {
    let lost = |deviation| {
        let bench = plain(with_action("alert", deviation).start());
        2_400 - bench.frames(id(0, 1, 3), 0, 1_200)
    };
    assert!(lost(None) <= 1);
    assert!(lost(Some("alert_acts")) > 200);
}

#[test]
fn poll_stops_after_storm_misses_the_second_one() {
    let events = |bench| {
        let mut bench = plain(bench);
        bench.storm(2, 3);
        bench.run(2_000);
        bench.events().len()
    };
    assert_eq!(events(bench()), 3);
    assert_eq!(events(broken("poll_stops_after_storm")), 2);
}

#[test]
fn poll_stops_after_restart_misses_the_storm_that_comes_then() {
    let storms = |mut bench: Bench| {
        assert!(bench.dut.perform(DeviceVerb::RestartPfcwd));
        let mut bench = plain(bench);
        bench.run(600);
        bench.events().len()
    };
    assert!(storms(bench()) > 0);
    assert_eq!(storms(broken("poll_stops_after_restart")), 0);
}

#[test]
fn counters_off_disagree_with_the_wire() {
    let stats = |bench: Bench| {
        let bench = plain(bench);
        ["TX_PACKETS", "TX_DROPPED_PACKETS", "RX_DROPPED_PACKETS_LAST"]
            .map(|name| bench.stat("Ethernet4:3", name))
    };
    let right = stats(bench());
    assert_eq!(stats(broken("counters_off")), right.map(|count| count + 1));
    assert_eq!(stats(broken("counters_off:7")), right.map(|count| count + 7));
}

#[test]
fn pfc_continues_after_drop_until_it_lets_go() {
    let told = |mut bench: Bench| -> (Vec<bool>, Vec<bool>) {
        bench.stream(0, 1, 3, Dur::us(2));
        bench.run(100);
        bench.storm(1, 3);
        bench.run(600);
        bench.calm(1, 3);
        bench.run(1_200);
        let (fired, restored) = (bench.dut.events()[0].at, bench.dut.events()[1].at);
        let to_sender = bench.told.iter().filter(|told| told.1 == 0);
        let during = to_sender.clone().filter(|told| told.0 > fired && told.0 <= restored);
        let after = to_sender.filter(|told| told.0 > restored);
        (during.map(|told| told.2).collect(), after.map(|told| told.2).collect())
    };
    assert_eq!(told(bench()), (vec![true], vec![]));
    let (during, after) = told(broken("pfc_continues_after_drop"));
    assert!(during.len() > 1_000 && during.iter().all(|xon| !xon));
    assert_eq!(after, [true]);
}

/// With ACLs the sender's own port drops what goes to the missed queue, so that only its counter tells; a zero buffer
/// shows it on the wire.
#[test]
fn big_red_switch_misses_the_last_queue() {
    let passed = |drop_by: &str, deviation: Option<&str>| {
        let mut bench = with_action("drop", deviation).with("pfcwd.drop_by", drop_by).start();
        bench.dut.configure(&[set("pfcwd.big_red_switch", true)]).unwrap();
        bench.stream(0, 3, 4, Dur::us(500));
        bench.run(100);
        (bench.stat("Ethernet12:4", "DEADLOCK_DETECTED"), bench.frames(id(0, 3, 4), 0, 100) > 100)
    };
    let misses = Some("big_red_switch_misses_queue");
    for drop_by in ["acl", "zero-buffer"] {
        assert_eq!(passed(drop_by, None), (1, false));
        assert_eq!(passed(drop_by, misses), (0, drop_by == "zero-buffer"));
    }
}

#[test]
fn accepts_out_of_range_takes_anything() {
    let setting = [set("pfcwd.detection_time", "99ms")];
    assert!(bench().dut.configure(&setting).is_err());
    broken("accepts_out_of_range").dut.configure(&setting).unwrap();
}

#[test]
fn refuses_limits_takes_only_what_lies_between_them() {
    let takes = |mut bench: Bench, value: &str| {
        bench.dut.configure(&[set("pfcwd.detection_time", value)]).is_ok()
    };
    for end in ["100ms", "5000ms"] {
        assert!(takes(bench(), end));
        assert!(!takes(broken("refuses_limits"), end));
    }
    assert!(takes(broken("refuses_limits"), "101ms"));
}

#[test]
fn buffer_change_ends_storm_and_it_fires_again() {
    let storms = |mut bench: Bench| {
        bench.storm(1, 3);
        bench.run(500);
        bench.dut.configure(&[set("buffer.dynamic_th", 0)]).unwrap();
        bench.run(1_000);
        bench.count(Event::Storm)
    };
    assert_eq!(storms(bench()), 1);
    assert_eq!(storms(broken("buffer_change_ends_storm")), 2);
}

#[test]
fn link_toggle_fires_on_its_port() {
    let fired = |mut bench: Bench| -> Vec<(u16, u8)> {
        bench.run(100);
        bench.dut.set_link(1, false);
        bench.run(200);
        bench.dut.set_link(1, true);
        bench.run(600);
        bench.dut.events().iter().map(|acted| (acted.port, acted.class)).collect()
    };
    assert_eq!(fired(bench()), []);
    assert_eq!(fired(broken("link_toggle_fires"))[..2], [(1, 3), (1, 4)]);
}

#[test]
fn own_pfc_counts_as_storm_of_the_port_that_sends_it() {
    let fired = |deviation| -> Vec<u16> {
        let mut bench = with_action("alert", deviation).start();
        bench.stream(0, 1, 3, Dur::us(2));
        bench.storm(1, 3);
        bench.run(1_000);
        let mut ports: Vec<u16> = bench.dut.events().iter().map(|acted| acted.port).collect();
        ports.sort_unstable();
        ports
    };
    assert_eq!(fired(None), [1]);
    assert_eq!(fired(Some("own_pfc_counts_as_storm")), [0, 1]);
}

#[test]
fn one_port_at_a_time_leaves_the_others_paused() {
    let fired = |mut bench: Bench| -> Vec<u16> {
        bench.run(10);
        for port in 0..3 {
            bench.storm(port, 3);
        }
        bench.run(1_000);
        assert_eq!(bench.dut.now(), ms(1_000));
        bench.dut.events().iter().map(|acted| acted.port).collect()
    };
    assert_eq!(fired(bench()), [0, 1, 2]);
    assert_eq!(fired(broken("one_port_at_a_time")), [0]);
}

/// Two polls of a storm are not enough before the restart, and with what came before it they are.
#[test]
fn restart_forgets_nothing_adds_up_what_a_restart_parts() {
    let fired = |mut bench: Bench| {
        bench.stream(0, 1, 3, Dur::us(500));
        bench.storm(1, 3);
        bench.run(155);
        assert!(bench.dut.perform(DeviceVerb::RestartPfcwd));
        bench.run(310);
        bench.events().len()
    };
    assert_eq!((fired(bench()), fired(broken("restart_forgets_nothing"))), (0, 1));
}
