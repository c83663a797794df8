//! Early detection on the first switch that nobody here wrote, the bridge of Linux with RED in a guest; and guests that are wrong on
//! purpose. Root and Linux only, with the packages of `docs/soft-roce.md`.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is other processes")]

#[path = "common/bounded.rs"]
mod bounded;
#[path = "common/guest.rs"]
mod guest;
#[path = "linux_switch/killed.rs"]
mod killed;
#[path = "common/processes.rs"]
mod processes;
#[path = "linux_switch/secured.rs"]
mod secured;

use bounded::Bounded;
use guest::{TURN, can_have_one};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use processes::children;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::thread::sleep;
use std::time::Duration;

const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/ecn.yaml");
const BUFFERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/buffers.yaml");
/// Whether all of it is asked for.
fn is_night() -> bool {
    std::env::var_os("RIG_WHOLE_LINUX_SWITCH").is_some_and(|all| all == "1")
}

/// Whether what takes so much more is asked for, and a guest can be had.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn by_night(more: &str) -> bool {
    if !is_night() {
        eprintln!("skipped: {more}, for RIG_WHOLE_LINUX_SWITCH=1 alone");
    }
    is_night() && can_have_one()
}

/// What else of the catalogue the right guest passes, with `RIG_WHOLE_LINUX_SWITCH=1` (`cargo xtask nightly`).
const BY_NIGHT: [&str; 16] = [
    "spaced-under-load",
    "chances-under-load",
    "average-under-load",
    "dropped-by-chance-under-load",
    "dropped-from-kmax-under-load",
    "marks-counted-in-a-full-queue",
    "dropped-where-none-is-marked",
    "shares-by-other-weights",
    "marks-counted-under-load",
    "drops-counted-under-load",
    "shares-by-weight",
    "strict-before-weights",
    "weights-below-strict",
    "loss-below-strict",
    "strict-takes-all",
    "lossy-queue-with-a-limit-of-its-own",
];
/// A case for each queue and each port, so that one boot has room for many faults.
const PORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux_switch/ports.yaml");
/// What RED does not do in a queue that is served by its weight.
const IDLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux_switch/idle.yaml");
/// What RED counts of frames for which its queue has no room.
const FULL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linux_switch/full.yaml");

/// What a run in a lab came to.
fn run(suites: &[&str], only: &str, lab: &Path, out: &Path) -> BTreeMap<String, (String, String)> {
    guest::run("linux-switch", (suites, only), lab, out)
}

/// The rules of what a report of a case finds.
fn findings(report: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    let all = report["findings"].as_array().into_iter().flatten();
    all.filter_map(|finding| Some(finding["rule"].as_str()?.to_owned())).collect()
}

#[test]
fn the_switch_of_linux_marks_and_drops_by_the_depth_of_each_queue() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let lab = PathBuf::from(LABS).join("linux-switch.yaml");
    let right = [
        "step-under-load",
        "step-that-drops-under-load",
        "marked-before-under-load",
        "queue-beside-a-full-one",
        // As deep as a weight of none has it, which is set here.
        "forgotten-when-empty",
        "step-of-another-depth",
        "all-marked-by-thresholds-of-nothing",
    ];
    // What CI has no time for.
    let at_night = is_night();
    let late: &[&str] = if at_night { &BY_NIGHT } else { &[] };
    // RED in a weighted band is never asked for a frame while it is empty, so it does not learn that it was idle.
    let remembers = "outlived-in-a-weighted-queue";
    // Of a device with a watchdog.
    let skipped = "kmin-is-kmax-broadcom";
    let each = WRONG.map(|(case, ..)| case);
    // What tells a rate is among the others: a trial in which the guest had no processor for longer than its bucket makes up for is run again.
    let steady = each.into_iter().step_by(if at_night { 1 } else { 2 });
    let passes = || right.into_iter().chain(steady.clone()).chain(late.iter().copied());
    let cases: Vec<&str> = passes().chain([remembers, skipped]).collect();
    let only = format!("*::{{{}}}", cases.join(","));
    let told = run(&[SUITE, BUFFERS, PORTS, IDLE, FULL], &only, &lab, &desk.path().join("out"));
    for case in passes() {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
    let (verdict, report) = &told[remembers];
    assert_eq!(verdict, "fail", "{report}");
    let found = findings(report);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["ecn.marks"], "{report}");
    assert_eq!(told[skipped].0, "skipped", "{}", told[skipped].1);
}

