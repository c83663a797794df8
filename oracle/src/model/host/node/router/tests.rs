use super::Config;
use crate::model::host::{self, HostKind};
use crate::model::link;
use crate::model::packet::Packet;
use crate::model::switch;
use crate::model::tap::Dir;
use crate::model::topology::{Cable, End, PortId, Topology};
use crate::model::{Network, Storm};
use rig_testcases::MacsecMode;
use rig_units::{Dur, PortSpeed, Quanta, Time};

/// Three ports of the rig around a router that takes 600 ns and frames of up to 1500 B.
fn network() -> Network {
    let (first, ports) = (3, 3);
    let config = Config { first, ports, delay: Dur::ns(600).into(), seed: 0, mtu: 1_500 };
    let router = |port| match port {
        0 => HostKind::Router(config),
        port => HostKind::PortOf { first, port },
    };
    let router = |port| host::Config { kind: router(port), ..host::Config::quiet() };
    let link = link::Config::ethernet(PortSpeed::G100, 0);
    let topology = Topology {
        hosts: [host::Config::quiet(); 3].into_iter().chain((0..3).map(router)).collect(),
        switches: Vec::new(),
        cables: (0..3)
            .map(|port| Cable { ends: [End::Host(port), End::Host(first + port)], link })
            .collect(),
        passed_on: None,
    };
    Network::new(&topology, Time::ZERO)
}

/// When the last bit of each frame comes to the rig, in nanoseconds, and where to.
fn received(network: &mut Network) -> Vec<(u64, u16)> {
    let mut all = Vec::new();
    let mut tap = |at: Time, host: u16, dir: Dir, _: &Packet| {
        if dir == Dir::Rx && host < 3 {
            all.push((at.0 / 1_000, host));
        }
    };
    network.run_until(Time::ZERO + Dur::us(100), &mut tap);
    all
}

fn frame(dst: u16, size: u16) -> Packet {
    Packet::data(7, 0, dst, 3, 3, size)
}

#[test]
fn a_frame_leaves_the_delay_after_its_last_bit() {
    let mut network = network();
    network.send(0, frame(1, 992));
    // 8 B and 992 B take 80 ns at 100 Gb/s, twice.
    assert_eq!(received(&mut network), [(80 + 600 + 80, 1)]);
}

#[test]
fn frames_to_one_port_leave_one_after_the_other() {
    let mut network = network();
    network.send(0, frame(2, 992));
    network.send(1, frame(2, 992));
    // 12 B of silence between the two: 1 ns, rounded up to whole bits.
    assert_eq!(received(&mut network), [(760, 2), (840, 2)]);
}

#[test]
fn a_frame_of_exactly_the_mtu_passes_and_one_a_byte_longer_does_not() {
    let mut network = network();
    network.send(0, frame(1, 1_500));
    network.send(0, frame(2, 1_501));
    let ports: Vec<u16> = received(&mut network).into_iter().map(|(_, port)| port).collect();
    assert_eq!(ports, [1]);
}

#[test]
fn pfc_is_neither_obeyed_nor_passed_on() {
    let mut network = network();
    let storm = Storm {
        id: 8,
        enable: 0xff,
        zero: 0,
        quanta: Quanta::MAX,
        every: Dur::us(50),
        count: Some(1),
        macsec_mode: MacsecMode::Usual,
    };
    network.start_storm(1, &storm);
    network.run_until(Time::ZERO + Dur::us(10), &mut crate::model::NoTap);
    network.send(0, frame(1, 992));
    assert_eq!(received(&mut network), [(10_760, 1)]);
}

#[test]
fn what_waits_for_a_cut_cable_is_lost_and_a_mended_one_passes_frames_again() {
    let mut network = network();
    network.set_link(1, false);
    network.send(0, frame(1, 992));
    network.run_until(Time::ZERO + Dur::us(10), &mut crate::model::NoTap);
    network.set_link(1, true);
    network.send(0, frame(1, 992));
    assert_eq!(received(&mut network), [(10_760, 1)]);
}

#[test]
fn it_is_on_the_way_as_a_switch_is() {
    let port = |switch, port| End::Port(PortId { switch, port });
    let cable = |a, b| Cable { ends: [a, b], link: link::Config::ethernet(PortSpeed::G100, 5) };
    // Between two switches with a host each: its ports are hosts 2 and 3.
    let config = Config { first: 2, ports: 2, delay: Dur::us(1).into(), seed: 0, mtu: 1_500 };
    let of = |kind| host::Config { kind, ..host::Config::quiet() };
    let ports = [HostKind::Router(config), HostKind::PortOf { first: 2, port: 1 }];
    let row = Topology {
        hosts: [host::Config::quiet(); 2].into_iter().chain(ports.map(of)).collect(),
        switches: vec![switch::Config::plain(3, PortSpeed::G100); 2],
        cables: vec![
            cable(End::Host(0), port(0, 2)),
            cable(port(1, 2), End::Host(1)),
            cable(port(0, 1), End::Host(2)),
            cable(End::Host(3), port(1, 0)),
        ],
        passed_on: None,
    };
    // No frame is for a port of the router.
    let none = u16::MAX;
    assert_eq!(row.routes(), [[2, 1, none, none], [0, 2, none, none], [0, 1, none, none]]);
}
