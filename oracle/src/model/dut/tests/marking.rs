//! Early marking and dropping on the real engine: a queue is filled while its port is held, and let go.

use super::bench::{Bench, Case, ms};
use crate::model::Packet;
use crate::model::packet::PacketKind;
use crate::model::tap::Dir;
use rig_lab::RuleFamily;
use rig_units::{Dur, Time};

/// What a frame of 1024 B takes: five cells.
const FRAME: u64 = 1_040;
const QUEUE: &str = "Ethernet4:3 SAI_QUEUE_STAT_";

/// A device that marks queues 3 and 4 from 20 to 60 frames with a chance that grows to one half.
fn marking(deviation: Option<&str>) -> Case {
    let case = Case::of(RuleFamily::Broadcom)
        .with("wred.queues", vec![3, 4])
        .with("wred.kmin", format!("{}B", 20 * FRAME))
        .with("wred.kmax", format!("{}B", 60 * FRAME))
        .with("wred.pmax", "50%");
    deviation.into_iter().fold(case, |case, name| case.mutated(&format!("deviation={name}")))
}

/// A step at 20 frames.
fn step(deviation: Option<&str>) -> Case {
    marking(deviation).with("wred.kmax", format!("{}B", 20 * FRAME))
}

fn ect() -> Packet {
    Packet::data(7, 0, 1, 3, 3, 1_024).with_ect(true)
}

fn plain() -> Packet {
    ect().with_ect(false)
}

impl Bench {
    /// So many frames, one every 84 ns, from port 0.
    fn fill(&mut self, packet: Packet, count: u32) {
        let mut tap = |_: Time, _: u16, _: Dir, _: &Packet| ();
        for seq in 0..count {
            self.dut.deliver(0, Packet { seq, ..packet }, &mut tap);
            let next = self.dut.now() + Dur::ns(84);
            self.dut.run_until(next, &mut tap);
        }
    }

    /// What host 1 receives within 2 ms: number, ECN-capable, marked.
    fn drain(&mut self) -> Vec<(u32, bool, bool)> {
        self.drain_at(1)
    }

    /// The same of another host.
    fn drain_at(&mut self, at: u16) -> Vec<(u32, bool, bool)> {
        let mut received = Vec::new();
        let mut tap = |_: Time, host: u16, dir: Dir, packet: &Packet| {
            if (host, dir, packet.kind) == (at, Dir::Rx, PacketKind::Data) {
                received.push((packet.seq, packet.ect(), packet.ce()));
            }
        };
        let until = self.dut.now() + Dur::ms(2);
        self.dut.run_until(until, &mut tap);
        received
    }

    fn of_queue(&self, name: &str) -> u64 {
        let name = format!("{QUEUE}{name}");
        self.dut.counter(&name).unwrap_or_else(|| panic!("no counter {name}"))
    }
}

/// The device with port 1 held in classes 3 and 4.
fn held(case: Case) -> Bench {
    let mut bench = case.start();
    bench.storm(1, 3);
    bench.storm(1, 4);
    bench.run(1);
    bench
}

/// So many frames while the port is held: which of them come out marked, by number.
fn marked(case: Case, packet: Packet, count: u32) -> Vec<u32> {
    let mut bench = held(case);
    bench.fill(packet, count);
    bench.calm(1, 3);
    let received = bench.drain();
    received.iter().filter(|(.., ce)| *ce).map(|&(seq, ..)| seq).collect()
}

#[test]
fn at_dequeue_the_first_of_a_burst_are_marked_and_at_enqueue_the_last() {
    // The first leaves 29 frames behind, the tenth 20, the eleventh 19.
    assert_eq!(marked(step(None), ect(), 30), (0..10).collect::<Vec<_>>());
    let itself = || step(None).with("wred.counts_itself", true);
    assert_eq!(marked(itself(), ect(), 30), (0..11).collect::<Vec<_>>());
    let enqueue = |case: Case| case.with("wred.marking", "enqueue");
    assert_eq!(marked(enqueue(step(None)), ect(), 30), (20..30).collect::<Vec<_>>());
    assert_eq!(marked(enqueue(itself()), ect(), 30), (19..30).collect::<Vec<_>>());
}

#[test]
fn marks_at_other_point_turns_the_burst_round() {
    let deviant = || step(Some("marks_at_other_point"));
    assert_eq!(marked(deviant(), ect(), 30), (20..30).collect::<Vec<_>>());
    let enqueue = deviant().with("wred.marking", "enqueue");
    assert_eq!(marked(enqueue, ect(), 30), (0..10).collect::<Vec<_>>());
}

