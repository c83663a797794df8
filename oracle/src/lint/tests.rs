//! Each rule at its exact bound, and one byte or picosecond before it.

use super::*;
use rig_lab::{Declared, DevicePort, Kind, Profile, RuleFamily, Switch, SystemLink};
use rig_units::{Bytes, Dur, Length, PortSpeed, Within};

/// 8 ports of 100 Gb/s, two lossless classes, cells of 208 B, a pool of 10 875 072 B at alpha 1/8: nothing wrong with it.
fn sound() -> Switch {
    let mut declared = Switch::usual();
    declared.qos.pfc_enable = vec![3, 4];
    declared.qos.pfcwd_sw_enable = vec![3, 4];
    declared.qos.dscp_to_tc = [(3, 3), (4, 4)].into();
    declared.wred.queues = vec![3, 4];
    (declared.wred.kmin, declared.wred.kmax) = (Bytes(104_000), Bytes(312_000));
    declared
}

/// The rules that fire.
fn fired(change: impl FnOnce(&mut Switch)) -> Vec<&'static str> {
    fired_in(None, change)
}

fn fired_in(memory: Option<u64>, change: impl FnOnce(&mut Switch)) -> Vec<&'static str> {
    fired_beside(0, memory, change)
}

fn fired_beside(
    elsewhere: u64,
    memory: Option<u64>,
    change: impl FnOnce(&mut Switch),
) -> Vec<&'static str> {
    let mut declared = sound();
    change(&mut declared);
    let linted = Linted {
        declared: &declared,
        family: Some(RuleFamily::Broadcom),
        cable: Length(4_000),
        memory: memory.map(Bytes),
        elsewhere: Bytes(elsewhere),
    };
    switch(&linted).into_iter().map(|(lint, _)| lint.name).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn a_sound_configuration_is_not_accused() {
    assert_eq!(fired(|_| {}), NONE);
}

#[test]
fn headroom_is_enough_at_what_f3_says_and_not_a_byte_below() {
    // 731.36 + 6.72 + 404.04 + 2020 + 6.72 ns make 471 frames of 64 B, a cell of 208 B each.
    assert_eq!(fired(|of| of.buffer.xoff = Bytes(97_968)), NONE);
    assert_eq!(fired(|of| of.buffer.xoff = Bytes(97_967)), ["lossless-headroom"]);
    // A shared pool that holds less than one group is given.
    assert_eq!(fired(|of| of.buffer.headroom_pool = Some(Bytes(97_968))), NONE);
    assert_eq!(fired(|of| of.buffer.headroom_pool = Some(Bytes(97_967))), ["lossless-headroom"]);
    // Without a lossless class nothing needs it.
    let lossy = |of: &mut Switch| {
        (of.qos.pfc_enable, of.qos.pfcwd_sw_enable, of.buffer.xoff) = (vec![], vec![], Bytes(0));
    };
    assert_eq!(fired(lossy), NONE);
}

#[test]
fn the_memory_holds_pool_reserves_and_headroom_to_the_byte() {
    // 10 875 072 + 16 x (1248 + 165 568).
    assert_eq!(fired_in(Some(13_544_128), |_| {}), NONE);
    assert_eq!(fired_in(Some(13_544_127), |_| {}), ["memory-overcommitted"]);
    // What ports that are configured otherwise keep is as much taken.
    assert_eq!(fired_beside(1_000, Some(13_545_128), |_| {}), NONE);
    assert_eq!(fired_beside(1_000, Some(13_545_127), |_| {}), ["memory-overcommitted"]);
}

#[test]
fn static_limits_may_fill_the_pool_and_no_more() {
    // 16 x 679 692 = 10 875 072.
    assert_eq!(fired(|of| of.buffer.static_th = Some(Bytes(679_692))), NONE);
    assert_eq!(
        fired(|of| of.buffer.static_th = Some(Bytes(679_693))),
        ["static-limits-overcommitted"]
    );
}

#[test]
fn xon_flaps_up_to_the_offset_that_one_frame_of_64_bytes_still_meets() {
    // 5815 frames of 208 B are within: their share is 1 208 272 B, the limit then (10 875 072 - 1 208 272) / 8 = 1 208 350 B.
    assert_eq!(fired(|of| of.buffer.xon_offset = Bytes(79)), NONE);
    assert_eq!(fired(|of| of.buffer.xon_offset = Bytes(78)), ["xon-flaps"]);
    // A fixed XON above all that flaps, too.
    let fixed = |of: &mut Switch| of.buffer.xon = of.buffer.pool;
    assert_eq!(fired(fixed), ["xon-flaps"]);
}

