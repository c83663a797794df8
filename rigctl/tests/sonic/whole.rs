//! Each suite of the catalogue on the stand-ins of the bundled lab, whole: what applies there is judged, and nobody is accused or breaks.

use super::{LAB, STALLS, redis, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CATALOGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases");

/// Cases that come to no verdict there however quiet the machine is, and why.
const UNTOLD: [(&str, &str); 0] = [];

/// The cases that came to each end: `stalled` where the machine was too busy for a verdict, `wrong` where nobody has said that they may.
fn ends(desk: &Path, suite: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.arg("run").arg(suite).args(["--lab", LAB]);
    command.args("--seed 7 --evidence none --overwrite --out out".split(' '));
    command.env("RIGCTL_STATE", desk.join("state")).env("TMPDIR", desk.join("tmp"));
    command.env_remove("RIG_SONIC_LUA").current_dir(desk).stdin(Stdio::null());
    let output = command.output().expect("rigctl starts");
    let results = fs::read_to_string(desk.join("out/results.json"));
    let results = results.unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let mut ends: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for case in results["cases"].as_array().expect("cases") {
        let word = |field: &str| case[field].as_str().unwrap_or_default();
        let (id, reason) = (word("id"), word("reason"));
        let end = match word("verdict") {
            "skipped" => "skipped",
            "pass" => "pass",
            "inconclusive" if STALLS.contains(&reason) => "stalled",
            "inconclusive" if UNTOLD.contains(&(id, reason)) => "untold",
            _ => "wrong",
        };
        let told = match end {
            "wrong" => format!("{id} {}: {reason}: {}", word("verdict"), word("detail")),
            _ => id.to_owned(),
        };
        ends.entry(end).or_default().push(told);
    }
    ends
}

#[test]
fn every_suite_that_applies_runs_whole_on_the_stand_ins_and_accuses_nobody() {
    if std::env::var_os("RIG_WHOLE_SONIC").is_none_or(|all| all != "1") {
        eprintln!(
            "skipped: some minutes a suite, for RIG_WHOLE_SONIC=1 alone (cargo xtask nightly)"
        );
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    if !root() || !redis(desk.path()) {
        return;
    }
    fs::create_dir(desk.path().join("tmp")).expect("a folder");
    let files = fs::read_dir(CATALOGUE).expect("the catalogue").flatten().map(|file| file.path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    let (mut judged, mut wrong) = (0, Vec::new());
    for suite in files {
        let ends = ends(desk.path(), &suite);
        let told: Vec<_> =
            ends.iter().filter(|(end, _)| !["pass", "skipped"].contains(*end)).collect();
        eprintln!("{}: {told:?}", suite.display());
        let count = |end: &str| ends.get(end).map_or(0, Vec::len);
        let (passed, stalled) = (count("pass"), count("stalled"));
        // On a busy machine trials are void: of no more than every fourth case that many.
        if stalled > (passed + stalled).div_ceil(4) {
            wrong.push(format!("{} of {}: {stalled} stalled", passed + stalled, suite.display()));
        }
        wrong.extend(ends.get("wrong").cloned().unwrap_or_default());
        judged += passed;
    }
    // All of them are told: a night is not to end at the first.
    assert_eq!(wrong, Vec::<String>::new());
    assert!(judged > 0, "nothing ran");
}
