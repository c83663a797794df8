//! Two switches in a row: what goes over both, what one of them is told by the other, and what is told apart.

use super::bench::{Bench, Case, id, ms, set};
use crate::model::dut::{Dut, Rig};
use crate::model::host;
use rig_lab::{Declared, DevicePort, Kind, Mutation, Profile, RuleFamily};
use rig_lab::{Switch, System, SystemLink};
use rig_units::{Dur, Length, Time};

/// Rig ports 0 and 1 at the near switch, 2 and 3 at the far one; the last port of either leads to the other.
fn system() -> System {
    let named = |name: &str| {
        let mut device = Case::of(RuleFamily::Broadcom).profile();
        name.clone_into(&mut device.name);
        device
    };
    let at = |device, port| DevicePort { device, port };
    System {
        devices: vec![named("near"), named("far")],
        links: vec![SystemLink { ends: [at(0, 7), at(1, 7)], cable_cm: Some(4_000) }],
        ports: vec![at(0, 0), at(0, 1), at(1, 0), at(1, 1)],
        alone: None,
    }
}

fn switch(declared: &Declared) -> &Switch {
    declared.switch().expect("a switch")
}

pub(super) fn bench(profile: &Profile) -> Bench {
    let declared = &profile.declared;
    let rig = Rig { ports: declared.port_count(), cable_cm: 300, host: host::Config::quiet() };
    let dut = Dut::new(profile, declared, &rig, 1).unwrap();
    Bench { dut, received: Vec::new(), told: Vec::new() }
}

pub(super) fn whole() -> Profile {
    system().whole("line".to_owned(), String::new()).unwrap()
}

#[test]
fn a_frame_takes_both_switches_and_the_cable_between_them() {
    let mut bench = bench(&whole());
    bench.stream(0, 2, 3, Dur::ms(1));
    bench.run(1);
    let (at, host, stream) = bench.received[0];
    assert_eq!((host, stream), (2, id(0, 2, 3)));
    // 1024 B and a preamble of 8 B at 80 ps a byte, on each of three cables: 46 m in all. Twice the forwarding delay.
    let cables = Length(300).travel() * 2 + Length(4_000).travel();
    assert_eq!(at, Time::ZERO + Dur(1_032 * 80) * 3 + cables + Dur::ns(600) * 2);
}

#[test]
fn a_pause_goes_back_hop_by_hop_to_who_sends_and_to_nobody_else() {
    let mut bench = bench(&whole());
    bench.storm(2, 3);
    bench.run(1);
    bench.stream(0, 2, 3, Dur::us(1));
    bench.run(40);
    let hosts: Vec<u16> = bench.told.iter().map(|&(_, host, _)| host).collect();
    assert!(hosts.contains(&0) && hosts.iter().all(|&host| host == 0), "{hosts:?}");
    assert_eq!(bench.frames(id(0, 2, 3), 2, 40), 0);
}

#[test]
fn ports_and_counters_carry_the_name_of_their_device() {
    let mut bench = bench(&whole());
    bench.stream(0, 2, 3, Dur::us(100));
    bench.run(1);
    assert_eq!(bench.dut.name_behind(2), "far/Ethernet0");
    assert_eq!(bench.dut.port_name(0, 7), "near/Ethernet28");
    let all = bench.dut.counters();
    let sent: Vec<&String> = all.iter().filter(|(_, n)| **n == 10).map(|(name, _)| name).collect();
    assert!(sent.iter().any(|name| name.starts_with("near/Ethernet28")), "{sent:?}");
    assert!(sent.iter().any(|name| name.starts_with("far/Ethernet0")), "{sent:?}");
    assert!(all.keys().all(|name| name.contains('/')));
    assert_eq!(bench.dut.counter(sent[0]), Some(10));
}

#[test]
fn a_device_alone_is_told_and_configured_as_if_the_others_were_not_there() {
    let far = system().device(1, "line-far".to_owned()).unwrap();
    let mut bench = bench(&far);
    bench.stream(0, 1, 3, Dur::us(100));
    bench.storm(1, 3);
    bench.run(600);
    let (_, port, class, _) = bench.events()[0];
    assert_eq!((port, class, bench.dut.name_behind(1)), (1, 3, "Ethernet4".to_owned()));
    assert!(bench.dut.counters().contains_key("near/Ethernet28 SAI_PORT_STAT_PFC_3_RX_PKTS"));
    bench.dut.configure(&[set("pfcwd.detection_time", "400ms")]).unwrap();
    assert_eq!(switch(bench.dut.configured()).pfcwd.detection_time, Dur::ms(400));
    assert_eq!(bench.dut.configured().port_count(), 2);
}