#[test]
fn the_thresholds_are_exact_to_the_byte_of_a_cell() {
    let at = |kmax: u64| {
        let case = step(None).with("wred.kmax", format!("{kmax}B"));
        marked(case, ect(), 30).len()
    };
    assert_eq!((at(20 * FRAME), at(20 * FRAME + 1)), (10, 9));
}

#[test]
fn counters_and_marks_on_the_wire_agree_and_frames_that_came_marked_count() {
    let count = |deviation, packet| {
        let mut bench = held(step(deviation));
        bench.fill(packet, 30);
        bench.calm(1, 3);
        let wire = bench.drain().iter().filter(|(.., ce)| *ce).count();
        let packets = bench.of_queue("WRED_ECN_MARKED_PACKETS");
        assert_eq!(bench.of_queue("WRED_ECN_MARKED_BYTES"), packets * 1_024);
        (wire, packets)
    };
    assert_eq!(count(None, ect()), (10, 10));
    assert_eq!(count(None, ect().with_ce(true)), (30, 10));
    assert_eq!(count(Some("ce_not_counted"), ect()), (10, 10));
    assert_eq!(count(Some("ce_not_counted"), ect().with_ce(true)), (30, 0));
}

#[test]
fn clears_ce_lets_only_what_is_marked_anew_leave_marked() {
    let deviant = || step(Some("clears_ce"));
    assert_eq!(marked(deviant(), ect().with_ce(true), 30), (0..10).collect::<Vec<_>>());
    assert_eq!(marked(deviant(), ect(), 30), (0..10).collect::<Vec<_>>());
    let enqueue = deviant().with("wred.marking", "enqueue");
    assert_eq!(marked(enqueue, ect().with_ce(true), 30), (20..30).collect::<Vec<_>>());
}

/// Received, marked, dropped early, and dropped at all.
fn fates(case: Case, packet: Packet) -> (usize, usize, u64, u64) {
    let mut bench = held(case);
    bench.fill(packet, 30);
    bench.calm(1, 3);
    let received = bench.drain();
    let marked = received.iter().filter(|(.., ce)| *ce).count();
    let dropped = bench.of_queue("WRED_DROPPED_PACKETS");
    assert_eq!(bench.of_queue("WRED_DROPPED_BYTES"), dropped * 1_024);
    (received.len(), marked, dropped, bench.of_queue("DROPPED_PACKETS"))
}

#[test]
fn what_is_not_ecn_capable_fills_the_queue_to_kmax_and_no_further() {
    assert_eq!(fates(step(None), plain()), (20, 0, 10, 10));
    assert_eq!(fates(step(None).with("wred.counts_itself", true), plain()), (19, 0, 11, 11));
    assert_eq!(fates(step(None).with("wred.marking", "enqueue"), plain()), (20, 0, 10, 10));
    assert_eq!(fates(step(None).with("wred.ecn", "ecn_none"), ect()), (20, 0, 10, 10));
    let apart = serde_json::json!({"kmin": "26KB", "kmax": "26KB", "pmax": "100%"});
    assert_eq!(fates(step(None).with("wred.drop", apart.clone()), plain()), (25, 0, 5, 5));
    assert_eq!(fates(step(None).with("wred.drop", apart), ect()), (30, 10, 0, 0));
}

#[test]
fn marks_non_ect_and_drops_ect_swap_what_becomes_of_frames() {
    assert_eq!(fates(step(None), ect()), (30, 10, 0, 0));
    assert_eq!(fates(step(Some("marks_non_ect")), plain()), (30, 10, 0, 0));
    assert_eq!(fates(step(Some("drops_ect")), ect()), (20, 0, 10, 10));
}

#[test]
fn ipv6_not_marked_drops_what_is_marked_over_ipv4() {
    for (over, right) in [(ect(), (30, 10, 0, 0)), (ect().with_v6(true), (30, 10, 0, 0))] {
        assert_eq!(fates(step(None), over), right);
    }
    assert_eq!(fates(step(Some("ipv6_not_marked")), ect()), (30, 10, 0, 0));
    assert_eq!(fates(step(Some("ipv6_not_marked")), ect().with_v6(true)), (20, 0, 10, 10));
}

#[test]
fn no_jump_at_kmax_leaves_frames_above_it_unmarked() {
    let above = |deviation| {
        let marks = marked(marking(deviation), ect(), 160);
        // 100 of them leave 60 or more behind.
        marks.iter().filter(|&&seq| seq < 100).count()
    };
    assert_eq!(above(None), 100);
    let deviant = above(Some("no_jump_at_kmax"));
    assert!((20..80).contains(&deviant), "{deviant}");
}

