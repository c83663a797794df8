//! The rig breaks or is stopped: what was measured is kept, the report says that it is not whole, exit code 4.

use crate::support::{Desk, ended};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitStatus};

/// Runs the catalogue until two cases have ended and many are left, then does `to` the process; what it said afterwards.
fn broken_off(desk: &Desk, to: impl FnOnce(&str)) -> (ExitStatus, Vec<String>) {
    // The tests themselves may run under nohup.
    let mut command = desk.command("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_rigctl")]);
    command.args(["run", "--seed", "7", "--jobs", "1", "--out", "out", "--evidence", "none"]);
    let mut child = command.spawn().expect("rigctl starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let passed = lines.by_ref().flatten().filter(|line| line.contains("PASS")).take(2).count();
    assert_eq!(passed, 2);
    to(&child.id().to_string());
    let rest = lines.map_while(Result::ok).collect();
    (ended(child), rest)
}

fn kill(signal: &str, id: &str) {
    assert!(Command::new("kill").args([signal, id]).status().expect("kill").success());
}

#[test]
fn a_signal_in_the_middle_leaves_a_partial_report() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let desk = Desk::new();
        let (status, rest) = broken_off(&desk, |id| kill(signal, id));
        assert_eq!(status.code(), Some(4), "{signal}: {status}: {rest:?}");
        let results = desk.json("out/results.json");
        assert_eq!(results["partial"], "interrupted");
        let ran = results["cases"].as_array().expect("cases").len();
        let not_run = results["not_run"].as_array().expect("not run").len();
        assert!(ran >= 2 && not_run > 10, "{ran} ran, {not_run} did not");
        assert_eq!(results["summary"]["exit"], 4);
        assert!(rest.iter().any(|line| line.contains("interrupted")), "{rest:?}");
        for name in ["junit.xml", "report.html"] {
            assert!(desk.read(&format!("out/{name}")).contains("interrupted"), "{name}");
        }
    }
}

/// A trial of a minute at line rate, a thousand times more frames than are sent before the signal comes.
const ENDLESS: &str = "\
about: \"a trial that does not end\"
device: switch
covers: [scheduler]
cases:
  endless:
    why: \"it takes longer than anybody waits\"
    source: [\"row 1\"]
    dut: {rule_family: [broadcom]}
    trials: 1
    streams:
      flood: {from: p1, to: p2, class: 0, kind: udp, size: 128B, rate: 100%}
    steps:
      - {at: 0ms, start: flood, for: 60s}
    measure:
      - loss: {stream: flood, expect: none}
";

#[test]
fn a_signal_in_the_middle_of_a_trial_breaks_it_off() {
    let desk = Desk::new();
    desk.write("endless.yaml", ENDLESS);
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    let child = command.args(["run", "endless.yaml", "--out", "out"]).spawn();
    let mut child = child.expect("rigctl starts");
    // Reading the catalogue takes far less than a second of a processor.
    let stat = format!("/proc/{}/stat", child.id());
    let busy = || std::fs::read_to_string(&stat).ok()?.split(' ').nth(13)?.parse::<u64>().ok();
    while busy().is_some_and(|ticks| ticks < 100) {
        assert!(child.try_wait().expect("a child").is_none(), "{:?}", child.wait_with_output());
    }
    kill("-INT", &child.id().to_string());
    assert_eq!(ended(child).code(), Some(4));
    let results = desk.json("out/results.json");
    assert_eq!(results["partial"], "interrupted");
    let case = &results["cases"][0];
    let reason = case.to_string();
    assert!(reason.contains("stopped after 0 of "), "{reason}");
}

#[test]
fn one_request_that_arrives_twice_is_one() {
    // `timeout` signals its child, and then the group that the child is in.
    let desk = Desk::new();
    let (status, rest) = broken_off(&desk, |id| {
        let twice = format!("for n in 1 2 3 4 5 6 7 8 9; do kill -TERM {id}; done");
        let _ended = Command::new("sh").args(["-c", &twice]).status();
    });
    assert_eq!(status.code(), Some(4), "{status}: {rest:?}");
    assert_eq!(desk.json("out/results.json")["partial"], "interrupted");
}

#[test]
fn who_was_told_to_ignore_a_hangup_ignores_it() {
    let desk = Desk::new();
    let run =
        "\"$RIGCTL\" run --only pfcwd::detection-latency-b* --seed 7 --evidence none --out out";
    let left =
        desk.shell(&format!("trap '' HUP; {run} & id=$!; sleep 0.02; kill -HUP $id; wait $id"));
    assert_eq!(left.code, 0, "{left:?}");
    assert_eq!(desk.json("out/results.json")["partial"], serde_json::Value::Null);
}

#[test]
fn a_disk_that_fills_up_under_the_evidence_costs_the_evidence_only() {
    let desk = Desk::new();
    // Blocks of 512 bytes: enough for each report, not for a capture.
    let run = "\"$RIGCTL\" run --only pfcwd::detection-latency-b* --seed 7 --out out";
    let left = desk.shell(&format!("ulimit -f 120; {run}"));
    assert_eq!(left.code, 4, "{left:?}");
    let results = desk.json("out/results.json");
    let partial = results["partial"].as_str().expect("a reason");
    assert!(partial.contains("evidence of pfcwd::detection-latency-b"), "{partial}");
    for case in results["cases"].as_array().expect("cases") {
        assert_eq!(case["verdict"], "pass", "{case}");
        assert!(!case["measurements"].as_array().expect("measurements").is_empty());
    }
    // Half a capture would be mistaken for one.
    let captures =
        desk.files("out").into_iter().filter(|(path, _)| path.ends_with("0001.pcapng.gz"));
    assert_eq!(captures.count(), 0);
    assert!(left.stdout.contains("File too large"), "{}", left.stdout);
}

#[test]
fn a_disk_without_any_room_is_told_and_does_not_end_the_process() {
    let desk = Desk::new();
    let run = "\"$RIGCTL\" run --only pfcwd::detection-latency-b* --seed 7 --out out --format json";
    let left = desk.shell(&format!("ulimit -f 1; {run}"));
    assert_eq!(left.code, 4, "{left:?}");
    // The files are lost; what was measured is not.
    let results: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert!(results["partial"].is_string());
    assert_eq!(results["cases"][0]["verdict"], "pass");
    assert!(left.stderr.contains("results.json: File too large"), "{}", left.stderr);
}
