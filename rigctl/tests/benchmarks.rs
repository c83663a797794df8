//! Benchmarks that send: root and Linux only. What they measure is the machine's; that they measure it is shown here.

mod common;

use common::root;
use serde_json::Value;
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
fn a_python_loop_that_nobody_could_count_is_refused() {
    let output = bench("pacing --against-python --port eth1", None);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("want `--peer IF`"), "{}", stderr(&output));
}