/// What is made wrong at a queue or a port, by which line, in which case it shows, and by which rule. None touches what another case looks at.
const WRONG: [(&str, &str, &str); 9] = [
    // Thresholds at more than twice the depth. What is nearer is within what the stamps leave open.
    (
        "first-port-class-3",
        "tc qdisc change dev eth0 handle 13: red limit 500000 min 220000 max 220000 avpkt 1000 burst 220 bandwidth 10mbit probability 0.5 ecn",
        "ecn.curve",
    ),
    // RED without ECN drops what it should mark.
    (
        "first-port-class-4",
        "tc qdisc change dev eth0 handle 14: red limit 500000 min 100000 max 100000 avpkt 1000 burst 100 bandwidth 10mbit probability 0.5",
        "loss",
    ),
    // A queue that lets one frame in four by at once, past those that it holds for 20 ms.
    (
        "first-port-class-2",
        "tc qdisc replace dev eth0 parent 2:6 handle 22: netem delay 20ms reorder 25% limit 10000",
        "loss",
    ),
    // A queue with an end and no early detection.
    (
        "second-port-class-3",
        "tc qdisc replace dev eth1 parent 2:5 handle 23: bfifo limit 500000",
        "ecn.curve",
    ),
    // A queue that loses one frame in twenty.
    (
        "second-port-class-4",
        "tc qdisc replace dev eth1 parent 2:4 handle 24: netem loss 5% limit 10000",
        "loss",
    ),
    // Of two queues the heavier one has twice the weight of the other, and not three times.
    ("second-port-weights", "tc class change dev eth1 classid 2:5 ets quantum 2048", "throughput"),
    // A port that writes DSCP 3 over the DSCP 4 of what comes in.
    (
        "third-port-both-classes",
        "tc qdisc add dev eth0 ingress && /usr/bin/tc filter add dev eth0 parent ffff: protocol ip u32 match ip tos 0x10 0xfc action pedit munge offset 1 u8 set 0x0c retain 0xfc pipe action csum ip4h",
        "ecn.marks",
    ),
    // A queue within the queue that marks: the one that is asked has marked nothing.
    (
        "third-port-counters",
        "tc qdisc change dev eth2 handle 14: red limit 500000 min 400000 max 400000 avpkt 1000 burst 400 bandwidth 10mbit probability 0.5 ecn && /usr/bin/tc qdisc add dev eth2 parent 14:1 handle 214: red limit 500000 min 100000 max 100000 avpkt 1000 burst 100 bandwidth 10mbit probability 0.5 ecn",
        "ecn.counters",
    ),
    // A port of another MTU.
    ("third-port-long-frames", "ip link set eth2 mtu 1400", "loss"),
];

#[test]
fn a_switch_that_is_wrong_at_each_queue_and_port_is_seen_at_each() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let right = fs::read_to_string(PathBuf::from(LABS).join("linux-switch.yaml")).expect("a lab");
    let lines: String = WRONG
        .iter()
        .map(|(_, line, _)| format!("    - {:?}\n", format!("/usr/bin/{line}")))
        .collect();
    let (before, after) = right.split_once("macsec:").expect("the lab has keys");
    let text =
        format!("{before}{lines}macsec:{}", after.replace("duts/", &format!("{LABS}/duts/")));
    let lab = desk.path().join("wrong.yaml");
    fs::write(&lab, text).expect("a lab");
    // By day every other one is looked at, as in the right switch.
    let seen: Vec<_> = WRONG.into_iter().step_by(if is_night() { 1 } else { 2 }).collect();
    let cases: Vec<&str> = seen.iter().map(|(case, ..)| *case).collect();
    let only = format!("ports::{{{}}}", cases.join(","));
    let told = run(&[PORTS], &only, &lab, &desk.path().join("out"));
    for (case, _, rule) in seen {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(findings(report).iter().any(|found| found == rule), "{case}: {report}");
    }
}

