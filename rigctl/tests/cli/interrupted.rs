//! The rig breaks or is stopped: what was measured is kept, the report says that it is not whole, exit code 4.

use crate::support::{Desk, ended};
use std::io::{BufRead as _, BufReader};
use std::process::Command;

#[test]
fn ctrl_c_in_the_middle_leaves_a_partial_report() {
    let desk = Desk::new();
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--seed", "7", "--jobs", "1", "--out", "out", "--evidence", "none"]);
    let mut child = command.spawn().expect("rigctl starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // Two cases have ended, and many are left.
    let passed = lines.by_ref().flatten().filter(|line| line.contains("PASS")).take(2).count();
    assert_eq!(passed, 2);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(ended(child).code(), Some(4), "{rest:?}");
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
