//! Headroom and pool that a buffer manager works out: what the emulated switch shows is the closed form, to the byte, over speeds, cables,
//! MTUs, small packets and ratios.

use rig_lab::{Profile, Setting, Switch};
use rig_oracle::model::dut::{Dut, Rig};
use rig_oracle::model::host;
use rig_oracle::spec::buffer_pool::pool;
use rig_oracle::spec::headroom::{self, Rule, Sizing, response_quanta};
use rig_units::{Bytes, Dur, Quanta};
use serde_json::{Value, json};

fn switch(profile: &Profile, settings: &[(&str, Value)]) -> Profile {
    let mut profile = profile.clone();
    for (path, value) in settings {
        let setting = Setting { path: (*path).to_owned(), value: value.clone() };
        profile.declared = profile.declared.with(&setting).expect("it fits");
    }
    profile
}

/// What the rule says of its ports, each of which is as fast as the first.
fn wanted(switch: &Switch) -> (headroom::Profile, u64, Option<u64>) {
    let from = switch.dynamic_buffer.sized_from().expect("it sizes its buffers");
    let speed = switch.port_speed(0).expect("a port");
    let profile = Sizing {
        rule: Rule::Bytes,
        speed,
        cable: from.cable,
        port_mtu: Bytes(switch.mtu.0 - 22),
        lossless_mtu: from.lossless_mtu,
        small_packets: from.small_packets,
        cell: switch.buffer.cell,
        pipeline_latency: from.pipeline_latency.into(),
        mac_phy_delay: from.mac_phy_delay.into(),
        gearbox: Dur::ZERO,
        peer: response_quanta(speed).unwrap_or(Quanta(154)),
        eight_lanes: false,
        generation: 3,
        shared: from.ratio > 0,
    }
    .profile();
    let pool = pool(&from, &[profile; 8], 2);
    (profile, pool.size.0, pool.xoff.map(|Bytes(bytes)| bytes))
}

#[test]
fn what_the_emulated_switch_works_out_is_the_closed_form_to_the_byte() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let dynamic = lab.duts.iter().find(|dut| dut.name == "mellanox-dynamic").expect("it is there");
    let mut seen = std::collections::BTreeSet::new();
    for speed in ["500Mbps", "1Gbps", "10Gbps", "25Gbps", "100Gbps", "200Gbps"] {
        for cable in ["0m", "5m", "40m", "300m", "2km"] {
            for (ratio, mtu, small) in [
                (Value::Null, "1024B", 100),
                (Value::Null, "9100B", 0),
                (json!(1), "1500B", 50),
                (json!(2), "1024B", 100),
                (json!(7), "4096B", 33),
            ] {
                let profile = switch(
                    dynamic,
                    &[
                        ("ports", json!([{"count": 8, "speed": speed}])),
                        ("dynamic_buffer.cable", json!(cable)),
                        ("dynamic_buffer.over_subscribe_ratio", ratio),
                        ("dynamic_buffer.lossless_mtu", json!(mtu)),
                        ("dynamic_buffer.small_packets", json!(small)),
                    ],
                );
                let declared = &profile.declared;
                let (headroom, size, xoff) = wanted(declared.switch().expect("a switch"));
                let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
                let dut = Dut::new(&profile, declared, &rig, 1).expect("a device");
                let of = |name: &str| dut.counter(name);
                let at = format!("{speed}, {cable}, {mtu}, {small} %");
                for (field, Bytes(want)) in
                    [("xon", headroom.xon), ("xoff", headroom.xoff), ("size", headroom.size)]
                {
                    let name = format!("BUFFER_PROFILE_TABLE Ethernet4 {field}");
                    assert_eq!(of(&name), Some(want), "{at}: {field}");
                }
                let pool = "BUFFER_POOL_TABLE ingress_lossless_pool";
                assert_eq!(of(&format!("{pool} size")), Some(size), "{at}");
                assert_eq!(of(&format!("{pool} xoff")), xoff, "{at}");
                seen.insert((headroom.xoff.0, size));
            }
        }
    }
    assert!(seen.len() > 90, "{} different ones", seen.len());
}

/// Each deviation is seen in the rows that it is about, and in no other but what follows from them.
#[test]
fn a_buffer_manager_that_departs_shows_it() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let dynamic = lab.duts.iter().find(|dut| dut.name == "mellanox-dynamic").expect("it is there");
    let settings =
        [("dynamic_buffer.cable", json!("40m")), ("dynamic_buffer.over_subscribe_ratio", json!(2))];
    let shown = |deviation: Option<&str>| {
        let mut profile = switch(dynamic, &settings);
        if let Some(name) = deviation {
            let mutation = format!("deviation={name}").parse().expect("it is one");
            profile.mutate(&mutation).expect("it has it");
        }
        let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
        let dut = Dut::new(&profile, &profile.declared, &rig, 1).expect("a device");
        [
            "BUFFER_PROFILE_TABLE Ethernet0 xoff",
            "BUFFER_POOL_TABLE ingress_lossless_pool xoff",
            "BUFFER_POOL_TABLE ingress_lossless_pool size",
        ]
        .map(|name| dut.counter(name).expect("it shows it") / 1_024)
    };
    // 8 ports, 2 classes: what is saved of the headroom of 16 groups is halved in the pool that they share.
    assert_eq!(shown(None), [119, 912, 41_000]);
    assert_eq!(shown(Some("headroom_ignores_cable")), [104, 792, 41_120]);
    assert_eq!(shown(Some("headroom_forgets_peer")), [45, 320, 41_592]);
    assert_eq!(shown(Some("shared_headroom_not_divided")), [119, 1_824, 40_088]);
    assert_eq!(shown(Some("pool_forgets_groups")), [119, 912, 41_304]);
}

