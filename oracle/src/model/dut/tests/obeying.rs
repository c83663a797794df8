//! Deviations of what a device does with PFC that it receives, and with the order of frames that wait for it.

use super::bench::{Bench, bench, broken, id, ms};
use crate::model::Storm;
use crate::model::packet::{Packet, PacketKind};
use crate::model::tap::Dir;
use rig_capture::PfcFault;
use rig_testcases::MacsecMode;
use rig_units::{Dur, Quanta, Time};

/// The longest time between two frames that arrived, in microseconds.
fn longest_gap(bench: &Bench) -> u64 {
    let pairs = bench.received.windows(2);
    pairs.map(|pair| (pair[1].0 - pair[0].0).0 / 1_000_000).max().unwrap_or_default()
}

/// A frame of class 3 every 10 us, and at 10 ms these PFC frames to the port that they leave by.
fn told(mut bench: Bench, frames: &[Packet]) -> Bench {
    bench.stream(0, 1, 3, Dur::us(10));
    bench.run(10);
    for frame in frames {
        bench.dut.rig().send(1, *frame);
    }
    bench.run(20);
    bench
}

/// A storm of `classes` on port 1 beside a frame of classes 1, 3 and 4 every 10 us: how many of each pass in 10 ms.
fn stormed(mut bench: Bench, classes: u8) -> [usize; 3] {
    let storm = Storm {
        id: 1,
        enable: classes,
        zero: 0,
        quanta: Quanta::MAX,
        every: Dur::us(150),
        count: None,
        macsec_mode: MacsecMode::Usual,
    };
    for class in [1, 3, 4] {
        bench.stream(0, 1, class, Dur::us(10));
    }
    bench.dut.rig().start_storm(1, &storm);
    bench.run(20);
    [1, 3, 4].map(|class| bench.frames(id(0, 1, class), 10, 20))
}

#[test]
fn xon_ignored_sleeps_until_the_pause_would_have_ended() {
    let xon = [Packet::pfc(8, 0, Quanta::MAX, 64), Packet::pfc(8, 8, Quanta(0), 64)];
    assert!(longest_gap(&told(bench(), &xon)) <= 12);
    // 65535 quanta last 335.5 us.
    assert!((330..350).contains(&longest_gap(&told(broken("xon_ignored"), &xon))));
}

#[test]
fn empty_vector_pauses_stops_the_port_for_a_frame_that_asks_nobody() {
    let nobody = [Packet::pfc(0, 0, Quanta::MAX, 64)];
    assert!(longest_gap(&told(bench(), &nobody)) <= 12);
    assert!((330..350).contains(&longest_gap(&told(broken("empty_vector_pauses"), &nobody))));
}

#[test]
fn lossy_obeys_pfc_holds_what_should_go_on() {
    assert_eq!(stormed(bench(), 0b10), [1_000; 3]);
    assert_eq!(stormed(broken("lossy_obeys_pfc"), 0b10), [0, 1_000, 1_000]);
}

#[test]
fn lossy_class_obeys_pfc_holds_that_class_alone() {
    assert_eq!(stormed(broken("lossy_class_obeys_pfc:1"), 0b10), [0, 1_000, 1_000]);
    assert_eq!(stormed(broken("lossy_class_obeys_pfc"), 0b10), [1_000; 3], "that is class 6");
}

#[test]
fn long_pause_stays_sleeps_until_the_longest_would_have_ended() {
    // 10000 quanta last 51.2 us.
    let shorter = [Packet::pfc(8, 0, Quanta::MAX, 64), Packet::pfc(8, 0, Quanta(10_000), 64)];
    assert!((45..65).contains(&longest_gap(&told(bench(), &shorter))));
    assert!((330..350).contains(&longest_gap(&told(broken("long_pause_stays"), &shorter))));
}

