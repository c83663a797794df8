//! What each action does to the data, to the senders and to the counters.

use super::bench::{Bench, Case, bench, id, ms};
use crate::model::pfcwd::Event;
use rig_lab::RuleFamily;
use rig_units::Dur;

/// Victim, neighbours and the reverse direction, stormed from 100 ms to 600 ms, then quiet until 1000 ms.
fn stormed(case: Case) -> Bench {
    let mut bench = case.start();
    for (from, to, class) in [(0, 1, 3), (0, 1, 4), (1, 2, 3), (0, 2, 3)] {
        bench.stream(from, to, class, Dur::us(500));
    }
    bench.run(100);
    bench.storm(1, 3);
    bench.run(600);
    bench.calm(1, 3);
    bench.run(1_000);
    bench
}

fn of(case: Case) -> (Bench, u64, u64) {
    let bench = stormed(case);
    let events = bench.events();
    assert_eq!(events.len(), 2, "{events:?}");
    let (fired, restored) = (events[0].0 / 1_000, events[1].0 / 1_000);
    assert_eq!((events[0].1, events[0].2), (1, 3));
    (bench, fired, restored)
}

fn broadcom() -> Case {
    Case::of(RuleFamily::Broadcom)
}

#[test]
fn drop_lets_the_backlog_leave_and_takes_what_comes_after() {
    let (bench, fired, restored) = of(broadcom());
    let victim = id(0, 1, 3);
    assert!(bench.frames(victim, 102, fired) <= 1);
    // One frame per 500 us was held since the storm began at 100 ms.
    let held = bench.frames(victim, fired, fired + 2);
    assert!(held.abs_diff(usize::try_from(2 * (fired - 100)).unwrap()) <= 3, "{held}");
    assert_eq!(bench.frames(victim, fired + 2, restored), 0);
    assert!(bench.frames(victim, restored + 1, restored + 51) >= 99);
}

#[test]
fn drop_with_a_backlog_that_is_discarded_lets_nothing_leave() {
    let (bench, fired, restored) = of(broadcom().with("pfcwd.backlog", "discarded"));
    assert_eq!(bench.frames(id(0, 1, 3), fired, restored), 0);
}

#[test]
fn drop_by_acl_takes_the_ports_own_frames_too_and_a_zero_buffer_does_not() {
    // The storm of host 1 is about its reception; what it sends in the class is a matter of the ingress table.
    let (acl, fired, restored) = of(broadcom());
    assert_eq!(acl.frames(id(1, 2, 3), fired + 1, restored), 0);
    let (zero, fired, restored) = of(broadcom().with("pfcwd.drop_by", "zero-buffer"));
    let span = usize::try_from(restored - fired - 1).unwrap();
    assert!(zero.frames(id(1, 2, 3), fired + 1, restored).abs_diff(2 * span) <= 2);
    assert_eq!(zero.frames(id(0, 1, 3), fired + 2, restored), 0);
}

#[test]
fn neighbours_lose_nothing() {
    let (bench, ..) = of(broadcom());
    for neighbour in [id(0, 1, 4), id(0, 2, 3)] {
        assert!(bench.frames(neighbour, 0, 1_000) >= 1_999, "{neighbour}");
    }
}

#[test]
fn forward_ignores_the_storm() {
    let (bench, fired, restored) = of(broadcom().with("pfcwd.action", "forward"));
    let victim = id(0, 1, 3);
    assert!(bench.frames(victim, 102, fired) <= 1);
    assert!(
        bench.frames(victim, fired + 2, restored)
            >= usize::try_from(2 * (restored - fired - 3)).unwrap()
    );
    assert!(bench.frames(victim, 0, 1_000) >= 1_999);
}

#[test]
fn alert_reports_and_leaves_the_queue_paused() {
    let (bench, ..) = of(broadcom().with("pfcwd.action", "alert"));
    assert_eq!(bench.frames(id(0, 1, 3), 102, 600), 0);
    assert!(bench.frames(id(0, 1, 3), 0, 1_000) >= 1_999);
    assert_eq!(bench.stat("Ethernet4:3", "DEADLOCK_DETECTED"), 1);
    assert_eq!(bench.stat("Ethernet4:3", "TX_PACKETS"), 0);
}

