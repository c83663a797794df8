//! Deviations of NICs whose connections share a way that loses, a port or a limiter.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::Config;
use crate::model::packet::PacketKind::Nak;
use rig_units::Dur;

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