#[test]
fn xon_of_two_ignored_hears_an_xon_of_one_class() {
    let device = || broken("xon_of_two_ignored");
    let both = [Packet::pfc(24, 0, Quanta::MAX, 64), Packet::pfc(24, 24, Quanta(0), 64)];
    let one = [Packet::pfc(24, 0, Quanta::MAX, 64), Packet::pfc(8, 8, Quanta(0), 64)];
    assert!(longest_gap(&told(bench(), &both)) <= 12);
    assert!((330..350).contains(&longest_gap(&told(device(), &both))));
    assert!(longest_gap(&told(device(), &one)) <= 12);
}

/// No standard says what the source of a PFC frame has to be; its destination is what makes it one.
#[test]
fn pfc_without_a_source_is_obeyed_and_counted() {
    let frame = |fault| [Packet::pfc(8, 0, Quanta::MAX, 64).with_fault(fault)];
    let seen = |bench: Bench, fault| {
        let bench = told(bench, &frame(fault));
        (longest_gap(&bench) > 300, bench.dut.counter("Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS"))
    };
    assert_eq!(seen(bench(), PfcFault::Source), (true, Some(1)));
    assert_eq!(seen(bench(), PfcFault::Destination), (false, Some(0)));
    let wants = broken("pfc_wants_usual_source");
    assert_eq!(seen(wants, PfcFault::Source), (false, Some(0)));
    let does_not_count = broken("pfc_without_source_not_counted");
    assert_eq!(seen(does_not_count, PfcFault::Source), (true, Some(0)));
}

#[test]
fn some_pfc_is_forwarded_by_what_it_asks() {
    // XOFF of a lossless class, XON, no class, and XOFF of a lossy class.
    let frames = [(8, 0, Quanta::MAX), (8, 8, Quanta(0)), (0, 0, Quanta::MAX), (2, 0, Quanta::MAX)];
    let passed = |deviation: &str| {
        frames.map(|(enable, zero, quanta)| {
            let mut bench = broken(deviation);
            bench.dut.rig().send(1, Packet::pfc(enable, zero, quanta, 64));
            bench.run(1);
            !bench.told.is_empty()
        })
    };
    assert_eq!(passed("xon_forwarded"), [false, true, true, false]);
    assert_eq!(passed("lossy_pfc_forwarded"), [false, false, false, true]);
    assert_eq!(passed("pfc_forwarded"), [true; 4]);
}

#[test]
fn one_class_of_two_obeyed_leaves_the_higher_one() {
    assert_eq!(stormed(bench(), 0b1_1000), [1_000, 0, 0]);
    assert_eq!(stormed(broken("one_class_of_two_obeyed"), 0b1_1000), [1_000, 0, 1_000]);
}

#[test]
fn pfc_forwarded_reaches_every_other_port() {
    let hosts = |mut bench: Bench| -> Vec<u16> {
        bench.storm(1, 3);
        bench.run(1);
        let mut hosts: Vec<u16> = bench.told.iter().map(|told| told.1).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    };
    assert!(hosts(bench()).is_empty());
    assert_eq!(hosts(broken("pfc_forwarded")), [0, 2, 3]);
}

#[test]
fn flow_reordered_lets_frames_that_waited_change_places() {
    let overtaken = |mut bench: Bench| {
        bench.storm(1, 3);
        bench.stream(0, 1, 3, Dur::us(10));
        bench.run(10);
        bench.calm(1, 3);
        let mut seen: Vec<u32> = Vec::new();
        let mut tap = |_: Time, _: u16, dir: Dir, packet: &Packet| {
            if dir == Dir::Rx && packet.kind == PacketKind::Data {
                seen.push(packet.seq);
            }
        };
        bench.dut.run_until(ms(12), &mut tap);
        let count = seen.len();
        let behind = seen.windows(2).filter(|pair| pair[1] < pair[0]).count();
        seen.sort_unstable();
        seen.dedup();
        (behind, count - seen.len())
    };
    assert_eq!(overtaken(bench()), (0, 0));
    let (behind, twice) = overtaken(broken("flow_reordered:100"));
    assert!((8..=10).contains(&behind) && twice == 0, "{behind} {twice}");
}