#[test]
fn what_is_configured_on_a_system_is_configured_on_each_device() {
    let mut bench = bench(&whole());
    bench.dut.configure(&[set("buffer.dynamic_th", -2)]).unwrap();
    let own: Vec<i8> = bench
        .dut
        .devices
        .iter()
        .map(|device| switch(&device.configured).buffer.dynamic_th)
        .collect();
    assert_eq!((own, switch(bench.dut.configured()).buffer.dynamic_th), (vec![-2, -2], -2));
}

#[test]
fn one_device_of_a_system_departs_by_itself() {
    let silent: Mutation = "forwarding_delay=x2".parse().unwrap();
    let mut broken = whole();
    assert_eq!(broken.mutate_device("far", &silent), Ok(true));
    let arrival = |profile: &Profile| {
        let mut bench = bench(profile);
        bench.stream(0, 2, 3, Dur::ms(1));
        bench.run(1);
        bench.received[0].0
    };
    assert_eq!(arrival(&broken), arrival(&whole()) + Dur::ns(600));
    assert!(arrival(&broken) < ms(1));
}

/// The same with a router between the two, whose first two ports lead to them.
fn over_a_router() -> Profile {
    let mut all = system();
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut router = lab.duts.into_iter().find(|dut| dut.kind == Kind::Router).expect("a router");
    "router".clone_into(&mut router.name);
    all.devices.push(router);
    let at = |device, port| DevicePort { device, port };
    let link = |near, port| SystemLink { ends: [near, at(2, port)], cable_cm: Some(4_000) };
    all.links = vec![link(at(0, 7), 0), link(at(1, 7), 1)];
    all.whole("line".to_owned(), String::new()).expect("switches are in it")
}

#[test]
fn a_frame_takes_a_router_between_two_switches_there_and_back() {
    let mut bench = bench(&over_a_router());
    bench.stream(0, 2, 3, Dur::ms(1));
    bench.stream(3, 1, 3, Dur::ms(1));
    bench.run(1);
    let cables = Length(300).travel() * 2 + Length(4_000).travel() * 2;
    let takes = Dur(1_032 * 80) * 4 + cables + Dur::ns(600) * 2 + Dur::us(5);
    // The router's ports are hosts of the network, too.
    let mut received = bench.received.clone();
    received.retain(|&(_, host, _)| host < 4);
    received.sort_unstable();
    let arrives = Time::ZERO + takes;
    assert_eq!(received, [(arrives, 1, id(3, 1, 3)), (arrives, 2, id(0, 2, 3))]);
    assert_eq!(bench.dut.port_name(2, 1), "router/Ethernet4");
}

#[test]
fn a_pause_goes_back_to_a_router_and_no_further() {
    let mut bench = bench(&over_a_router());
    bench.storm(2, 3);
    bench.run(1);
    bench.stream(0, 2, 3, Dur::us(1));
    bench.run(40);
    let hosts: Vec<u16> = bench.told.iter().map(|&(_, host, _)| host).collect();
    assert!(!hosts.is_empty() && hosts.iter().all(|&host| host == 5), "{hosts:?}");
    // The router goes on taking it in; nothing of it leaves by the paused port.
    assert!(bench.received.iter().all(|&(_, host, _)| host >= 4), "it came through");
}

#[test]
fn what_a_router_has_not_is_configured_on_the_switches_alone() {
    let mut bench = bench(&over_a_router());
    bench.dut.configure(&[set("buffer.dynamic_th", -2)]).unwrap();
    let own = bench.dut.devices.iter().map(|device| device.configured.switch());
    let own: Vec<Option<i8>> = own.map(|of| of.map(|switch| switch.buffer.dynamic_th)).collect();
    assert_eq!(own, [Some(-2), Some(-2), None]);
    let whole = over_a_router().configured(&[set("buffer.dynamic_th", -2)]).expect("it is set");
    assert_eq!(whole.devices()[2], over_a_router().devices()[2]);
    assert_eq!(switch(&whole.devices()[1].declared).buffer.dynamic_th, -2);
}
