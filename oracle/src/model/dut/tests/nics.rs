//! A device of NICs: what it is configured to, what it counts, and what it refuses.

use super::bench::set;
use crate::model::dut::{Dut, Rig};
use crate::model::host;
use crate::model::nic::{Flow, Verb};
use crate::model::packet::{Packet, PacketKind};
use crate::model::tap::{Dir, NoTap};
use rig_lab::Kind;
use rig_lab::{Declared, IpVersion, Nic, Nics, PortGroup, Profile};
use rig_units::{Bytes, Dur, PortSpeed, Time};

fn profile(mutations: &[&str]) -> Profile {
    let nic = |generation: &str, interval| {
        let mut nic = Nic { generation: generation.to_owned(), ..Nic::quiet() };
        (nic.np.enable, nic.rp.enable, nic.np.interval) = (true, true, interval);
        nic
    };
    let declared = Declared::Nic(Box::new(Nics {
        ports: vec![PortGroup { count: 2, speed: PortSpeed::G400 }],
        mtu: Bytes(9_122),
        clock: None,
        nic: nic("gen1", Dur::us(50)),
        peer: Some(nic("gen2", Dur::ZERO)),
        rdma_router: None,
    }));
    let name = || "nic".to_owned();
    let mut profile = Profile::new(name(), name(), Kind::Nic, name(), None, declared);
    for mutation in mutations {
        profile.mutate(&mutation.parse().unwrap()).unwrap();
    }
    profile
}

fn start(mutations: &[&str]) -> Dut {
    let profile = profile(mutations);
    let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
    Dut::new(&profile, &profile.declared, &rig, 1).unwrap()
}

/// Delivers so many marked frames to a port, and counts the CNPs that the rig gets there.
fn cnps(dut: &mut Dut, port: u16, marks: u32) -> usize {
    let mut received = 0;
    let mut tap = |_: Time, host: u16, dir: Dir, packet: &Packet| {
        received += usize::from((host, dir, packet.kind) == (port, Dir::Rx, PacketKind::Cnp));
    };
    for seq in 0..marks {
        let data = Packet { seq, ..Packet::data(5, port, 9, 3, 26, 1_024) };
        dut.deliver(port, data.with_ect(true).with_ce(true), &mut tap);
        let next = dut.now() + Dur::us(1);
        dut.run_until(next, &mut tap);
    }
    let end = dut.now() + Dur::us(10);
    dut.run_until(end, &mut tap);
    received
}

#[test]
fn the_nic_is_behind_the_first_port_and_its_peer_behind_the_second() {
    let mut dut = start(&[]);
    assert_eq!((cnps(&mut dut, 0, 3), cnps(&mut dut, 1, 3)), (1, 3));
    let counter = |name| dut.counter(name);
    assert_eq!(counter("nic np_cnp_sent"), Some(1));
    assert_eq!(counter("peer np_cnp_sent"), Some(3));
    assert_eq!(counter("peer np_ecn_marked_roce_packets"), Some(3));
    assert_eq!(counter("peer2 np_cnp_sent"), None);
    let all = dut.counters();
    assert_eq!((all.len(), all.get("peer np_cnp_sent")), (38, Some(&3)));
}

#[test]
fn nothing_is_polled() {
    let dut = start(&[]);
    assert_eq!(dut.next_event(), Time::MAX);
}

#[test]
fn a_flow_fills_the_cable_at_the_speed_of_the_port() {
    let mut dut = start(&[]);
    let host = dut.nic_host(0);
    let (message, mtu, count) = (4_096, 4_096, None);
    let flow = Flow {
        id: 1,
        verb: Verb::Write,
        message,
        mtu,
        count,
        psn: 0,
        dst: 0,
        class: 3,
        dscp: 26,
        pcp: None,
        over: IpVersion::V4,
        gid: 0,
        ect: true,
        container: rig_testcases::Container::USUAL,
    };
    dut.rig().start_flow(host, &flow);
    let mut last = Vec::new();
    let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
        if (host, dir) == (0, Dir::Rx) {
            last.push((at, packet.size));
        }
    };
    dut.run_until(Time::ZERO + Dur::us(10), &mut tap);
    // 4174 bytes and 20 around them at 20 ps each.
    assert_eq!(last[0].1, 4_174);
    assert_eq!(last[2].0 - last[1].0, Dur(4_194 * 20));
    dut.rig().stop_flow(host, 1);
    dut.run_until(Time::ZERO + Dur::us(20), &mut NoTap);
    assert_eq!(dut.next_event(), Time::MAX);
}

#[test]
fn its_settings_change_while_it_runs() {
    let mut dut = start(&[]);
    dut.configure(&[set("nic.np.interval", "0s")]).unwrap();
    assert_eq!(cnps(&mut dut, 0, 3), 3);
    dut.configure(&[set("peer.np.enable", false)]).unwrap();
    assert_eq!(cnps(&mut dut, 1, 3), 0);
    assert_eq!(dut.configured().get("nic.np.interval"), Some("0ms".into()));
}

#[test]
fn what_is_out_of_range_or_no_setting_of_a_nic_is_refused() {
    let mut dut = start(&[]);
    for (path, value) in [
        ("nic.rp.inverse_g", serde_json::json!(1)),
        ("peer.np.dscp", serde_json::json!(64)),
        ("nic.rp.timer", serde_json::json!("0s")),
    ] {
        let refused = dut.configure(&[set(path, value)]).unwrap_err().to_string();
        assert!(refused.contains(path), "{refused}");
    }
    assert!(dut.configure(&[set("pfcwd.detection_time", "300ms")]).is_err());
}

#[test]
fn overrides_and_deviations_of_the_profile_apply() {
    assert_eq!(cnps(&mut start(&["nic.np.interval=0s"]), 0, 3), 3);
    assert_eq!(cnps(&mut start(&["deviation=cnp_per_packet"]), 0, 3), 3);
    let mut dut = start(&["deviation=cnp_hidden_interval:2"]);
    dut.configure(&[set("nic.np.interval", "0s")]).unwrap();
    assert_eq!(cnps(&mut dut, 0, 3), 2);
}

#[test]
fn a_cable_that_is_cut_and_mended_goes_on() {
    let mut dut = start(&[]);
    dut.set_link(0, false);
    assert_eq!(cnps(&mut dut, 0, 1), 0);
    dut.set_link(0, true);
    assert_eq!(cnps(&mut dut, 1, 1), 1);
}
