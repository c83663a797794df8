//! What a NIC sends, says and delivers by an unreliable connection, and of datagrams.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::PacketKind::{Ack, Data, Nak, NotReady};
use crate::model::tap::Dir;
use rig_lab::AckTimeout;
use rig_units::Dur;

/// Of three messages of two packets: the numbers that were sent, how many words the receiver said, and how many receives completed there.
fn carried(verb: Verb, config: Config) -> (Vec<u32>, usize, u64) {
    let config = Config {
        rc: rig_lab::Rc { timeout: AckTimeout::Time(Dur::us(20)), retries: 1, ..config.rc },
        ..config
    };
    let mut bench = pair(&config, &config);
    let flow = Flow { verb, dst: NIC, message: 2_048, count: Some(3), ..flow(1) };
    bench.network.start_flow(RIG, &flow);
    bench.run(Dur::us(60));
    let sent = bench.seen.iter().filter(|one| one.dir == Dir::Tx && one.packet.kind == Data);
    let sent = sent.map(|one| one.packet.seq).collect();
    let said = bench.received(Ack).len() + bench.received(Nak).len();
    let taken = bench.network.nic(NIC).unwrap().counters().rdma_recvs;
    (sent, said, taken)
}

#[test]
fn each_packet_is_sent_once_and_nothing_is_said_about_it() {
    let all: Vec<u32> = (0..6).collect();
    assert_eq!(carried(Verb::SendUnreliable, config()), (all.clone(), 0, 3));
    // A WRITE completes nothing at its receiver.
    assert_eq!(carried(Verb::WriteUnreliable, config()), (all, 0, 0));
}

#[test]
fn a_sender_that_waits_and_a_receiver_that_answers_are_deviations() {
    let [right, waits] = both("uc_waits_for_acks", |config| carried(Verb::SendUnreliable, config));
    assert!(right.0.len() == 6 && waits.0.len() > 6, "{waits:?}");
    let [_, answers] = both("uc_acknowledges", |config| carried(Verb::SendUnreliable, config));
    assert!(answers.1 >= 3 && answers.2 == 3, "{answers:?}");
}

/// Of eight datagrams to an application that posts three receives and none again in time: how many left, how many words the receiver said, and how many
/// receives completed there.
fn dropped(config: Config) -> (usize, usize, u64) {
    let again = Some(rig_units::Within::exactly(Dur::ms(1)));
    let rc =
        rig_lab::Rc { receives: Some(3), receive_again: again, rnr_timer: Some(1), ..config.rc };
    let config = Config { rc, ..config };
    let mut bench = pair(&config, &config);
    let flow = Flow { verb: Verb::Datagram, dst: NIC, message: 512, count: Some(8), ..flow(1) };
    bench.network.start_flow(RIG, &flow);
    bench.run(Dur::us(60));
    let sent = bench.seen.iter().filter(|one| one.dir == Dir::Tx && one.packet.kind == Data);
    let size = crate::model::packet::ROCE_OVERHEAD + crate::model::packet::DETH + 512;
    let sent = sent.filter(|one| one.packet.size == size).count();
    let said = bench.received(Ack).len() + bench.received(NotReady).len();
    (sent, said, bench.network.nic(NIC).unwrap().counters().rdma_recvs)
}

#[test]
fn a_datagram_without_a_receive_is_dropped_in_silence() {
    assert_eq!(dropped(config()), (8, 0, 3));
    assert_eq!(dropped(faulty("ud_says_not_ready")), (8, 5, 3));
    assert_eq!(dropped(faulty("ud_takes_anyway")), (8, 0, 8));
    assert_eq!(dropped(faulty("ud_acknowledges")), (8, 3, 3));
    // Halves are smaller.
    assert_eq!(dropped(faulty("ud_splits")), (0, 0, 3));
}

#[test]
fn a_datagram_with_another_key_is_dropped_and_counted() {
    let counted = |config: Config| {
        let mut bench = pair(&faulty("ud_sends_other_key"), &config);
        let flow = Flow { verb: Verb::Datagram, dst: NIC, message: 512, count: Some(4), ..flow(1) };
        bench.network.start_flow(RIG, &flow);
        bench.run(Dur::us(60));
        let counters = *bench.network.nic(NIC).unwrap().counters();
        (counters.qkey_viol_cntr, counters.rdma_recvs)
    };
    assert_eq!(both("ud_takes_any_key", counted), [(4, 0), (0, 4)]);
    assert_eq!(both("qkey_violation_not_counted", counted), [(4, 0), (0, 0)]);
}