#[test]
fn marks_come_before_pauses_while_kmin_is_a_byte_below_the_depth_at_xoff() {
    // 5815 frames of 64 B in cells of 208 B: 1 209 520 B; 132 of the MTU are less.
    let kmin = |kmin: u64| {
        move |of: &mut Switch| (of.wred.kmin, of.wred.kmax) = (Bytes(kmin), Bytes(2_000_000))
    };
    assert_eq!(fired(kmin(1_209_519)), NONE);
    assert_eq!(fired(kmin(1_209_520)), ["ecn-after-pfc"]);
    // Queues without marking have no such order.
    let unmarked = |of: &mut Switch| {
        kmin(1_209_520)(of);
        of.wred.queues = vec![0];
    };
    assert_eq!(fired(unmarked), NONE);
}

#[test]
fn a_pause_is_refreshed_in_time_behind_a_frame_of_the_mtu_and_not_a_picosecond_later() {
    // 65535 quanta last 335.5392 us at 100 Gb/s, 9142 B 731.36 ns; a sender like it stops 2.02 us after it heard.
    assert_eq!(fired(|of| of.pfc.refresh = Within::exactly(Dur(332_787_840))), NONE);
    assert_eq!(fired(|of| of.pfc.refresh = Within::exactly(Dur(332_787_841))), ["pause-lapses"]);
}

#[test]
fn a_lossless_class_is_one_that_something_is_sent_in() {
    assert_eq!(
        fired(|of| of.qos.dscp_to_tc.retain(|_, class| *class != 4)),
        ["class-without-dscp"]
    );
    let by_default = |of: &mut Switch| {
        of.qos.dscp_to_tc.remove(&4);
        of.qos.default_tc = 4;
    };
    assert_eq!(fired(by_default), NONE);
}

#[test]
fn a_watchdog_waits_for_longer_than_a_full_device_takes_to_drain_by_a_picosecond() {
    // 7 ports at alpha 1/8: each group of (10 875 072 + 15 x 1248) / 15 at most, 3491 frames of 208 B; 7 x 165 568 B of headroom.
    let bytes = 7 * (3_491 * 208 + 165_568);
    let drained = Dur(bytes * 80);
    let one_poll = |time: Dur| {
        move |of: &mut Switch| {
            (of.pfcwd.detection_time, of.pfcwd.poll_interval) = (time, time);
            of.pfcwd.restoration_time = None;
        }
    };
    assert_eq!(fired(one_poll(drained + Dur(1))), NONE);
    assert_eq!(fired(one_poll(drained)), ["watchdog-on-congestion"]);
    // Of a headroom that all share there is no more than it.
    let shared = |time: Dur| {
        move |of: &mut Switch| {
            one_poll(time)(of);
            of.buffer.headroom_pool = Some(Bytes(165_568));
        }
    };
    let drained = Dur((7 * 3_491 * 208 + 165_568) * 80);
    assert!(!fired(shared(drained + Dur(1))).contains(&"watchdog-on-congestion"));
    assert!(fired(shared(drained)).contains(&"watchdog-on-congestion"));
}

#[test]
fn every_class_with_pfc_has_a_watchdog() {
    assert_eq!(fired(|of| of.qos.pfcwd_sw_enable = vec![4]), ["lossless-without-watchdog"]);
    assert_eq!(fired(|of| of.qos.pfcwd_sw_enable = vec![]), ["lossless-without-watchdog"]);
    let lossy = |of: &mut Switch| (of.qos.pfc_enable, of.qos.pfcwd_sw_enable) = (vec![3], vec![3]);
    assert_eq!(fired(lossy), NONE);
}

#[test]
fn times_are_whole_numbers_of_polls() {
    assert_eq!(
        fired(|of| of.pfcwd.detection_time = Dur(Dur::ms(200).0 + 1)),
        ["watchdog-between-polls"]
    );
    assert_eq!(
        fired(|of| of.pfcwd.restoration_time = Some(Dur::ms(250))),
        ["watchdog-between-polls"]
    );
    // Finer than the poll itself, as CONFIG_DB lets through.
    assert_eq!(fired(|of| of.pfcwd.poll_interval = Dur::ms(400)), ["watchdog-between-polls"]);
}

#[test]
fn both_ends_of_a_link_take_the_same_frames() {
    let device = |mtu: u64| {
        let declared = Declared::Switch(Box::new(Switch { mtu: Bytes(mtu), ..sound() }));
        Profile::new(String::new(), String::new(), Kind::Switch, String::new(), None, declared)
    };
    let link =
        SystemLink { ends: [0, 1].map(|device| DevicePort { device, port: 7 }), cable_cm: None };
    let of = |mtus: [u64; 2]| {
        let system = System {
            devices: mtus.map(device).into(),
            links: vec![link],
            ports: Vec::new(),
            alone: None,
        };
        links(&system).into_iter().map(|(lint, at, _)| (lint.name, at)).collect::<Vec<_>>()
    };
    assert_eq!(of([9_122, 9_122]), []);
    assert_eq!(of([9_122, 9_121]), [("mtu-mismatch", 0)]);
    assert_eq!(PortSpeed::G100, sound().ports[0].speed);
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<&str> = LINTS.iter().map(|lint| lint.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), LINTS.len());
    assert!(names.iter().all(|name| rig_lab::is_name(name)));
}
