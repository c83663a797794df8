//! What stands in headers, what comes with a message, and what atomic operations find: of a NIC that does right, and of one with a deviation.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::{ATOMIC_ACK_SIZE, ATOMIC_SIZE, Packet, PacketKind};
use rig_lab::AckTimeout;
use rig_units::Dur;

/// What a NIC sends of one kind that runs a flow and is sent three packets of another connection.
fn sent(config: &Config, kind: PacketKind, flow: &Flow) -> Vec<Packet> {
    let mut bench = bench(config);
    bench.network.start_flow(NIC, flow);
    (0..3).for_each(|seq| bench.send(data(2, seq, false)));
    bench.run(Dur::us(20));
    bench.received(kind).iter().map(|seen| seen.packet).collect()
}

#[test]
fn mig_req_clear_and_source_port_shared_are_of_data_and_answers() {
    let flow = Flow { count: Some(3), ..flow(1) };
    for kind in [PacketKind::Data, PacketKind::Ack] {
        let of = |is: fn(&Packet) -> bool| {
            move |config: Config| sent(&config, kind, &flow).iter().filter(|one| is(one)).count()
        };
        assert_eq!(both("mig_req_clear", of(Packet::mig_req)), [3, 0]);
        assert_eq!(both("source_port_shared", of(Packet::shares_port)), [0, 3]);
        assert_eq!(both("source_port_shared", of(Packet::mig_req)), [3, 3]);
    }
}

#[test]
fn immediate_dropped_leaves_out_four_bytes_of_the_last_packet() {
    for (verb, header) in [(Verb::SendWithTail, 0), (Verb::WriteWithTail, 16)] {
        let flow = Flow { verb, message: 2_000, count: Some(1), ..flow(1) };
        let of = |config: Config| {
            let sent = sent(&config, PacketKind::Data, &flow);
            sent.iter().map(|packet| (packet.size, packet.has_tail())).collect::<Vec<_>>()
        };
        let first = (1_024 + 62 + header, false);
        let with = [first, (976 + 62 + 4, true)].to_vec();
        assert_eq!(both("immediate_dropped", of), [with, [first, (976 + 62, false)].to_vec()]);
    }
}

#[test]
fn atomic_executed_twice_finds_what_the_first_left() {
    // The second comes twice; the third compares with what it should be by then.
    let found = |config: Config| {
        let mut bench = bench(&config);
        let of = |seq: u32, compare: Option<u32>| {
            Packet { size: ATOMIC_SIZE, ..data(5, seq, false) }.with_atomic(compare)
        };
        for packet in [of(0, None), of(1, None), of(1, None), of(2, Some(2))] {
            bench.send(packet);
        }
        bench.run(Dur::us(20));
        let acks = bench.received(PacketKind::Ack);
        assert!(acks.iter().all(|ack| ack.packet.size == ATOMIC_ACK_SIZE));
        acks.iter().map(|ack| (ack.packet.seq, ack.packet.found())).collect::<Vec<_>>()
    };
    let want = |found: [u32; 4]| {
        let numbers = [0, 1, 1, 2].into_iter();
        numbers.zip(found.map(Some)).collect::<Vec<_>>()
    };
    assert_eq!(both("atomic_executed_twice", found), [want([0, 1, 1, 2]), want([0, 1, 2, 3])]);
}

#[test]
fn an_atomic_operation_waits_for_the_answer_to_the_one_before() {
    let mut config = config();
    config.rc.timeout = AckTimeout::NEVER;
    let mut bench = pair(&config, &config);
    let operations = Flow { verb: Verb::CompareSwap, count: Some(5), message: 8, ..flow(1) };
    bench.network.start_flow(NIC, &operations);
    bench.run(Dur::us(50));
    let sent: Vec<_> = bench.seen.iter().map(|seen| seen.packet.kind).collect();
    assert_eq!(sent, [PacketKind::Data, PacketKind::Ack].repeat(5));
    let found = bench.seen.iter().filter_map(|seen| seen.packet.found());
    assert_eq!(found.collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}

#[test]
fn ghost_asks_for_what_it_has() {
    let naks = |config: Config| {
        let mut bench = bench(&config);
        bench.send(data(5, 2_000, false));
        bench.send(data(5, 1_500, false));
        bench.send(data(5, 900, false));
        bench.run(Dur::us(20));
        [PacketKind::Ack, PacketKind::Nak].map(|kind| bench.received(kind).len())
    };
    assert_eq!(both("ghost_asks", naks), [[3, 0], [2, 1]]);
}

#[test]
fn timeout_cut_runs_out_at_its_own_code() {
    let tries = |mut config: Config| {
        (config.rc.timeout, config.rc.retries) = (AckTimeout::Code(12), 7);
        config.rc.timeout_late = Some(Dur::ZERO.into());
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { count: Some(1), ..flow(1) });
        bench.run(Dur::ms(5));
        bench.received(PacketKind::Data).len()
    };
    assert_eq!(both("timeout_cut", tries), [1, 5]);
}
