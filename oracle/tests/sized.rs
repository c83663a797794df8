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
    assert_eq!(shown(None), [119, 912, 41_072]);
    assert_eq!(shown(Some("headroom_ignores_cable")), [104, 792, 41_192]);
    assert_eq!(shown(Some("headroom_forgets_peer")), [45, 320, 41_664]);
    assert_eq!(shown(Some("shared_headroom_not_divided")), [119, 1_824, 40_160]);
    assert_eq!(shown(Some("pool_forgets_groups")), [119, 912, 41_376]);
}
