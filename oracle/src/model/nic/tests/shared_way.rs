//! Deviations of NICs whose connections share a way that loses, a port or a limiter.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::PacketKind::{Ack, Nak, ReadRequest};
use rig_units::Dur;

const GBPS: u64 = 1_000_000_000;

#[test]
fn nak_left_out_says_nothing_of_one_hole_in_so_many() {
    let naks = |config: Config| {
        let mut bench = bench(&config);
        [0, 2, 1, 2, 4, 3, 4, 6].into_iter().for_each(|seq| bench.send(data(1, seq, false)));
        bench.run(Dur::us(10));
        bench.received(Nak).iter().map(|seen| seen.packet.seq).collect::<Vec<u32>>()
    };
    assert_eq!(both("nak_left_out:2", naks), [vec![1, 3, 5], vec![1, 5]]);
}

#[test]
fn acks_stall_holds_one_in_64_and_those_behind_it() {
    let acks = |config: Config| {
        let mut bench = bench(&config);
        (0..66).for_each(|seq| bench.send(data(1, seq, false)));
        bench.run(Dur::us(100));
        let soon = bench.received(Ack).len();
        bench.run(Dur::us(300));
        [soon, bench.received(Ack).len()]
    };
    assert_eq!(both("acks_stall:200", acks), [[66, 66], [63, 66]]);
}

#[test]
fn reads_ahead_asks_before_the_answer_is_there() {
    let asked = |config: Config| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &Flow { verb: Verb::Read, count: Some(9), ..flow(1) });
        bench.run(Dur::us(10));
        bench.received(ReadRequest).len()
    };
    assert_eq!(both("reads_ahead:2", asked), [1, 3]);
}

#[test]
fn cut_crosses_priorities_takes_those_of_the_other_and_not_of_its_own() {
    let rates = |config: Config| {
        let mut bench = bench(&config);
        for (id, class) in [(1, 3), (2, 4), (3, 3)] {
            bench.network.start_flow(NIC, &Flow { class, ..flow(id) });
        }
        bench.send(cnp(1));
        bench.run(Dur::us(10));
        [1, 2, 3].map(|id| bench.network.nic(NIC).unwrap().limiter(id).unwrap().rate() / GBPS)
    };
    assert_eq!(both("cut_crosses_priorities", rates), [[50, 100, 100], [50, 50, 100]]);
}
