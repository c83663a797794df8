//! Runs from the command line to the exit code and the files they leave.

use crate::support::{Desk, STORM, suite};

const FAST: &str = "pfcwd::detection-time-is-the-poll-interval-broadcom";

#[test]
fn a_passing_run_exits_with_0_and_leaves_every_report() {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("run --only {FAST} --seed 7 --out out --junit other.xml"));
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.stdout.contains("1 run: 1 passed (exit 0)"), "{}", left.stdout);
    let results = desk.json("out/results.json");
    assert_eq!(results["partial"], serde_json::Value::Null);
    assert_eq!(results["cases"][0]["id"], FAST);
    for name in ["junit.xml", "report.html", "events.jsonl"] {
        assert!(!desk.read(&format!("out/{name}")).is_empty(), "{name}");
    }
    assert_eq!(desk.read("out/junit.xml"), desk.read("other.xml"));
    assert_eq!(desk.files("out/evidence").len(), 1);
}

#[test]
fn without_a_folder_the_newest_run_is_found_by_one_name() {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("run --only {FAST} --seed 7 --evidence none"));
    assert_eq!(left.code, 0, "{left:?}");
    assert_eq!(desk.json("rig-runs/latest/results.json")["seed"], 7);
    assert!(!desk.path("rig-runs/latest/evidence").exists());
}

#[test]
fn a_deviating_device_exits_with_1_and_shows_the_frames() {
    let desk = Desk::new();
    let mutate = "--mutate pfcwd.detection_time=x2";
    let left = desk.rigctl(&format!("run --only {FAST} --seed 7 --out out {mutate}"));
    assert_eq!(left.code, 1, "{left:?}");
    let case = &desk.json("out/results.json")["cases"][0];
    assert_eq!(case["verdict"], "fail");
    assert_eq!(case["findings"][0]["rule"], "pfcwd.detection");
    assert!(left.stdout.contains("again: rigctl run"), "{}", left.stdout);
    assert!(left.stdout.contains(mutate), "{}", left.stdout);
}

#[test]
fn what_cannot_be_observed_exits_with_3() {
    let desk = Desk::new();
    // The device has no reason to send PFC, so there is no frame whose format could be judged.
    desk.write(
        "quiet.yaml",
        &suite(&format!("{STORM}    measure:\n      - pfc.format: {{port: p1}}\n")),
    );
    let left = desk.rigctl("run quiet.yaml --seed 7 --out out");
    assert_eq!(left.code, 3, "{left:?}");
    let case = &desk.json("out/results.json")["cases"][0];
    assert_eq!(
        (&case["verdict"], &case["reason"]),
        (&"inconclusive".into(), &"not-observable".into())
    );
}

#[test]
fn a_selection_that_matches_nothing_exits_with_5() {
    let desk = Desk::new();
    assert_eq!(desk.rigctl("run --only pfcwd::no-such-case --out out").code, 5);
    // The same when every case needs another device.
    let left = desk.rigctl(&format!("run --only {FAST} --dut barefoot --out out"));
    assert_eq!(left.code, 5, "{left:?}");
    assert!(left.stdout.contains("SKIP"), "{}", left.stdout);
}

#[test]
fn json_on_stdout_is_the_results_and_nothing_else() {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("run --only {FAST} --seed 7 --out out --format json"));
    let stdout: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(stdout, desk.json("out/results.json"));
    assert_eq!(stdout["format"], "rig-results/2");
    assert!(left.stderr.contains("1 run: 1 passed"), "{}", left.stderr);
}

#[test]
fn a_bench_and_a_schema_are_json() {
    let desk = Desk::new();
    let frames: serde_json::Value =
        serde_json::from_str(&desk.rigctl("bench frames --format json").stdout).expect("JSON");
    assert_eq!(frames["format"], "rig-bench/1");
    assert_eq!(frames["sizes"][1]["bytes"], 4096);
    for kind in ["testcase", "lab", "dut", "results"] {
        let left = desk.rigctl(&format!("schema {kind}"));
        let schema: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
        assert!(schema["$schema"].is_string(), "{kind}");
    }
}
