//! The 802.1Q tags of what a NIC sends, right and wrong.

use super::bench::*;
use super::deviations::both;
use crate::model::nic::{Config, Flow};
use crate::model::packet::PacketKind::{Ack, Cnp, Data, Nak};
use rig_units::Dur;

/// Priorities and sizes of an acknowledgement and of a NAK of tagged frames.
fn answers(config: Config) -> [(Option<u8>, u16); 2] {
    let mut bench = bench(&config);
    for seq in [0, 2] {
        bench.send(data(1, seq, false).tagged(5));
    }
    bench.run(Dur::us(10));
    [Ack, Nak].map(|kind| {
        let packet = bench.received(kind)[0].packet;
        (packet.pcp(), packet.size)
    })
}

#[test]
fn answers_have_the_tag_of_what_they_answer_and_are_longer_by_it() {
    let (right, plain, zero) = ((Some(5), 70), (None, 66), (Some(0), 70));
    assert_eq!(both("ack_untagged", answers), [[right, right], [plain, right]]);
    assert_eq!(both("nak_pcp_zero", answers), [[right, right], [right, zero]]);
}

#[test]
fn a_cnp_has_the_declared_priority_or_that_of_what_it_is_about() {
    let of = |pcp: Option<u8>| {
        move |mut config: Config| {
            config.np.pcp = pcp;
            let mut bench = bench(&config);
            bench.send(data(1, 0, true).tagged(5));
            bench.run(Dur::us(10));
            bench.received(Cnp)[0].packet.pcp()
        }
    };
    assert_eq!(both("cnp_pcp_of_data", of(Some(6))), [Some(6), Some(5)]);
    assert_eq!(both("cnp_pcp_of_data", of(None)), [Some(5), Some(5)]);
}

#[test]
fn first_packet_pcp_zero_leaves_the_others_as_they_are() {
    let pcps = |config: Config| {
        let mut bench = bench(&config);
        let flow = Flow { message: 3_072, count: Some(2), pcp: Some(5), ..flow(1) };
        bench.network.start_flow(NIC, &flow);
        bench.run(Dur::us(10));
        let pcp = |seen: &Seen| (seen.packet.pcp(), seen.packet.size);
        bench.received(Data).iter().map(pcp).collect::<Vec<_>>()
    };
    let [of_first, rest] = [Some(0), Some(5)].map(|pcp| (pcp, 1_090));
    let right = vec![rest; 6];
    let wrong = vec![of_first, rest, rest, of_first, rest, rest];
    assert_eq!(both("first_packet_pcp_zero", pcps), [right, wrong]);
}