#[test]
fn depth_of_port_marks_a_short_queue_beside_a_long_one() {
    let short = |deviation| {
        let mut bench = held(step(deviation));
        bench.fill(Packet { stream: 8, class: 4, dscp: 4, ..ect() }, 25);
        bench.fill(ect(), 10);
        bench.calm(1, 3);
        bench.drain().iter().filter(|(.., ce)| *ce).count()
    };
    assert_eq!((short(None), short(Some("depth_of_port"))), (0, 10));
}

#[test]
fn depth_of_class_marks_a_short_queue_of_another_port() {
    let short = |deviation| {
        let mut bench = held(step(deviation));
        bench.storm(2, 3);
        bench.run(2);
        bench.fill(ect(), 25);
        bench.fill(Packet { stream: 8, dst: 2, ..ect() }, 10);
        bench.calm(2, 3);
        bench.drain_at(2).iter().filter(|(.., ce)| *ce).count()
    };
    assert_eq!((short(None), short(Some("depth_of_class"))), (0, 10));
}

#[test]
fn marks_too_often_marks_right_above_kmin() {
    // The chance is 0 at kmin itself and not above zero: 1 in 80 one frame above it.
    let case = |deviation| {
        let kmax = format!("{}B", 1_020 * FRAME);
        marking(deviation).with("wred.kmax", kmax).with("wred.pmax", "0.1%")
    };
    assert!(marked(case(None), ect(), 120).len() < 3);
    let deviant = marked(case(Some("marks_too_often:50")), ect(), 120);
    assert!(
        (30..70).contains(&deviant.len()) && deviant.iter().all(|&seq| seq < 99),
        "{deviant:?}"
    );
}

#[test]
fn draws_correlated_marks_in_runs() {
    let runs = |deviation| {
        let case = marking(deviation).with("wred.kmin", "0B").with("wred.pmax", "100%");
        let marks = marked(case, ect(), 55);
        marks.windows(2).filter(|pair| pair[1] != pair[0] + 1).count()
    };
    // 53 frames between certainties: groups of 8 have at most six gaps.
    assert!(runs(None) > 8, "{}", runs(None));
    assert!(runs(Some("draws_correlated")) <= 6);
}

#[test]
fn depth_averaged_does_not_notice_a_short_burst() {
    assert!(marked(step(Some("depth_averaged")), ect(), 30).is_empty());
    // Weight 2^-1: the average of 30 is 29 less a little, and stays for all that leave.
    assert_eq!(marked(step(Some("depth_averaged:1")), ect(), 30).len(), 30);
}

#[test]
fn a_declared_average_goes_by_what_arrived() {
    let case = |count| {
        let case = step(None).with("wred.weight", 2).with("wred.marking", "enqueue");
        marked(case, ect(), count)
    };
    // Of 0, 1, 2, ... in steps the average lags by 3 in the end: the 24th that arrives finds 23 and makes it 20.004.
    assert_eq!(case(30), (23..30).collect::<Vec<_>>());
}

#[test]
fn chance_comes_from_the_seed_and_is_as_often_as_declared() {
    let of = |seed| marked(marking(None).seed(seed), ect(), 60);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    // 40 frames from 59 down to 20 behind: a quarter of them, and so 250 of 1000; a standard deviation of 12.9.
    let total: usize = (0..25).map(|seed| of(seed).len()).sum();
    let expected = (20..60).map(|behind| 0.5 * f64::from(behind - 20) / 40.0).sum::<f64>() * 25.0;
    assert!((total as f64 - expected).abs() < 5.0 * 13.0, "{total} of {expected}");
}

#[test]
fn queues_without_the_profile_are_left_alone() {
    assert!(marked(step(None).with("wred.queues", vec![4]), ect(), 30).is_empty());
    let none: Vec<u8> = Vec::new();
    assert_eq!(fates(step(None).with("wred.queues", none), plain()), (30, 0, 0, 0));
}

#[test]
fn wred_on_every_queue_marks_where_nobody_asked() {
    let elsewhere = |deviation| step(deviation).with("wred.queues", vec![4]);
    let marks = marked(elsewhere(Some("wred_on_every_queue")), ect(), 30);
    assert_eq!((marked(elsewhere(None), ect(), 30), marks), (Vec::new(), (0..10).collect()));
}

#[test]
fn frames_count_one_size_in_packet_mode() {
    let unit = serde_json::json!({"packets": "2080B"});
    assert_eq!(marked(step(None).with("wred.unit", unit), ect(), 30), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_held_queue_is_marked_the_same_whenever_it_is_let_go() {
    let mut bench = held(step(None));
    bench.fill(ect(), 30);
    bench.run(9);
    assert!(bench.dut.now() >= ms(9));
    bench.calm(1, 3);
    assert_eq!(bench.drain().iter().filter(|(.., ce)| *ce).count(), 10);
}
