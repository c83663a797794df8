//! The suite of recovery on the first NIC that nobody here wrote, Linux's own in a guest; and guests that are wrong on purpose. Root and
//! Linux only, with the packages of `docs/soft-roce.md`.

#[path = "common/bounded.rs"]
mod bounded;
#[path = "common/guest.rs"]
mod guest;
#[path = "linux/ranges.rs"]
mod ranges;

use bounded::Bounded;
use guest::can_have_one;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");
/// Acknowledgements that are lost between two NICs that save them.
const PAIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux/pair.yaml");
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/recovery.yaml");
const CNP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/cnp.yaml");

/// What the run of these cases in a lab came to.
fn run(lab: &Path, cases: &[&str], out: &Path) -> BTreeMap<String, (String, String)> {
    let only = format!("*::{{{}}}", cases.join(","));
    guest::run("linux", (&[SUITE, CNP], &only), lab, out)
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
        "last-response-lost",
        "receiver-not-ready",
        "ready-in-the-end",
        // Streams of the rig: each message is acknowledged, and no mark is looked at.
        "marks-ignored-when-off",
    ];
    // It takes a retry count of 7 to be without end, and asks for nothing anew where an answer to a READ is missing.
    let wrong = [
        ("lost-for-good", "sent again once too often"),
        ("one-lost-response", "no NAK for a hole"),
    ];
    // The first number of a connection is perftest's to draw.
    let skipped = "numbers-that-wrap";
    // What waits for timers, up to half a minute each.
    let slow = [
        "timeout-of-zero-never-runs-out",
        "long-timeouts",
        "timeout-codes",
        "timeout-codes-of-seconds",
    ];
    let whole = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    let right: Vec<&str> = right.into_iter().chain(slow.into_iter().filter(|_| whole)).collect();
    let cases: Vec<&str> =
        right.iter().copied().chain(wrong.map(|(case, _)| case)).chain([skipped]).collect();
    let told = run(&lab, &cases, &desk.path().join("out"));
    for case in right.iter().copied() {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
    for (case, why) in wrong {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(report.contains(why), "{case}: {report}");
    }
    assert_eq!(told[skipped].0, "skipped", "{}", told[skipped].1);
    assert!(desk.path().join("out/evidence/guests/nic-1.console").is_file(), "its console is kept");
}

#[test]
fn large_packets_get_through_a_path_that_loses_them_at_random() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let lab = PathBuf::from(LABS).join("soft-roce-jumbo.yaml");
    let mut right = vec!["losses-drawn"];
    // Tens of megabytes, up to twenty seconds each.
    if std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1") {
        right.extend([
            "go-back-n-at-one-in-a-hundred",
            "go-back-n-at-one-in-twenty",
            "losses-drawn-seldom",
            "losses-drawn-often",
            "corruption-drawn",
            "acknowledgements-lost-at-random",
        ]);
    }
    let told = run(&lab, &right, &desk.path().join("out"));
    for case in right {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
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
            // When it wakes behind that second it waits for a processor as long as the machine has it (12 to 34 ms with a load of 13), of which a tenth of
            // the second hides nothing. Stamps are of the rig's, which does not sleep.
            ("timeout", "100ms"),
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
    for ((name, wait), prepare, cases) in wrong.into_iter().take(if all { 3 } else { 1 }) {
        let lab = desk.path().join(format!("{name}.yaml"));
        // TCP sends a lost SYN again after 1, 3 and 7 s: a program that has no connection by then has none of three in a row.
        let text = format!(
            "about: a wrong guest\ntransport: guests\ncable: 1m\nwire: {{bound: 1ms, wait: {wait}, trial: 12s, budget: 600s, prepare: {}}}\n\
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
        eprintln!("skipped: eight boots, for RIG_WHOLE_LINUX=1 alone (cargo xtask nightly)");
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
    // The programs find each other beside the rig, which learns from their first packets what is to be lost.
    let learned = ["nothing-lost", "lost-packet", "hole-and-nak", "lost-nak", "one-of-twelve-lost"];
    let beside = format!("*::{{{}}}", learned.join(","));
    let file = desk.path().join("beside.yaml");
    fs::write(&file, lab.replace("wire:", "wire:\n  exchange: beside")).expect("a lab");
    let out = desk.path().join("beside");
    let told = guest::run("linux-pair", (&[SUITE, PAIR], &beside), &file, &out);
    for case in learned {
        assert_eq!(told[case].0, "pass", "{case} beside the rig: {}", told[case].1);
    }
    // A receiver that says all twice, learned so, too.
    let file = desk.path().join("twice.yaml");
    let twice = "wire:\n  exchange: beside\n  prepare_other: [/usr/bin/tc qdisc add dev eth0 root netem duplicate 100%]";
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

/// As it boots, when it is up or nearly, and while its program runs: when a guest is up depends on the machine.
#[test]
fn a_run_that_is_killed_at_three_moments_leaves_no_guest() {
    if std::env::var_os("RIG_WHOLE_LINUX").is_none_or(|all| all != "1") {
        eprintln!("skipped: three boots, for RIG_WHOLE_LINUX=1 alone (cargo xtask nightly)");
        return;
    }
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    // The image of the other tests, and a folder by which the guest of this one is known.
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linux-killed");
    let rig = |words: &[&str]| {
        let mut rig = Command::new(env!("CARGO_BIN_EXE_rigctl"));
        rig.env("RIGCTL_STATE", &state).args(words).stdin(Stdio::null());
        rig.stdout(Stdio::null()).stderr(Stdio::null());
        rig
    };
    let lab = PathBuf::from(LABS).join("soft-roce.yaml").display().to_string();
    for (moment, seconds) in [0, 8, 16].into_iter().enumerate() {
        let out = desk.path().join(format!("out-{moment}")).display().to_string();
        let words =
            ["run", SUITE, "--only", "recovery::nothing-lost", "--lab", &lab, "--out", &out];
        let mut run = Bounded::start(&mut rig(&words));
        let mut waited = 0;
        while guests(&state).is_empty() {
            assert_eq!(run.try_wait().expect("it is ours"), None, "no guest was started");
            assert!(waited < 2_400, "no guest was started in two minutes");
            waited += 1;
            wait(50);
        }
        wait(seconds * 1_000);
        let _done_already = run.kill();
        run.end(Duration::from_secs(60), |mut run| run.wait());
        let gone = (0..600).any(|_| {
            wait(100);
            guests(&state).is_empty()
        });
        assert!(gone, "{seconds} s: {:?}", guests(&state));
        assert!(rig(&["restore"]).status().expect("it starts").success(), "{seconds} s");
    }
}

/// The words of each QEMU whose console is kept below `state`.
fn guests(state: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").expect("every Linux has it").flatten();
    let words = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let words = words.map(|words| String::from_utf8_lossy(&words).replace('\0', " "));
    let own = state.join("guest").join("console-").display().to_string();
    words.filter(|words| words.contains("qemu") && words.contains(&own)).collect()
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn wait(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}
