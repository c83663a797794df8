//! MACsec of Linux's kernel at the ports of its bridge, by the cases of `macsec-pfc.yaml` that are about data and by some of its own; and a port that has
//! another key than the lab says. One boot for both: what is wrong is wrong at the third port alone.

use super::{LABS, by_night, findings, run, stopped_now_and_then};
use std::fs;
use std::path::PathBuf;

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/macsec-pfc.yaml");
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux_switch/secured.yaml");

const PASSES: [&str; 14] = [
    "every-suite",
    "integrity-only",
    "without-sci",
    "clear-data-refused",
    "forged-data-refused",
    "replay-window-to-the-frame",
    "late-frames-without-protection",
    "extended-packet-numbers-go-on",
    "the-last-packet-number-is-used",
    "forged-frames-leave-the-window",
    "peer-begins-its-numbers-again",
    "silent-where-numbers-end",
    "extended-numbers-go-on-behind-them",
    "behind-at-the-end",
];
/// It takes the upper half of a packet number from the next one and not from the lowest that may come (`macsec_decrypt`, drivers/net/macsec.c).
const DIFFERS: &str = "late-across-the-wrap";
/// Cases at a port of another key, and by which rule each is red.
const OF_ANOTHER_KEY: [(&str, &str); 2] = [
    ("sealed-at-the-third-port", "macsec.frames"),
    ("opened-at-the-third-port", "macsec.counters"),
];
/// Of PFC alone, and with a rekey on the way.
const SKIPPED: [&str; 2] = ["forged-pfc-refused", "packet-numbers-run-out"];

/// What `ip` is in a guest whose third port goes by another key than it is told.
const ANOTHER_KEY: &str = "busybox mv /usr/bin/ip /usr/bin/ip.own && printf '%s\\n' '#!/bin/sh' \
     'case $1 in -batch) sed \"/macsec add macsec2 /s/ key 01 ..../ key 01 0000/\" | /usr/bin/ip.own \"$@\";; *) exec /usr/bin/ip.own \"$@\";; esac' \
     >/usr/bin/ip && busybox chmod +x /usr/bin/ip";

#[test]
fn ports_of_linux_speak_macsec_and_one_of_another_key_is_named() {
    if !by_night("a boot more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(PathBuf::from(LABS).join("linux-switch.yaml")).expect("a lab");
    let (before, after) = text.split_once("macsec: ").expect("the lab has keys");
    let line = format!("    - '{}'\n", ANOTHER_KEY.replace('\'', "''"));
    // Of what is measured here nothing rests on when a frame passes: a guest that has no processor is waited for.
    let text = format!("{before}{line}macsec: {after}").replace("wait: 20ms", "wait: 60s");
    let lab = desk.path().join("secured.yaml");
    fs::write(&lab, text.replace("duts/", &format!("{LABS}/duts/"))).expect("a lab");
    let wrong = OF_ANOTHER_KEY.map(|(case, _)| case);
    let cases: Vec<&str> =
        PASSES.into_iter().chain([DIFFERS]).chain(wrong).chain(SKIPPED).collect();
    let only = format!("*::{{{}}}", cases.join(","));
    let told = run(&[SUITE, OWN], &only, &lab, &desk.path().join("out"));
    for case in PASSES {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
    for case in SKIPPED {
        assert_eq!(told[case].0, "skipped", "{case}: {}", told[case].1);
    }
    for (case, rule) in OF_ANOTHER_KEY.into_iter().chain([(DIFFERS, "loss")]) {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(findings(report).iter().any(|found| found == rule), "{case}: {report}");
    }
    // By which key it went instead nobody knows, but that it was another one.
    let report = &told[OF_ANOTHER_KEY[0].0].1;
    assert!(report.contains("data that does not validate: WrongKey"), "{report}");
    let report = &told[OF_ANOTHER_KEY[1].0].1;
    assert!(report.contains("macsec2 InPktsNotValid"), "{report}");
}

/// Of most trials the end comes while it is stopped, or has not made up for it.
#[test]
fn a_guest_that_has_not_come_round_to_all_of_it_when_a_trial_ends_is_waited_for() {
    if !by_night("a boot more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(PathBuf::from(LABS).join("linux-switch.yaml")).expect("a lab");
    // Else it is void for what the guest was kept waiting.
    let text = text.replace("wait: 20ms", "wait: 5s").replace("duts/", &format!("{LABS}/duts/"));
    let (lab, out) = (desk.path().join("behind.yaml"), desk.path().join("out"));
    fs::write(&lab, text).expect("a lab");
    let only = "secured::behind-at-the-end";
    let results = stopped_now_and_then((OWN, only), (&lab, &out), [600, 300]);
    let case = &results["cases"][0];
    assert_eq!(case["verdict"], "pass", "{case}");
}
