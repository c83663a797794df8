//! Thresholds that a device keeps in steps of so many bytes: whichever way it rounds each of them it passes, and one outside of that by what a measure prints
//! of itself fails.

use super::ecn::bursts;
use super::given::{Ran, Word};
use core::ops::Bound;
use rig_lab::{Mutation, Profile, Setting};
use rig_oracle::Alike;
use serde_json::json;

/// A field, and a value of it.
type Set<'a> = (&'a str, u64);

/// A case on a device that declares steps of 3000 B; with values, one that keeps those to the byte.
fn kept(device: &'static str, case: &str, step: &str, values: &[Set<'_>], seed: u64) -> Ran {
    Ran::seeded(device, case, seed, |profile: &mut Profile| {
        let setting = Setting { path: step.to_owned(), value: json!("3000B") };
        profile.declared = profile.declared.with(&setting).expect("a size");
        if step.starts_with("nic.") {
            // Of a range each bound would lie as far off as its reads leave open.
            let setting = Setting { path: "nic.host.mtt_miss".to_owned(), value: json!("500ns") };
            profile.declared = profile.declared.with(&setting).expect("a time");
        }
        if values.is_empty() {
            return;
        }
        let exact = Mutation::Override { path: step.to_owned(), value: "1B".to_owned() };
        profile.mutate(&exact).expect("a size");
        for (path, value) in values {
            let always =
                Mutation::Override { path: (*path).to_owned(), value: format!("{value}B") };
            profile.mutate(&always).expect("a size");
        }
    })
}

/// What the measure says that devices are alike in.
fn alike(ran: &Ran, measure: &str, path: &str) -> Alike {
    let said = ran.as_seen();
    assert_eq!(said.wrong(), "", "{path}");
    let all = said.of(measure).flat_map(|one| &one.resolution.alike);
    let own = all.filter(|one| one.parameter == path);
    let width = |one: &&Alike| end(one.most, 1).saturating_sub(end(one.least, -1));
    own.min_by_key(width).unwrap_or_else(|| panic!("{path} is not told")).clone()
}

/// The first value beyond an end.
fn end(end: Bound<u64>, by: i64) -> u64 {
    match end {
        Bound::Included(value) => value.saturating_add_signed(by),
        Bound::Excluded(value) => value,
        Bound::Unbounded => panic!("nothing bounds it"),
    }
}

/// What is told of a curve between whole steps.
fn curve() -> String {
    bursts("kmin: 50000B, kmax: 301000B, pmax: 50%", 320)
}

fn in_steps(values: &[Set<'_>], seed: u64) -> Ran {
    kept("broadcom", &curve(), "wred.threshold_step", values, seed)
}

#[test]
fn kmin_and_kmax_may_be_rounded_either_way() {
    // 16.7 steps, and 100.3.
    for kmin in [48_000, 51_000] {
        for kmax in [300_000, 303_000] {
            let ran = in_steps(&[("wred.kmin", kmin), ("wred.kmax", kmax)], 7);
            assert_eq!(ran.as_seen().wrong(), "", "{kmin} {kmax}");
        }
    }
    for seed in 1..8 {
        assert_eq!(in_steps(&[], seed).as_seen().wrong(), "", "seed {seed}");
    }
}

#[test]
fn kmin_and_kmax_outside_of_their_steps_by_what_is_printed_fail() {
    let healthy = in_steps(&[], 7);
    for (path, near) in [("wred.kmin", [48_000, 51_000]), ("wred.kmax", [300_000, 303_000])] {
        let alike = alike(&healthy, "ecn.curve", path);
        for (outside, near) in [end(alike.least, -1), end(alike.most, 1)].into_iter().zip(near) {
            let is_told = |value: u64| {
                move |seed: u64| in_steps(&[(path, value)], seed).as_seen().fails("ecn.curve")
            };
            assert!(outside.abs_diff(near) < 25_000, "{alike}");
            assert!((1..=8).all(is_told(outside)), "{alike}: {outside} passes");
            let half = u64::midpoint(outside, near);
            assert!(!(1..=8).all(is_told(half)), "{alike}: {half} fails");
        }
    }
}

/// XOFF above 131072 B, 43.7 steps, and XON at 65536 B, 21.8.
fn paused(values: &[Set<'_>], seed: u64) -> Ran {
    let case = super::nic_pauses::paused_often("loopback: 37Gbps-L2, page: 2MiB, region: 2MiB");
    kept("pcie-gen3", &case, "nic.pfc.threshold_step", values, seed)
}

#[test]
fn xoff_and_xon_of_a_nic_may_be_rounded_either_way() {
    for xoff in [129_000, 132_000] {
        for xon in [63_000, 66_000] {
            let ran = paused(&[("nic.pfc.xoff", xoff), ("nic.pfc.xon", xon)], 7);
            assert_eq!(ran.as_seen().wrong(), "", "{xoff} {xon}");
        }
    }
    for seed in 1..8 {
        assert_eq!(paused(&[], seed).as_seen().wrong(), "", "seed {seed}");
    }
}

#[test]
fn xoff_and_xon_of_a_nic_outside_of_their_steps_by_what_is_printed_fail() {
    let healthy = paused(&[], 7);
    for (path, near) in [("nic.pfc.xoff", [129_000, 132_000]), ("nic.pfc.xon", [63_000, 66_000])] {
        let alike = alike(&healthy, "nic.pauses", path);
        for (outside, near) in [end(alike.least, -1), end(alike.most, 1)].into_iter().zip(near) {
            let word = paused(&[(path, outside)], 7).as_seen().word("nic.pauses");
            assert!(matches!(word, Word::Fail(_)), "{alike}: {outside} {word:?}");
            assert!(outside.abs_diff(near) < 25_000, "{alike}");
        }
    }
}

#[test]
fn a_threshold_that_is_declared_to_the_byte_is_held_to_it() {
    // What is inside of a step fails where no step is declared.
    for (device, case, path, measure) in [
        ("broadcom", curve(), "wred.kmax", "ecn.curve"),
        (
            "pcie-gen3",
            super::nic_pauses::paused_often("loopback: 37Gbps-L2, page: 2MiB, region: 2MiB"),
            "nic.pfc.xoff",
            "nic.pauses",
        ),
    ] {
        let ran = Ran::with(device, &case, |profile| {
            let step = if path == "wred.kmax" { "wred" } else { "nic.pfc" };
            let path = format!("{step}.threshold_step");
            profile
                .mutate(&Mutation::Override { path, value: "50000B".to_owned() })
                .expect("a size");
        });
        assert!(ran.as_seen().fails(measure), "{path}");
    }
}
