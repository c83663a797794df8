//! `control: sonic` from a lab to a verdict: stand-ins that the rig starts, each a redis-server of the system's, an emulated chip on
//! pairs of virtual interfaces and what orchagent does between the two. Root and Linux only.

#[path = "sonic/chips.rs"]
mod chips;
mod common;
#[path = "sonic/repr.rs"]
mod repr;
#[path = "sonic/scripts.rs"]
mod scripts;
#[path = "sonic/ssh.rs"]
mod ssh;
#[path = "sonic/whole.rs"]
mod whole;

use common::root;
use core::time::Duration;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rig_dut::standin::Server;
use rig_generator::netlab::{End, Namespace, pair};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/sonic-standin.yaml");

/// A storm at a detection time that neither the profile declares nor CONFIG_DB says before; the second case hears of them by
/// events alone, as `alert` leaves no trace on the wire.
const SUITE: &str = "about: \"one\"\ndevice: switch\nsetup:\n  dut: {rule_family: broadcom}\n  streams: {victim: {from: p1, to: p2, class: 3, \
                     kind: rocev2-write, size: 254B, every: 500us}}\n  storms: {storm: {from: p2, classes: [3]}}\ncases:\n  one:\n    why: \
                     \"a test\"\n    source: [\"a test\"]\n    dut: {pfcwd: {detection_time: 400ms}}\n    trials: 1\n    steps:\n      - \
                     {at: 0ms, start: victim}\n      - {at: 20ms, start: storm, for: 900ms}\n    measure:\n      - pfcwd.detection: \
                     {storm: storm, stream: victim}\n  told:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut: {pfcwd: {action: \
                     alert}}\n    trials: 1\n    steps:\n      - {at: 0ms, start: victim}\n      - {at: 20ms, start: storm, for: 600ms}\n    \
                     measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

/// Whether there is a redis-server.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn redis(desk: &Path) -> bool {
    match Server::start(&desk.join("try.sock")) {
        Ok(_) => true,
        Err(missing) => {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "{missing} and RIG_REQUIRE_ALL=1");
            eprintln!("skipped: {missing}");
            false
        }
    }
}

/// `rigctl run` of the suite on the first device of the lab.
fn run(desk: &Path, flags: &str) -> (Output, Value) {
    run_by(desk, flags, None)
}

/// The same, where the scripts of a folder decide for the device's watchdogs.
fn run_by(desk: &Path, flags: &str, scripts: Option<&Path>) -> (Output, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    let arguments =
        format!("run one.yaml --lab {LAB} --dut broadcom --seed 7 --overwrite --out out {flags}");
    command.args(arguments.split_whitespace()).current_dir(desk).stdin(Stdio::null());
    command.env("RIGCTL_STATE", desk.join("state")).env("TMPDIR", desk.join("tmp"));
    match scripts {
        Some(folder) => command.env("RIG_SONIC_LUA", folder),
        None => command.env_remove("RIG_SONIC_LUA"),
    };
    let output = command.output().expect("rigctl starts");
    let results = std::fs::read_to_string(desk.join("out/results.json"));
    let results = results.unwrap_or_else(|why| panic!("{why}: {output:?}"));
    (output, serde_json::from_str(&results).expect("JSON"))
}

/// The verdict of a case, and its reason.
fn verdict<'r>(results: &'r Value, id: &str) -> (&'r str, &'r str) {
    let cases = results["cases"].as_array().expect("cases");
    let case = cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"));
    (case["verdict"].as_str().unwrap_or_default(), case["reason"].as_str().unwrap_or_default())
}

/// The rig's namespace and the switch's, with two cables between them.
fn cabled() -> (Namespace, Namespace) {
    let (near, far) = [(); 2].map(|()| Namespace::new().expect("a namespace")).into();
    for port in ["1", "2"] {
        let names = [format!("eth{port}"), format!("d{port}")];
        let ends = [(&near, &names[0]), (&far, &names[1])];
        let [one, other] = ends.map(|(within, name)| End { within, name });
        pair(one, other, 9_216).expect("a pair");
    }
    (near, far)
}

/// Whether it is so within ten seconds.
fn soon(so: &mut dyn FnMut() -> bool) -> bool {
    (0..500).any(|_| {
        so() || {
            rests();
            false
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]
fn rests() {
    sleep(Duration::from_millis(20));
}

#[test]
fn a_stand_in_that_is_served_by_hand_ends_when_it_is_asked_to_and_takes_its_redis_with_it() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    if !redis(desk.path()) {
        return;
    }
    let (_near, far) = cabled();
    let socket = desk.path().join("own").join("redis.sock");
    let mut serve = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    serve.args("dut serve --dut broadcom --port d1 d2 --speed 1Gbps --as sonic --redis".split(' '));
    serve.arg(format!("unix:{}", socket.display())).stdin(Stdio::null()).stderr(Stdio::null());
    let mut device = far.run(|| serve.spawn()).expect("inside").expect("rigctl starts");
    assert!(soon(&mut || UnixStream::connect(&socket).is_ok()), "its redis is up");
    let ended = Pid::from_raw(device.id().cast_signed());
    // Stopped and continued, as by Ctrl-Z and `fg`, it goes on.
    for signal in [Signal::SIGSTOP, Signal::SIGCONT] {
        kill(ended, signal).expect("it lives");
        (0..10).for_each(|_| rests());
    }
    assert!(device.try_wait().is_ok_and(|status| status.is_none()), "it goes on");
    kill(ended, Signal::SIGTERM).expect("it lives");
    let gone = soon(&mut || device.try_wait().is_ok_and(|status| status.is_some()));
    let _killed = device.kill();
    let _reaped = device.wait();
    assert!(gone, "it ends when it is asked to");
    assert!(soon(&mut || !socket.exists() && !desk.path().join("own").exists()), "all is gone");
}

/// Two polls later at the least. One is no more than where in an interval a storm begins makes of it, so that it shows in most trials and
/// not in each.
const LATER: &str = "--mutate pfcwd.detection_time=x1.6";

/// Reasons that are the machine's and not the device's.
const STALLS: [&str; 5] = ["late-send", "storm-lapse", "capture-hole", "dut-late", "late-event"];

#[test]
fn a_stand_in_is_configured_heard_and_judged_and_a_chip_that_does_otherwise_is_red() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    if !redis(desk.path()) {
        return;
    }
    std::fs::write(desk.path().join("one.yaml"), SUITE).expect("writable");
    std::fs::create_dir(desk.path().join("tmp")).expect("a folder");
    let ids = ["one::one", "one::told"];
    for (flags, wanted) in [("", "pass"), (LATER, "fail")] {
        let (output, results) = run(desk.path(), flags);
        for id in ids {
            let (verdict, reason) = verdict(&results, id);
            let stalled = verdict == "inconclusive" && STALLS.contains(&reason);
            assert!(verdict == wanted || stalled, "{id} {flags}: {verdict} {reason}\n{output:?}");
        }
    }
    // Whatever was started is gone, and its folders with it.
    let left = std::fs::read_dir(desk.path().join("tmp")).expect("a folder").flatten();
    let left: BTreeSet<_> = left.map(|left| left.file_name()).collect();
    assert_eq!(left, BTreeSet::new());
}