/// Of a port that is shut and of one that negotiates, over ratios: what the emulated switch shows is the closed form, to the byte.
#[test]
fn ports_that_are_shut_or_negotiate_leave_what_the_closed_form_says() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let dynamic = lab.duts.iter().find(|dut| dut.name == "mellanox-dynamic").expect("it is there");
    let mut seen = std::collections::BTreeSet::new();
    for ratio in [Value::Null, json!(2), json!(5)] {
        for (shut, negotiating, advertised) in [
            (Some(3), None, None),
            (None, Some(3), Some("10Gbps")),
            (None, Some(3), Some("25Gbps")),
            (None, Some(3), None),
            (Some(1), Some(8), None),
        ] {
            let profile = switch(
                dynamic,
                &[
                    ("shut_port", json!(shut)),
                    ("dynamic_buffer.over_subscribe_ratio", ratio.clone()),
                    ("dynamic_buffer.autoneg_port", json!(negotiating)),
                    ("dynamic_buffer.advertised", json!(advertised)),
                ],
            );
            let declared = profile.declared.switch().expect("a switch");
            let from = declared.dynamic_buffer.sized_from().expect("it sizes its buffers");
            let (usual, ..) = wanted(declared);
            let other = negotiating.map(|_| {
                let speed = advertised.unwrap_or("200Gbps");
                let alone = json!([{"count": 8, "speed": speed}]);
                let alone = switch(&profile, &[("ports", alone)]);
                wanted(alone.declared.switch().expect("a switch")).0
            });
            let of = |number: u16| match other {
                Some(other) if negotiating == Some(number) => other,
                _ => usual,
            };
            let open = (1..=8).filter(|number| shut != Some(*number));
            let profiles: Vec<headroom::Profile> = open.map(of).collect();
            let want = pool(&from, &profiles, 2);
            let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
            let dut = Dut::new(&profile, &profile.declared, &rig, 1).expect("a device");
            for number in 1..=8_u16 {
                let name = Switch::port_name(number - 1);
                let row =
                    |field: &str| dut.counter(&format!("BUFFER_PROFILE_TABLE {name} {field}"));
                let is_shut = shut == Some(number);
                let all =
                    [("xon", of(number).xon), ("xoff", of(number).xoff), ("size", of(number).size)];
                for (field, Bytes(bytes)) in all {
                    assert_eq!(row(field), (!is_shut).then_some(bytes), "{name} {field}");
                }
            }
            let pool = |field: &str| {
                dut.counter(&format!("BUFFER_POOL_TABLE ingress_lossless_pool {field}"))
            };
            assert_eq!(pool("size"), Some(want.size.0), "{ratio} {shut:?} {negotiating:?}");
            assert_eq!(pool("xoff"), want.xoff.map(|Bytes(bytes)| bytes), "{ratio} {shut:?}");
            seen.insert(want.size.0);
        }
    }
    assert_eq!(seen.len(), 15, "all of them differ");
}

/// What it does wrong with ports that are shut, were, or negotiate.
#[test]
fn a_buffer_manager_that_forgets_ports_shows_it() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let dynamic = lab.duts.iter().find(|dut| dut.name == "mellanox-dynamic").expect("it is there");
    let shown = |settings: &[(&str, Value)], deviation: Option<&str>| {
        let mut profile = switch(dynamic, &[("dynamic_buffer.cable", json!("40m"))]);
        profile = switch(&profile, settings);
        if let Some(name) = deviation {
            profile
                .mutate(&format!("deviation={name}").parse().expect("it is one"))
                .expect("it has it");
        }
        let rig = Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
        let mut dut = Dut::new(&profile, &profile.declared, &rig, 1).expect("a device");
        let of = |dut: &Dut, name: &str| dut.counter(name).map(|bytes| bytes / 1_024);
        let both = |dut: &Dut| {
            let size = "BUFFER_PROFILE_TABLE Ethernet4 size";
            (of(dut, size), of(dut, "BUFFER_POOL_TABLE ingress_lossless_pool size"))
        };
        let before = both(&dut);
        let opened = Setting { path: "shut_port".to_owned(), value: Value::Null };
        dut.configure(&[opened]).expect("it takes it");
        (before, both(&dut))
    };
    // A port takes two groups of 138 KiB, and 57 beside them; of 25 Gb/s a group takes 68, of 200 Gb/s 164.
    let (usual, without) = ((Some(138), Some(40_088)), (None, Some(40_421)));
    let shut = [("shut_port", json!(2))];
    assert_eq!(shown(&shut, None), (without, usual));
    assert_eq!(shown(&shut, Some("shut_port_keeps_headroom")), (usual, usual));
    let gets_none = (None, Some(40_088 + 2 * 138));
    assert_eq!(shown(&shut, Some("opened_port_gets_no_headroom")), (without, gets_none));
    let slow =
        [("dynamic_buffer.autoneg_port", json!(2)), ("dynamic_buffer.advertised", json!("25Gbps"))];
    let of = |size: u64| (Some(size), Some(40_088 + 2 * 138 - 2 * size));
    assert_eq!(shown(&slow, None), (of(68), of(68)));
    assert_eq!(shown(&slow, Some("negotiated_speed_ignored")), (usual, usual));
    let fast = shown(&slow, Some("advertised_speed_ignored"));
    assert_eq!(fast, shown(&slow[..1], None), "all that it supports");
    assert_eq!(fast, (of(164), of(164)));
}
