//! What a NIC sends over IPv6, right and wrong.

use super::bench::*;
use super::deviations::both;
use crate::model::host;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::Packet;
use crate::model::packet::PacketKind::{Ack, Cnp, Data, Nak, ReadRequest};
use rig_lab::{IpVersion, Scope};
use rig_units::Dur;

/// What a frame shows: whether it goes over IPv6, its size, its DSCP, and at which of its addresses the NIC is.
fn shown(packet: &Packet) -> (bool, u16, u8, u8) {
    (packet.is_v6(), packet.size, packet.dscp, host::number(packet.src))
}

/// What an acknowledgement and a NAK show, over one version of IP.
fn answers(is_v6: bool) -> impl Fn(Config) -> [(bool, u16, u8, u8); 2] {
    move |config| {
        let mut bench = bench(&config);
        for seq in [0, 2] {
            let packet = data(1, seq, false);
            bench.send(if is_v6 { packet.over_v6() } else { packet });
        }
        bench.run(Dur::us(10));
        [Ack, Nak].map(|kind| shown(&bench.received(kind)[0].packet))
    }
}

#[test]
fn answers_go_over_what_they_answer_came_over() {
    let [v4, v6] = [(false, 66, 26, 0), (true, 86, 26, 0)];
    let of = |deviation| [false, true].map(|is_v6| both(deviation, answers(is_v6)));
    let other = |right: (bool, u16, u8, u8)| (right.0, right.1, right.2, 1);
    assert_eq!(
        of("ack_from_other_gid"),
        [v4, v6].map(|right| [[right, right], [other(right), right]])
    );
    let best_effort = (true, 86, 0, 0);
    assert_eq!(of("ipv6_answers_in_class_0"), [[[v4, v4]; 2], [[v6, v6], [best_effort; 2]]]);
}

#[test]
fn a_mark_over_ipv6_is_answered_over_ipv6() {
    let cnps = |is_v6: bool| {
        move |config: Config| {
            let mut bench = bench(&config);
            let packet = Packet { src: host::at(RIG, 3), ..data(1, 0, true) };
            let packet = if is_v6 { packet.over_v6() } else { packet };
            bench.network.deliver_to_host(NIC, &packet, &mut crate::model::tap::NoTap);
            bench.run(Dur::us(10));
            let cnps = bench.received(Cnp);
            let counted = bench.network.nic(NIC).unwrap().counters().np_ecn_marked_roce_packets;
            let one = |seen: &Seen| {
                (seen.packet.is_v6(), seen.packet.size, host::number(seen.packet.dst))
            };
            (cnps.iter().map(one).collect::<Vec<_>>(), counted)
        }
    };
    let [v4, v6] = [(false, 78, 3), (true, 98, 3)].map(|one| (vec![one], 1));
    assert_eq!(both("cnp_missed_on_ipv6", cnps(false)), [v4.clone(), v4.clone()]);
    assert_eq!(both("cnp_missed_on_ipv6", cnps(true)), [v6.clone(), (Vec::new(), 1)]);
    assert_eq!(both("cnp_over_ipv4", cnps(true)), [v6, v4]);
}

#[test]
fn an_address_of_either_version_has_an_interval_of_its_own() {
    let of = |scope: Scope| {
        let mut config = config();
        (config.np.scope, config.np.interval) = (scope, Dur::us(50));
        let mut bench = bench(&config);
        for (stream, is_v6) in [(1, false), (2, true), (3, true)] {
            let packet = data(stream, 0, true);
            bench.send(if is_v6 { packet.over_v6() } else { packet });
        }
        bench.run(Dur::us(20));
        bench.received(Cnp).len()
    };
    assert_eq!([Scope::Qp, Scope::DestIp, Scope::Port].map(of), [3, 2, 1]);
}

#[test]
fn a_flow_over_ipv6_is_longer_by_its_header_and_a_cnp_of_that_address_slows_it_down() {
    let v6 = Flow { over: IpVersion::V6, count: Some(2), message: 3_072, ..flow(1) };
    let mut config = config();
    config.rp.scope = Scope::DestIp;
    let rates = |is_v6: bool| {
        let mut bench = bench(&config);
        bench.network.start_flow(NIC, &v6);
        bench.network.start_flow(NIC, &flow(2));
        bench.send(if is_v6 { cnp(1).over_v6() } else { cnp(1) });
        bench.run(Dur::us(10));
        let all = bench.received(Data);
        let own = all.iter().filter(|seen| seen.packet.stream == 1);
        let sizes: Vec<u16> = own.map(|seen| seen.packet.size).collect();
        assert_eq!(sizes, [1_106; 6]);
        [1, 2].map(|id| bench.network.nic(NIC).unwrap().limiter(id).unwrap().is_slowed())
    };
    assert_eq!([true, false].map(rates), [[true, false], [false, true]]);
}

#[test]
fn a_read_over_ipv6_brings_what_it_asks_for_over_ipv6() {
    let mut bench = bench(&config());
    let read = Packet::read_request(1, RIG, NIC, 0, 2_048);
    bench.send(read.over_v6().with_record(true));
    bench.run(Dur::us(10));
    let all = bench.received(Data);
    assert!(!all.is_empty() && all.iter().all(|seen| seen.packet.is_v6()), "{all:?}");
    bench.network.start_flow(NIC, &Flow { verb: Verb::Read, over: IpVersion::V6, ..flow(2) });
    bench.run(Dur::us(20));
    assert_eq!(shown(&bench.received(ReadRequest)[0].packet).1, 98);
}

#[test]
fn ipv6_icrc_wrong_leaves_ipv4_as_it_is() {
    let spoilt = |config: Config| {
        [IpVersion::V4, IpVersion::V6].map(|over| {
            let mut bench = bench(&config);
            bench.network.start_flow(NIC, &Flow { over, count: Some(2), ..flow(1) });
            bench.run(Dur::us(10));
            bench.received(Data).iter().filter(|seen| seen.packet.bad_icrc()).count()
        })
    };
    assert_eq!(both("ipv6_icrc_wrong", spoilt), [[0, 0], [0, 2]]);
}
