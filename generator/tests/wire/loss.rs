//! What is lost is counted, and where it was lost.

use crate::lab::{Lab, numbered, open, receive, send};
use rig_generator::port::{Backend, Port, Stats};

const BACKENDS: [Backend; 2] = [Backend::AfXdp, Backend::AfPacket];

/// One port to send with and one whose reader is late: `ring` pieces of room.
fn late_reader(lab: &Lab, backend: Backend, ring: u32) -> [Port; 2] {
    let tx = open(&lab.one, "v1", |config| config.backend = backend).expect("a port");
    let rx = open(&lab.other, "v2", |config| (config.backend, config.ring) = (backend, ring));
    [tx, rx.expect("a port")]
}

fn burst(tx: &mut Port, frames: u64, len: usize) -> u64 {
    let mut lost = 0;
    for seq in 0..frames {
        lost += send(&mut *tx.tx, [numbered(len, seq).as_slice()]);
    }
    lost
}

fn numbers(got: &[(Vec<u8>, rig_generator::port::Stamp)]) -> Vec<u64> {
    got.iter()
        .map(|(bytes, _)| u64::from_be_bytes(bytes[14..22].try_into().expect("8 B")))
        .collect()
}

#[test]
fn a_burst_of_16_000_frames_waits_for_a_late_reader() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(1_500) else { return };
        let [mut tx, mut rx] = late_reader(&lab, backend, 16_384);
        assert_eq!(burst(&mut tx, 16_000, 64), 0);
        let got = receive(&mut *rx.rx, 16_000);
        assert_eq!(numbers(&got), (0..16_000).collect::<Vec<_>>());
        let stats = rx.rx.stats().expect("counters");
        assert_eq!(stats, Stats::default());
    }
}

#[test]
fn frames_that_a_late_reader_has_no_room_for_are_counted() {
    let Some(lab) = Lab::new(9_200) else { return };
    let [mut tx, mut rx] = late_reader(&lab, Backend::AfXdp, 256);
    assert_eq!(burst(&mut tx, 2_000, 64), 0);
    let got = receive(&mut *rx.rx, 2_000);
    assert_eq!(numbers(&got), (0..256).collect::<Vec<_>>(), "those that came first");
    let stats = rx.rx.stats().expect("counters");
    assert_eq!(got.len() as u64 + stats.rx_lost(), 2_000, "{stats:?}");
    assert!(stats.fill_ring_empty > 0, "{stats:?}");
    // With room again, nothing is lost any more.
    assert_eq!(burst(&mut tx, 200, 64), 0);
    assert_eq!(receive(&mut *rx.rx, 200).len(), 200);
    assert_eq!(rx.rx.stats().expect("counters").rx_lost(), stats.rx_lost());
}

#[test]
fn a_long_frame_that_finds_room_for_a_part_only_is_lost_whole() {
    let Some(lab) = Lab::new(9_200) else { return };
    let tx = open(&lab.one, "v1", |config| config.longest = 9_014);
    let rx = open(&lab.other, "v2", |config| config.ring = 64);
    let [mut tx, mut rx] = [tx, rx].map(|port| port.expect("a port"));
    // Three pieces each: 21 fit, and a piece is left over.
    assert_eq!(burst(&mut tx, 40, 9_014), 0);
    let got = receive(&mut *rx.rx, 40);
    assert_eq!(numbers(&got), (0..21).collect::<Vec<_>>());
    assert!(got.iter().all(|(bytes, _)| bytes.len() == 9_014));
    let stats = rx.rx.stats().expect("counters");
    assert_eq!(got.len() as u64 + stats.rx_lost(), 40, "{stats:?}");
    assert_eq!(burst(&mut tx, 20, 9_014), 0);
    assert_eq!(receive(&mut *rx.rx, 20).len(), 20, "the left-over piece came back");
}

#[test]
fn a_packet_socket_counts_what_it_has_no_room_for() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [mut tx, mut rx] = late_reader(&lab, Backend::AfPacket, 16);
    assert_eq!(burst(&mut tx, 2_000, 64), 0);
    let got = receive(&mut *rx.rx, 2_000);
    let stats = rx.rx.stats().expect("counters");
    assert!(stats.rx_dropped > 0, "{stats:?}");
    assert_eq!(got.len() as u64 + stats.rx_lost(), 2_000, "{stats:?}");
    assert_eq!(rx.tx.stats().map(|again| again.rx_dropped), Ok(stats.rx_dropped), "told once more");
}

#[test]
fn frames_longer_than_the_mtu_are_lost_and_counted() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(9_200) else { return };
        let [mut one, mut other] = lab.ports(|config| {
            (config.backend, config.longest) = (backend, 9_014);
        });
        // A packet socket minds the MTU of the near end, a pair that of the far one.
        lab.one.set_mtu("v1", 1_500).expect("an MTU");
        lab.other.set_mtu("v2", 1_500).expect("an MTU");
        let frames = [100, 4_174, 200, 9_014, 300].map(|len| numbered(len, 0));
        assert_eq!(send(&mut *one.tx, frames.iter().map(Vec::as_slice)), 2, "{backend:?}");
        let got = receive(&mut *other.rx, 3);
        let lengths: Vec<usize> = got.iter().map(|(bytes, _)| bytes.len()).collect();
        assert_eq!(lengths, [100, 200, 300]);
        assert_eq!(one.tx.stats().map(|stats| stats.tx_lost), Ok(2));
    }
}

#[test]
fn frames_sent_while_the_link_is_down_are_lost_and_counted() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [mut one, mut other] = lab.ports(|_| {});
    lab.other.set_up("v2", false).expect("down");
    assert_eq!(burst(&mut one, 10, 64), 10);
    lab.other.set_up("v2", true).expect("up");
    assert_eq!(burst(&mut one, 10, 64), 0);
    assert_eq!(receive(&mut *other.rx, 10).len(), 10);
    assert_eq!(one.tx.stats().map(|stats| stats.tx_lost), Ok(10));
}

#[test]
fn a_hundred_frames_leave_by_one_kick() {
    let Some(lab) = Lab::new(1_500) else { return };
    let [mut one, mut other] = lab.ports(|config| config.slots = 100);
    let frames: Vec<Vec<u8>> = (0..100).map(|seq| numbered(64, seq)).collect();
    assert_eq!(send(&mut *one.tx, frames.iter().map(Vec::as_slice)), 0);
    assert_eq!(numbers(&receive(&mut *other.rx, 100)), (0..100).collect::<Vec<_>>());
}
