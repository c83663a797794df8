//! Benchmarks that send (root and Linux only), and those that take turns with another program. What they measure is the machine's; that
//! they measure it is shown here.

mod common;

use common::root;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn bench(arguments: &str, path: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.arg("bench").args(arguments.split_whitespace()).stdin(Stdio::null());
    path.map(|path| command.env("PATH", path));
    command.output().expect("rigctl starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn storms_take_turns_with_a_python_loop_and_both_are_counted_where_they_arrive() {
    if !root() {
        return;
    }
    let output = bench("pacing --against-python --pairs 1 --format json", None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let pacing: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(pacing["python"].as_str().expect("a version").starts_with("Python 3"), "{pacing}");
    let storms = pacing["storms"].as_array().expect("storms");
    assert_eq!(storms.len(), 3);
    for storm in storms {
        let number = |value: &Value| value.as_u64().expect("a number");
        let of = |whose: &str, what: &str| number(&storm[whose][what]);
        let planned = 600_000_000 / number(&storm["every_ns"]) + 1;
        assert!((1..=of("sent", "frames")).contains(&of("arrived", "frames")), "{storm}");
        // A sleep is never shorter than it was asked to be.
        let python = of("python", "frames");
        assert!((1..=planned).contains(&python), "{python} of {planned}: {storm}");
        assert!(of("python", "least_covered_ppm") <= of("python", "covered_ppm"), "{storm}");
        assert!(of("python", "covered_ppm") <= 1_000_000, "{storm}");
    }
}

#[test]
fn a_machine_without_python_is_told_what_to_install() {
    let nothing = tempfile::tempdir().expect("a temporary folder");
    let output = bench("pacing --against-python", nothing.path().to_str());
    assert_eq!(output.status.code(), Some(4));
    let said = stderr(&output);
    assert!(said.contains("cannot start python3"), "{said}");
    assert!(said.contains("`apt-get install python3`"), "{said}");
}

#[test]
fn frames_a_second_are_told_and_without_testpmd_what_to_install() {
    let nothing = tempfile::tempdir().expect("a temporary folder");
    let output = bench("tx --against-testpmd", nothing.path().to_str());
    let said = stderr(&output);
    if !root() {
        return;
    }
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("`apt-get install dpdk-dev` has it"), "{said}");
    let output = bench("tx --rounds 1", None);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(told.contains("frames"), "{told}");
}

#[test]
fn a_python_loop_that_nobody_could_count_is_refused() {
    let output = bench("pacing --against-python --port eth1", None);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("want `--peer IF`"), "{}", stderr(&output));
}

/// A program that does so.
fn program(folder: &tempfile::TempDir, does: &str) -> PathBuf {
    let path = folder.path().join("other");
    // Written under another name: a file that is open for writing somewhere cannot be executed.
    let beside = folder.path().join("beside");
    fs::write(&beside, format!("#!/bin/sh\n{does}\n")).expect("writable");
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)).expect("one's own");
    fs::rename(&beside, &path).expect("the same folder");
    path
}

/// Two pairs of a short round with that program.
fn against(does: &str) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = program(&folder, does);
    let flags = "--scenario incast[28] --pairs 2 --rounds 1 --simulate 100us --format json";
    bench(&format!("oracle {flags} --against {}", other.display()), None)
}

#[test]
fn the_engine_takes_turns_with_any_program_that_prints_hops_and_seconds() {
    // It is told which scenario, and knows one of two.
    let output = against("case \"$5\" in incast2) echo \"$5 3000 0.002\"; echo more;; esac");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["unknown"], serde_json::json!(["incast8"]));
    let one = &all["scenarios"][0];
    assert_eq!(
        one["other_hops_per_cpu_s"],
        serde_json::json!({"median": 1_500_000, "min": 1_500_000, "max": 1_500_000})
    );
    let own = one["hops_per_cpu_s"]["max"].as_u64().expect("a rate");
    assert_eq!(one["ratio_permille"]["max"].as_u64(), Some(own * 1_000 / 1_500_000), "{one}");
    assert!(one["hops"].as_u64() > Some(0) && one["other_hops"] == 3_000, "{one}");
}

#[test]
fn an_older_rigctl_that_knows_no_flags_is_asked_for_all_and_understood() {
    let rate = r#"{"median": 4000000, "min": 1, "max": 9000000}"#;
    let one = format!(r#"{{"scenario": "incast8", "hops": 12, "hops_per_cpu_s": {rate}}}"#);
    let said = format!(r#"{{"format": "rig-bench/1", "scenarios": [{one}]}}"#);
    let output = against(&format!("[ $# = 4 ] || exit 2\necho '{said}'"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["scenarios"][0]["scenario"], "incast8");
    assert_eq!(all["scenarios"][0]["other_hops_per_cpu_s"]["median"], 4_000_000);
    assert_eq!(all["unknown"], serde_json::json!(["incast2"]));
}

#[test]
fn a_program_that_fails_or_says_nothing_is_no_yardstick() {
    for (does, why) in [
        ("echo out of memory >&2; exit 1", "exit status: 1: out of memory"),
        ("echo hello", "says nothing of incast2: want a line `incast2 HOPS CPU_SECONDS`"),
        ("echo incast2 many 1", "`incast2 many 1`: want `incast2 HOPS CPU_SECONDS`"),
    ] {
        let output = against(does);
        assert_eq!(output.status.code(), Some(4), "{does}");
        assert!(stderr(&output).contains(why), "{does}: {}", stderr(&output));
    }
    let output = bench("oracle --scenario incast3", None);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("want: one of incast2, incast8,"), "{}", stderr(&output));
}

#[test]
fn what_a_scenario_puts_on_cables_is_told_by_its_kind() {
    let flags = "--scenario incast2* --rounds 1 --simulate 200us --format json";
    let output = bench(&format!("oracle {flags}"), None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for one in all["scenarios"].as_array().expect("scenarios") {
        let count = |what: &str| one[what].as_u64().expect("a count");
        let (data, answers) = (count("data_hops"), count("answer_hops"));
        assert!(data > answers && answers > 0, "{one}");
        assert!(data + answers + count("cnp_hops") <= count("hops"), "{one}");
        assert!(count("peak_kib") > 0 && count("peak_kib_long") > 0, "{one}");
    }
    let pairs = |id: &str| {
        all["scenarios"].as_array()?.iter().find(|one| one["scenario"] == id)?["cnp_hops"].as_u64()
    };
    assert_eq!(pairs("incast2"), Some(0));
}