/// What perl is in a guest where somebody else sets what the rig has set: of class 3 of the second port, once the rig has read it back; but a
/// least threshold of nothing at once.
const BEHIND_ITS_BACK: [&str; 13] = [
    "#!/bin/sh",
    "/usr/bin/perl.own \"$@\"; status=$?",
    "red() { /usr/bin/tc qdisc change dev eth1 handle 13: red limit 500000 avpkt 1000 burst 100 bandwidth 10mbit \"$@\"; }",
    // The last of its words is what the kernel is asked.
    "for asked; do :; done",
    "case $asked in 24000000*) ;; *) asked=set;; esac",
    "is=$(for one in 13 2; do /usr/bin/tc -d -j qdisc show dev eth1 handle $one:; done)",
    "case $asked:$is in",
    "set:*'\"min\":0,'*) red min 90000 max 90000 probability 0.5 ecn;;",
    "2*'\"harddrop\":true,'*) red min 100000 max 250000 probability 0.2 ecn;;",
    "2*'\"min\":250000,'* | 2*'\"ewma\":8,'*) red min 100000 max 100000 probability 0.5 ecn;;",
    "2*'\"ecn\":false,'*) red min 100000 max 100000 probability 0.5 ecn;;",
    "2*'\"quanta\":[1030,1030,1030,1030,2060,1030]'*) /usr/bin/tc class change dev eth1 classid 2:7 ets quantum 1030;;",
    "esac; exit $status",
];

/// The case that sets it, and what shows that it is set otherwise.
const SET_OTHERWISE: [(&str, &str); 5] = [
    ("step-of-another-depth", "ecn.curve"),
    ("average-under-load", "ecn.curve"),
    ("dropped-from-kmax-under-load", "ecn.curve"),
    ("dropped-where-none-is-marked", "ecn.marks"),
    ("shares-by-other-weights", "throughput"),
];

/// A lab of a guest in which perl is this script, and its own has another name.
fn with_another_perl(lab: &str, script: &[&str]) -> String {
    let right = fs::read_to_string(PathBuf::from(LABS).join(lab)).expect("a lab");
    let quoted = |line: &&str| format!("'{}'", line.replace('\'', "'\\''"));
    let script = script.iter().map(quoted).collect::<Vec<_>>().join(" ");
    let line = format!(
        "busybox mv /usr/bin/perl /usr/bin/perl.own && printf '%s\\n' {script} >/usr/bin/perl && busybox chmod +x /usr/bin/perl"
    );
    let line = format!("    - '{}'\n", line.replace('\'', "''"));
    let (before, after) = right.split_once("duts:").expect("a lab names its devices");
    format!("{before}{line}duts:{}", after.replace("duts/", &format!("{LABS}/duts/")))
}

