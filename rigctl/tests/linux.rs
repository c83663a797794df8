//! The suite of recovery on the first NIC that nobody here wrote, Linux's own in a guest; and guests that are wrong on purpose. Root and
//! Linux only, with the packages of `docs/soft-roce.md`.

#[path = "common/guest.rs"]
mod guest;

use guest::can_have_one;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");
/// Acknowledgements that are lost between two NICs that save them.
const PAIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux/pair.yaml");
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/recovery.yaml");

/// What the run of these cases in a lab came to.
fn run(lab: &Path, cases: &[&str], out: &Path) -> BTreeMap<String, (String, String)> {
    let only = format!("recovery::{{{}}}", cases.join(","));
    guest::run("linux", (&[SUITE], &only), lab, out)
}

#[test]
fn the_nic_of_linux_recovers_from_what_is_lost_but_for_what_it_is_known_for() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let lab = PathBuf::from(LABS).join("soft-roce.yaml");
    let right = [
        "nothing-lost",
        "lost-packet",
        "first-and-middle-and-last-of-a-message",
        "lost-acknowledgement",
        "lost-nak",
        "doubled-frame",
        "spoilt-frame",
        "spoilt-last-acknowledgement",
        "spoilt-read-request",
    ];
    // It takes a retry count of 7 to be without end, and asks for nothing anew where an answer to a READ is missing.
    let wrong = [
        ("lost-for-good", "sent again once too often"),
        ("one-lost-response", "no NAK for a hole"),
    ];
    // The first number of a connection is perftest's to draw.
    let skipped = "numbers-that-wrap";
    let cases: Vec<&str> =
        right.into_iter().chain(wrong.map(|(case, _)| case)).chain([skipped]).collect();
    let told = run(&lab, &cases, &desk.path().join("out"));
    for case in right {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
    for (case, why) in wrong {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(report.contains(why), "{case}: {report}");
    }
    assert_eq!(told[skipped].0, "skipped", "{}", told[skipped].1);
}

#[test]
fn guests_that_are_wrong_are_seen() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let wrong = [
        // perftest with another timeout than it is asked for: 1.07 s in place of a few milliseconds.
        (
            // A guest that sleeps for a second may be kept waiting for 15 ms when it wakes.
            ("timeout", "20ms"),
            vec![
                "mv /usr/bin/ib_write_bw /usr/bin/own",
                "printf '#!/bin/sh\\nexec own \"$@\" -u 18\\n' > /usr/bin/ib_write_bw",
                "chmod +x /usr/bin/ib_write_bw",
                // And a counter that stands still: what its file said once lies over it.
                "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts > /tmp/still",
                "busybox mount -o bind /tmp/still /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts",
            ],
            vec![
                ("last-packet-lost", "not sent again as the timeout ran out"),
                ("nothing-lost", "rdma_rx_packets (hw_counters/rcvd_pkts) grown by"),
            ],
        ),
        // A filter that eats acknowledgements and NAKs: opcode 17, behind the headers of IPv4 and UDP.
        (
            ("eaten", "1ms"),
            vec![
                "/usr/bin/tc qdisc add dev eth0 ingress",
                "/usr/bin/tc filter add dev eth0 parent ffff: protocol ip u32 match u8 0x11 0xff at 28 action drop",
            ],
            vec![("lost-packet", "nothing sent after a NAK")],
        ),
        // A way out on which one frame in twenty is lost before anybody sees it, those of perftest's own handshake, too.
        (
            ("netem", "1ms"),
            vec!["/usr/bin/tc qdisc add dev eth0 root netem loss 5%"],
            vec![("nothing-lost", "numbers left out")],
        ),
    ];
    // A boot and its trials take twenty seconds: two of them are for the nights.
    let all = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    for ((name, bound), prepare, cases) in wrong.into_iter().take(if all { 3 } else { 1 }) {
        let lab = desk.path().join(format!("{name}.yaml"));
        // TCP sends a lost SYN again after 1, 3 and 7 s: a program that has no connection by then has none of three in a row.
        let text = format!(
            "about: a wrong guest\ntransport: guests\ncable: 1m\nwire: {{bound: {bound}, trial: 12s, budget: 600s, prepare: {}}}\n\
             duts: [{{pair: [{LABS}/duts/soft-roce.yaml, {LABS}/duts/rig-peer.yaml]}}]\n",
            serde_json::to_string(&prepare).expect("text"),
        );
        fs::write(&lab, text).expect("a lab");
        let names: Vec<&str> = cases.iter().map(|(case, _)| *case).collect();
        let told = run(&lab, &names, &desk.path().join(name));
        for (case, why) in cases {
            let (verdict, report) = &told[case];
            assert_eq!(verdict, "fail", "{name}: {report}");
            assert!(report.contains(why), "{name}: {report}");
        }
    }
}

#[test]
fn two_nics_of_linux_recover_with_the_rig_between_them_and_a_wrong_one_is_seen() {
    if std::env::var_os("RIG_WHOLE_LINUX").is_none_or(|all| all != "1") {
        eprintln!("skipped: six boots, for RIG_WHOLE_LINUX=1 alone (cargo xtask nightly)");
        return;
    }
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let right = [
        "nothing-lost",
        "lost-packet",
        "hole-and-nak",
        "lost-again",
        "last-packet-lost",
        "lost-nak",
        "doubled-frame",
        "spoilt-frame",
        "one-frame-behind-another",
        "one-of-twelve-lost",
        "the-last-one-lost",
        "the-last-one-spoilt",
        "marked",
    ];
    let only = format!("*::{{{}}}", right.join(","));
    let lab = fs::read_to_string(PathBuf::from(LABS).join("soft-roce-pair.yaml")).expect("a lab");
    let lab = lab.replace("duts/", &format!("{LABS}/duts/"));
    // The same over IPv6.
    for over in ["ipv4", "ipv6"] {
        let file = desk.path().join(format!("{over}.yaml"));
        fs::write(&file, lab.replace("wire:", &format!("wire:\n  over: {over}"))).expect("a lab");
        let out = desk.path().join(over);
        let told = guest::run("linux-pair", (&[SUITE, PAIR], &only), &file, &out);
        for case in right {
            assert_eq!(told[case].0, "pass", "{case} over {over}: {}", told[case].1);
        }
    }
    // A receiver that says all twice.
    let file = desk.path().join("twice.yaml");
    let twice =
        "wire:\n  prepare_other: [/usr/bin/tc qdisc add dev eth0 root netem duplicate 100%]";
    fs::write(&file, lab.replace("wire:", twice)).expect("a lab");
    let only = "*::{nothing-lost,lost-nak}";
    let told = guest::run("linux-pair", (&[SUITE], only), &file, &desk.path().join("twice"));
    let wrong = [
        ("nothing-lost", "a reply that nothing asks for"),
        ("lost-nak", "a second NAK for one hole"),
    ];
    for (case, why) in wrong {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(report.contains("rc.receiver") && report.contains(why), "{case}: {report}");
    }
}
