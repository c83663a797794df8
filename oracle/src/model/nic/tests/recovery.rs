//! How reliable connections get over what is lost.

use super::bench::*;
use crate::model::nic::{Flow, Verb};
use crate::model::packet::Kind;
use rig_units::Dur;

#[test]
fn a_message_between_two_nics_is_acknowledged() {
    let mut bench = pair(&config(), &config());
    bench
        .network
        .start_flow(NIC, &Flow { message: 3_000, count: Some(2), psn: 0xff_fffe, ..flow(1) });
    bench.run(Dur::us(20));
    let sizes: Vec<_> =
        bench.received(Kind::Data).iter().map(|seen| (seen.packet.seq, seen.packet.size)).collect();
    assert_eq!(
        sizes,
        [(0xff_fffe, 1_086), (0xff_ffff, 1_086), (0, 1_014), (1, 1_086), (2, 1_086), (3, 1_014)]
    );
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}

#[test]
fn a_read_brings_its_message() {
    let mut bench = pair(&config(), &config());
    bench
        .network
        .start_flow(NIC, &Flow { verb: Verb::Read, message: 3_000, count: Some(2), ..flow(1) });
    bench.run(Dur::us(30));
    assert_eq!(bench.received(Kind::ReadRequest).len(), 2);
    assert_eq!(bench.network.nic(NIC).unwrap().acknowledged(1), Some(6));
    assert!(bench.network.nic(NIC).unwrap().is_done(1));
}