#[test]
fn a_switch_that_is_set_otherwise_behind_the_rig_s_back_is_seen_each_time() {
    if !by_night("a boot more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let lab = desk.path().join("otherwise.yaml");
    fs::write(&lab, with_another_perl("linux-switch.yaml", &BEHIND_ITS_BACK)).expect("a lab");
    let refused = "all-marked-by-thresholds-of-nothing";
    let cases = SET_OTHERWISE.map(|(case, _)| case).join(",");
    let only = format!("*::{{{cases},{refused}}}");
    let told = run(&[SUITE, BUFFERS], &only, &lab, &desk.path().join("out"));
    for (case, rule) in SET_OTHERWISE {
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{case}: {report}");
        assert!(findings(report).iter().any(|found| found == rule), "{case}: {report}");
    }
    // What does not read back as it was set is no device to measure anything of.
    let (verdict, report) = &told[refused];
    assert_ne!(verdict, "pass", "{report}");
    assert!(report.contains("eth1 2:5 red was set to limit 500000, min 0, max 0"), "{report}");
}

/// What perl is in a guest where a queue of another kind takes the place of one, once the rig has set that and read it back.
const PUT_IN_ITS_PLACE: [&str; 6] = [
    "#!/bin/sh",
    "/usr/bin/perl.own \"$@\"; status=$?",
    "for asked; do :; done",
    "case $asked:$(/usr/bin/tc -d -j qdisc show dev eth1 handle 13:) in",
    "24000000*'\"min\":250000,'*) /usr/bin/tc qdisc replace dev eth1 parent 2:5 handle 23: bfifo limit 500000;;",
    "esac; exit $status",
];

#[test]
fn a_guest_that_cannot_be_set_back_is_ended_and_the_next_case_has_another() {
    if !by_night("two boots more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let lab = desk.path().join("in-its-place.yaml");
    fs::write(&lab, with_another_perl("linux-switch.yaml", &PUT_IN_ITS_PLACE)).expect("a lab");
    // In the order of their suites: the second one needs the queue that the first one has lost.
    let (loses, needs) = ("step-of-another-depth", "second-port-class-3");
    let only = format!("*::{{{loses},{needs}}}");
    let told = run(&[SUITE, PORTS], &only, &lab, &desk.path().join("out"));
    assert_eq!(told[loses].0, "fail", "{}", told[loses].1);
    assert_eq!(told[needs].0, "pass", "{}", told[needs].1);
}

/// What perl is in a guest whose RED of class 3 of the second port has half of the chance that is declared, whatever it is set to and whenever it was read.
const HALF_THE_CHANCE: [&str; 5] = [
    "#!/bin/sh",
    "/usr/bin/perl.own \"$@\"; status=$?",
    "for asked; do :; done",
    "case $asked in 24000000*) /usr/bin/tc qdisc change dev eth1 handle 13: red limit 500000 min 100000 max 400000 avpkt 1000 burst 100 bandwidth 10mbit probability 0.1 ecn;; esac",
    "exit $status",
];

#[test]
fn a_switch_that_marks_by_a_chance_between_two_depths_is_held_to_its_count() {
    if !by_night("two boots more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let own = "linux-switch-curve.yaml";
    let right = fs::read_to_string(PathBuf::from(LABS).join(own));
    let right = right.expect("a lab").replace("duts/", &format!("{LABS}/duts/"));
    // What is wrong from the start the rig puts right before it measures.
    let wrong = with_another_perl(own, &HALF_THE_CHANCE);
    let case = "spaced-under-load";
    for (name, text, verdict) in [("right", &right, "pass"), ("wrong", &wrong, "fail")] {
        let lab = desk.path().join(format!("{name}.yaml"));
        fs::write(&lab, text).expect("a lab");
        let told = run(&[SUITE], &format!("ecn::{case}"), &lab, &desk.path().join(name));
        assert_eq!(told[case].0, verdict, "{name}: {}", told[case].1);
        let found = findings(&told[case].1);
        assert!(found.iter().all(|rule| rule == "ecn.curve"), "{name}: {}", told[case].1);
    }
}

#[test]
fn a_right_switch_that_is_stopped_for_a_tenth_of_a_second_in_each_trial_is_not_judged() {
    if !by_night("a boot more") {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(PathBuf::from(LABS).join("linux-switch.yaml")).expect("a lab");
    // Void trials are run again as long as there is time.
    let text =
        text.replace("budget: 600s", "budget: 30s").replace("duts/", &format!("{LABS}/duts/"));
    let (lab, out) = (desk.path().join("stopped.yaml"), desk.path().join("out"));
    fs::write(&lab, text).expect("a lab");
    let results =
        stopped_now_and_then((PORTS, "ports::second-port-weights"), (&lab, &out), [100, 500]);
    let case = &results["cases"][0];
    assert_eq!(case["verdict"], "inconclusive", "{case}");
    let why = case["detail"].as_str().unwrap_or_default();
    assert!(why.contains("kept waiting for a processor for 1"), "{case}");
}

/// What a run came to whose guest is stopped for the first of two times, in ms, and goes on for the other one, again and again.
fn stopped_now_and_then(
    (suite, only): (&str, &str),
    (lab, out): (&Path, &Path),
    [stopped, goes_on]: [u64; 2],
) -> serde_json::Value {
    let _own = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.env("RIGCTL_STATE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("stopped-switch"));
    command.args(["run", suite, "--only", only, "--seed", "1", "--lab"]);
    command.arg(lab).arg("--out").arg(out).stdin(Stdio::null());
    let mut rig = Bounded::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let mut waited = 0;
    while rig.try_wait().expect("it was started here").is_none() {
        assert!(waited < 900_000, "the rig goes on after a quarter of an hour");
        waited += stopped + goes_on;
        let guests = children(rig.id()).into_iter().filter_map(|pid| i32::try_from(pid).ok());
        let held: Vec<Pid> = guests
            .map(Pid::from_raw)
            // One that has ended meanwhile cannot be stopped.
            .filter(|&pid| kill(pid, Signal::SIGSTOP).is_ok())
            .collect();
        sleep(Duration::from_millis(stopped));
        for pid in held {
            let _ended = kill(pid, Signal::SIGCONT);
        }
        sleep(Duration::from_millis(goes_on));
    }
    let results = fs::read(out.join("results.json")).expect("results");
    serde_json::from_slice(&results).expect("JSON")
}