#[test]
fn counters_are_those_of_the_wire() {
    let (bench, fired, restored) = of(broadcom());
    let held = u64::try_from(bench.frames(id(0, 1, 3), fired, restored)).unwrap();
    let stat = |name: &str| bench.stat("Ethernet4:3", name);
    assert_eq!((stat("DEADLOCK_DETECTED"), stat("DEADLOCK_RESTORED")), (1, 1));
    assert_eq!(stat("TX_PACKETS"), held);
    // Both directions lose a frame per 500 us.
    let lost = 2 * (restored - fired);
    assert!(stat("TX_DROPPED_PACKETS").abs_diff(lost) <= 3);
    assert!(stat("RX_DROPPED_PACKETS").abs_diff(lost) <= 3);
    assert_eq!(stat("RX_PACKETS"), 0);
    let sent = 2_000 - u64::try_from(bench.frames(id(0, 1, 3), 0, 1_000)).unwrap();
    assert!(stat("TX_DROPPED_PACKETS").abs_diff(sent) <= 1);
    for name in ["TX_PACKETS", "TX_DROPPED_PACKETS", "RX_PACKETS", "RX_DROPPED_PACKETS"] {
        assert_eq!(stat(name), stat(&format!("{name}_LAST")), "{name}");
        assert_eq!(bench.stat("Ethernet4:4", name), 0);
        assert_eq!(bench.stat("Ethernet0:3", name), 0);
    }
}

#[test]
fn one_counter_read_by_name_is_what_all_of_them_say() {
    let (bench, ..) = of(broadcom());
    let all = bench.dut.counters();
    assert!(all.len() > 500 && all.values().filter(|&&value| value > 0).count() > 20);
    for (name, value) in &all {
        assert_eq!(bench.dut.counter(name), Some(*value), "{name}");
    }
    for none in [
        "",
        "Ethernet4",
        "Ethernet5 SAI_PORT_STAT_PFC_3_RX_PKTS",
        "Ethernet4 SAI_PORT_STAT_PFC_8_RX_PKTS",
        "Ethernet4 SAI_PORT_STAT_PFC_3",
        "Ethernet4:3 SAI_PORT_STAT_PFC_3_RX_PKTS",
        "Ethernet4:9 SAI_QUEUE_STAT_PACKETS",
        "Ethernet4 SAI_QUEUE_STAT_PACKETS",
        "Ethernet4:0 PFC_WD_QUEUE_STATS_TX_PACKETS",
    ] {
        assert_eq!(bench.dut.counter(none), None, "{none}");
    }
}

#[test]
fn last_counters_are_of_the_last_storm_and_the_others_of_all() {
    let mut bench = bench();
    bench.stream(0, 1, 3, Dur::us(500));
    for round in 0..2 {
        bench.run(round * 1_000 + 100);
        bench.storm(1, 3);
        bench.run(round * 1_000 + 600);
        bench.calm(1, 3);
        bench.run(round * 1_000 + 1_000);
        let stat = |name: &str| bench.stat("Ethernet4:3", name);
        assert_eq!(stat("DEADLOCK_RESTORED"), round + 1);
        let (all, last) = (stat("TX_DROPPED_PACKETS"), stat("TX_DROPPED_PACKETS_LAST"));
        assert_eq!(all, last * (round + 1));
    }
}

/// A sender that had filled its group past XOFF is let go when the action begins: by the backlog's leaving, or by its
/// discard.
#[test]
fn paused_senders_go_on_when_the_drop_begins() {
    for backlog in ["drains", "discarded"] {
        let mut bench = broadcom().with("pfcwd.backlog", backlog).start();
        bench.stream(0, 1, 3, Dur::us(2));
        bench.run(100);
        bench.storm(1, 3);
        bench.run(600);
        let fired = bench.dut.events()[0].at;
        let paused =
            bench.told.iter().filter(|&&(at, host, xon)| host == 0 && !xon && at < fired).count();
        assert!(paused > 100, "{backlog}: {paused}");
        let after: Vec<bool> = bench
            .told
            .iter()
            .filter(|&&(at, host, _)| host == 0 && at > fired)
            .map(|told| told.2)
            .collect();
        assert_eq!(after, [true], "{backlog}");
    }
}

#[test]
fn storms_on_all_ports_are_all_detected_and_all_restored() {
    let mut bench = bench();
    for port in 0..4 {
        bench.storm(port, 3);
        bench.storm(port, 4);
    }
    bench.run(500);
    for port in 0..4 {
        bench.calm(port, 3);
        bench.calm(port, 4);
    }
    bench.run(1_000);
    assert_eq!((bench.count(Event::Storm), bench.count(Event::Restore)), (8, 8));
    let order: Vec<(u16, u8)> =
        bench.dut.events()[..8].iter().map(|acted| (acted.port, acted.class)).collect();
    assert_eq!(order, [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 3), (3, 4)]);
}

#[test]
fn a_link_that_goes_down_and_up_fires_nothing() {
    let mut bench = bench();
    bench.stream(0, 1, 3, Dur::us(500));
    for round in 0..5 {
        bench.run(round * 300 + 100);
        bench.dut.set_link(1, false);
        bench.run(round * 300 + 200);
        bench.dut.set_link(1, true);
    }
    bench.run(3_000);
    assert_eq!(bench.events(), []);
    assert_eq!(bench.dut.now(), ms(3_000));
    assert!(bench.frames(id(0, 1, 3), 2_000, 3_000) >= 1_999);
}
