//! Deviations in what the device sends: its PFC frames, and how its queues share a port.

use super::bench::{Bench, Case, bench, broken, id, ms};
use crate::model::Stream;
use crate::model::packet::{Packet, PacketKind};
use crate::model::tap::Dir;
use rig_capture::PfcFault;
use rig_lab::RuleFamily;
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace, Time};

/// Host 0 fills its priority group towards host 1, which is paused for good; the PFC frames that host 0 hears until
/// 150 ms, before any watchdog acts: when, and what is wrong with them.
fn told(mut bench: Bench) -> Vec<(Time, Option<PfcFault>)> {
    bench.stream(0, 1, 3, Dur::us(1));
    bench.storm(1, 3);
    let mut told = Vec::new();
    let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
        if (host, dir, packet.kind) == (0, Dir::Rx, PacketKind::Pfc) {
            told.push((at, packet.fault()));
        }
    };
    bench.dut.run_until(ms(150), &mut tap);
    told
}

#[test]
fn malformed_pfc_has_the_fault_that_is_asked_for_in_every_frame() {
    let faults = |bench| {
        let mut faults: Vec<_> = told(bench).into_iter().map(|(_, fault)| fault).collect();
        assert!(faults.len() > 100, "{}", faults.len());
        faults.dedup();
        faults
    };
    assert_eq!(faults(bench()), [None]);
    assert_eq!(faults(broken("malformed_pfc")), [Some(PfcFault::Destination)]);
    for (number, fault) in PfcFault::ALL.into_iter().enumerate() {
        assert_eq!(faults(broken(&format!("malformed_pfc:{number}"))), [Some(fault)]);
    }
}

#[test]
fn nobody_obeys_malformed_pfc() {
    let dropped = |mut bench: Bench| {
        bench.stream(0, 1, 3, Dur::us(1));
        bench.storm(1, 3);
        bench.run(50);
        bench.dut.network().switch(0).counters(0, 3).group_drops
    };
    assert_eq!(dropped(bench()), 0);
    assert!(dropped(broken("malformed_pfc")) > 10_000);
}

#[test]
fn refresh_late_lets_every_pause_run_out_before_the_next() {
    let gaps = |bench| -> (Dur, Dur) {
        let at: Vec<Time> = told(bench).into_iter().map(|(at, _)| at).collect();
        let gaps = || at.windows(2).map(|pair| pair[1] - pair[0]);
        (gaps().min().unwrap(), gaps().max().unwrap())
    };
    assert_eq!(gaps(bench()), (Dur::us(100), Dur::us(100)));
    // 65535 quanta last 335.5392 us at 100 Gb/s; half of that more.
    let late = Dur::ns(503_308) + Dur(800);
    assert_eq!(gaps(broken("refresh_late")), (late, late));
}

/// Frames of 1024 B that host 2 receives of classes 3 and 4 in 10 ms, hosts 0 and 1 offering either a full port.
fn shares(case: Case) -> [usize; 2] {
    shares_by(case, &serde_json::json!({"dwrr": 1}))
}

/// The same where the queue of class 4 is served in this way.
fn shares_by(case: Case, fourth: &serde_json::Value) -> [usize; 2] {
    let one = serde_json::json!({"dwrr": 1});
    let heavy = serde_json::json!({"dwrr": 3});
    let queues = serde_json::json!([one, one, one, heavy, fourth, one, "strict", "strict"]);
    let mut bench = case.with("scheduler.queues", queues).start();
    // A frame and its overhead take 83.52 ns.
    bench.stream(0, 2, 3, Dur(83_520));
    bench.stream(1, 2, 4, Dur(83_520));
    bench.run(20);
    [(0, 3), (1, 4)].map(|(from, class)| bench.frames(id(from, 2, class), 10, 20))
}

fn broken_case(deviation: &str) -> Case {
    Case::of(RuleFamily::Broadcom).mutated(&format!("deviation={deviation}"))
}

#[test]
fn weights_ignored_gives_the_heavy_queue_no_more_than_the_light_one() {
    let [heavy, light] = shares(Case::of(RuleFamily::Broadcom));
    assert!(heavy.abs_diff(3 * light) < 10, "{heavy} {light}");
    let [heavy, light] = shares(broken_case("weights_ignored"));
    assert!(heavy.abs_diff(light) < 10, "{heavy} {light}");
}

#[test]
fn strict_ignored_makes_a_strict_queue_take_its_turn() {
    let strict = serde_json::json!("strict");
    let [weighted, first] = shares_by(Case::of(RuleFamily::Broadcom), &strict);
    assert!(first.abs_diff(119_732) <= 1 && weighted == 0, "{first} {weighted}");
    let [weighted, first] = shares_by(broken_case("strict_ignored"), &strict);
    assert!(weighted.abs_diff(3 * first) < 10, "{first} {weighted}");
}

#[test]
fn egress_rate_low_takes_its_share_of_every_port() {
    let sum = |case| shares(case).iter().sum::<usize>();
    // 10 ms hold 119 732 frames.
    assert!(sum(Case::of(RuleFamily::Broadcom)).abs_diff(119_732) <= 1);
    assert!(sum(broken_case("egress_rate_low")).abs_diff(119_732 * 95 / 100) <= 1);
    assert!(sum(broken_case("egress_rate_low:500000")).abs_diff(119_732 / 2) <= 1);
}

/// Size and priority of frames of 1024 B as host 1 receives them, of ten that host 0 sent with this priority, or without a tag.
fn arrived(mut bench: Bench, pcp: Option<u8>) -> Vec<(u16, Option<u8>)> {
    let stream = Stream {
        id: 9,
        kind: PacketKind::Data,
        names: 9,
        first: 0,
        class: 3,
        dscp: 3,
        size: 1_024,
        pace: Pace::every(Dur::us(1)),
        dst: 1,
        count: Some(10),
        ect: true,
        ce: false,
        record: true,
        pcp,
        macsec_mode: MacsecMode::Usual,
        address: 0,
    };
    bench.dut.rig().start_stream(0, &stream);
    let mut arrived = Vec::new();
    let mut tap = |_: Time, host: u16, dir: Dir, packet: &Packet| {
        if (host, dir) == (1, Dir::Rx) {
            arrived.push((packet.size, packet.pcp()));
        }
    };
    bench.dut.run_until(ms(1), &mut tap);
    arrived
}

#[test]
fn a_switch_that_does_right_keeps_every_tag() {
    for pcp in (0..8).map(Some).chain([None]) {
        assert_eq!(arrived(bench(), pcp), [(1_024, pcp); 10]);
    }
}

#[test]
fn pcp_rewritten_changes_the_priority_of_what_has_one() {
    assert_eq!(arrived(broken("pcp_rewritten"), Some(5)), [(1_024, Some(0)); 10]);
    assert_eq!(arrived(broken("pcp_rewritten:6"), Some(5)), [(1_024, Some(6)); 10]);
    assert_eq!(arrived(broken("pcp_rewritten:6"), None), [(1_024, None); 10]);
}

#[test]
fn tag_stripped_takes_four_bytes_off_what_has_a_tag() {
    assert_eq!(arrived(broken("tag_stripped"), Some(5)), [(1_020, None); 10]);
    assert_eq!(arrived(broken("tag_stripped"), None), [(1_024, None); 10]);
}
