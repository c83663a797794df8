//! What CNPs do to what a NIC sends.

use super::bench::*;
use crate::model::packet::Kind;
use rig_units::{Dur, Time};

#[test]
fn an_unhindered_flow_fills_the_line() {
    let mut bench = bench(&config());
    bench.network.start_flow(NIC, &flow(1));
    bench.run(Dur::us(10));
    let data = bench.received(Kind::Data);
    // 1086 bytes of frame and 20 around it take 88.48 ns.
    assert_eq!(data[0].left(), Time::ZERO);
    assert_eq!(data[1].left(), Time(88_480));
    assert_eq!(data[7].left(), Time(7 * 88_480));
    assert_eq!(data[7].packet.seq, 7);
    assert_eq!((data[7].packet.size, data[7].packet.stream), (1_086, 1));
}
