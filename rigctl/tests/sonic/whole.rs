//! Each suite of the catalogue on the stand-ins of the bundled lab, whole: what applies there is judged, and nobody is accused or breaks.

use super::{LAB, STALLS, redis, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CATALOGUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases");

/// How many cases came to which end, with the reason of those that are neither red nor green.
fn ends(desk: &Path, suite: &Path) -> BTreeMap<String, usize> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.arg("run").arg(suite).args(["--lab", LAB]);
    command.args("--seed 7 --evidence none --overwrite --out out".split(' '));
    command.env("RIGCTL_STATE", desk.join("state")).env("TMPDIR", desk.join("tmp"));
    command.env_remove("RIG_SONIC_LUA").current_dir(desk).stdin(Stdio::null());
    let output = command.output().expect("rigctl starts");
    let results = fs::read_to_string(desk.join("out/results.json"));
    let results = results.unwrap_or_else(|why| panic!("{why}: {output:?}"));
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let mut ends = BTreeMap::new();
    for case in results["cases"].as_array().expect("cases") {
        let word = |field: &str| case[field].as_str().unwrap_or_default();
        let end = match word("verdict") {
            "skipped" => "skipped".to_owned(),
            "pass" => "pass".to_owned(),
            "inconclusive" if STALLS.contains(&word("reason")) => "stalled".to_owned(),
            "inconclusive" => format!("inconclusive: {}", word("reason")),
            other => panic!("{} {other}: {}\n{output:?}", word("id"), word("reason")),
        };
        *ends.entry(end).or_default() += 1;
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
    let mut judged = 0;
    for suite in files {
        let ends = ends(desk.path(), &suite);
        eprintln!("{}: {ends:?}", suite.display());
        let skipped = ends.get("skipped").copied().unwrap_or(0);
        let tried = ends.values().sum::<usize>() - skipped;
        // On a busy machine trials are void: enough that the suite was tried.
        let passed = ends.get("pass").copied().unwrap_or(0);
        assert!(2 * passed >= tried, "{}: {ends:?}", suite.display());
        judged += passed;
    }
    assert!(judged > 0, "nothing ran");
}
