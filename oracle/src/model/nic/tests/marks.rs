//! What a NIC makes of marks.

use super::bench::*;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::{Packet, PacketKind};
use rig_lab::{EcnField, Scope};
use rig_units::{Dur, Time};

fn with(change: impl Fn(&mut Config)) -> Config {
    let mut config = config();
    change(&mut config);
    config
}

/// CNPs of a NIC that gets so many marked frames of connection 1, one each microsecond.
fn answered(config: &Config, frames: u32) -> usize {
    let mut bench = bench(config);
    bench.stream(PacketKind::Data, 1, Dur::us(1), frames);
    bench.run(Dur::us(u64::from(frames) + 20));
    bench.received(PacketKind::Cnp).len()
}

#[test]
fn a_cnp_leaves_a_latency_after_the_last_bit_of_the_mark() {
    let mut bench = bench(&with(|config| {
        (config.np.latency, config.np.ecn) = (Dur::ns(700).into(), EcnField::Ect1);
    }));
    bench.send(data(7, 5, true));
    bench.run(Dur::us(10));
    let [cnp] = bench.received(PacketKind::Cnp)[..] else { panic!("one mark, one CNP") };
    assert_eq!(cnp.left(), Time::ZERO + arrival(1_024) + Dur::ns(700));
    let Packet { stream, seq, size, dscp, class, .. } = cnp.packet;
    assert_eq!((stream, seq, size, dscp, class), (7, 0, 78, 48, 6));
    assert!(cnp.packet.becn() && !cnp.packet.reserved_set() && cnp.packet.ect1());
    let counters = bench.network.nic(NIC).unwrap().counters();
    assert_eq!((counters.np_ecn_marked_roce_packets, counters.np_cnp_sent), (1, 1));
}

#[test]
fn a_mark_is_answered_again_from_the_interval_on() {
    assert_eq!(answered(&config(), 50), 1);
    assert_eq!(answered(&config(), 51), 2);
    assert_eq!(answered(&with(|config| config.np.interval = Dur::ZERO), 50), 50);
    assert_eq!(answered(&with(|config| config.np.enable = false), 50), 0);
}

#[test]
fn the_interval_is_kept_for_each_queue_pair_or_for_all_of_an_address() {
    let cnps = |scope| {
        let mut bench = bench(&with(|config| config.np.scope = scope));
        (1..=3).for_each(|stream| bench.send(data(stream, 0, true)));
        bench.send(Packet { src: 5, ..data(4, 0, true) });
        bench.run(Dur::us(10));
        bench.received(PacketKind::Cnp).len()
    };
    assert_eq!(cnps(Scope::Qp), 4);
    // A host puts its own address into what it sends.
    assert_eq!(cnps(Scope::DestIp), 1);
    assert_eq!(cnps(Scope::Port), 1);
}

#[test]
fn acknowledgements_and_holes_earn_cnps_where_they_are_said_to() {
    let cnps = |config: &Config, frames: &[Packet]| {
        let mut bench = bench(config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        frames.iter().for_each(|frame| bench.send(*frame));
        bench.run(Dur::us(10));
        bench.received(PacketKind::Cnp).len()
    };
    let ack = Packet { kind: PacketKind::Ack, ..data(1, 0, true) };
    assert_eq!(cnps(&config(), &[ack]), 0);
    assert_eq!(cnps(&with(|config| config.np.ack_earns = true), &[ack]), 1);
    let hole = [data(2, 0, false), data(2, 2, false), data(2, 3, false)];
    assert_eq!(cnps(&config(), &hole), 0);
    assert_eq!(cnps(&with(|config| config.np.nak_earns = true), &hole), 1);
    // A marked frame that shows a hole is two marks at one instant.
    let marked = [data(2, 0, false), data(2, 2, true)];
    assert_eq!(cnps(&with(|config| config.np.nak_earns = true), &marked), 1);
    let each = with(|config| (config.np.nak_earns, config.np.interval) = (true, Dur::ZERO));
    assert_eq!(cnps(&each, &marked), 2);
}

#[test]
fn a_cnp_goes_ahead_of_data() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.send(data(7, 0, true));
    bench.run(Dur::us(10));
    let [cnp] = bench.received(PacketKind::Cnp)[..] else { panic!("one mark, one CNP") };
    let ready = Time::ZERO + arrival(1_024) + Dur::us(1);
    let late = cnp.left().since(ready).unwrap();
    assert!(late < Dur(88_480), "{late}: at most the frame that was being sent");
}

#[test]
fn what_a_read_brings_is_data() {
    let mut bench = pair(&config(), &config());
    bench.network.start_flow(NIC, &Flow { verb: Verb::Read, message: 4_096, ..flow(1) });
    bench.run(Dur::us(5));
    let mut frames = bench.seen.iter().filter(|seen| seen.packet.kind == PacketKind::Data);
    assert!(frames.clone().count() > 4);
    assert!(frames.clone().all(|seen| seen.packet.is_response() && seen.packet.ect()));
    // AETH in the first and the last of four.
    let sizes: Vec<u16> = frames.by_ref().take(4).map(|seen| seen.packet.size).collect();
    assert_eq!(sizes, [1_090, 1_086, 1_086, 1_090]);
}

#[test]
fn a_miss_in_the_receive_cache_delays_the_answer() {
    let mut bench = bench(&with(|config| {
        (config.receive.cache, config.receive.miss) = (1, Dur::us(5));
    }));
    bench.send(data(1, 0, true));
    bench.send(data(2, 0, true));
    bench.run(Dur::us(20));
    let left: Vec<Time> = bench.received(PacketKind::Cnp).iter().map(Seen::left).collect();
    let first = Time::ZERO + arrival(1_024) + Dur::us(5) + Dur::us(1);
    assert_eq!(left, [first, first + Dur::us(5)]);
}
