//! What a run says it measured follows from its captures alone: a program in another language, which shares nothing with
//! this project, recomputes values of many measures from them (`evidence_values.py`), and notices one that was changed.

#[path = "common/packed.rs"]
mod packed;

use rig_capture::pcapng::Zip;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The cases that the program knows, but the last.
const CASES: &str = "{pfcwd::{detection-latency-broadcom,detection-with-late-polls-broadcom,own-pfc-is-not-a-storm,line-rate-traffic-broadcom,action-drop-broadcom,sender-that-ignores-pfc-broadcom},ecn::all-marked-without-congestion-broadcom,cnp::one-cnp-an-interval,dcqcn::one-cut,headroom::pause-time-broadcom,macsec-pfc::integrity-only}";
/// A search: its value follows from all trials together.
const SEARCH: &str = "buffers::xoff-threshold-broadcom";
/// How many values that makes, the table of the search one of them.
const VALUES: usize = 13;

fn run(out: &Path, only: &str, evidence: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_rigctl"))
        .args(["run", "--seed", "7", "--only", only, "--evidence", evidence, "--out"])
        .arg(out)
        .output()
        .expect("rigctl starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// What the program says of runs, and whether all agreed; `None` when there is no Python.
fn recomputed(runs: &[&Path]) -> Option<(String, bool)> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/evidence_values.py");
    match Command::new("python3").arg(program).args(runs).output() {
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            Some((String::from_utf8_lossy(&said).into_owned(), output.status.success()))
        }
        Err(error) if std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") => {
            #[expect(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped, python3 does not run here: {error}");
            }
            None
        }
        Err(error) => panic!("python3: {error}"),
    }
}

/// Changes every value of a run by a little.
fn change(out: &Path) {
    let file = out.join("results.json");
    let text = std::fs::read_to_string(&file).expect("results");
    let mut results: Value = serde_json::from_str(&text).expect("JSON");
    let more = |value: &mut Value| {
        if let Some(number) = value.as_u64() {
            *value = (number + number / 20 + 1).into();
        }
    };
    for case in results["cases"].as_array_mut().expect("cases") {
        for measured in case["measurements"].as_array_mut().expect("measurements") {
            for end in ["lo", "hi"] {
                more(&mut measured[end]);
            }
            for reading in measured["readings"].as_array_mut().expect("readings") {
                for end in ["lo", "hi"] {
                    more(&mut reading[end]);
                }
            }
        }
    }
    for case in results["cases"].as_array().expect("cases") {
        let tables = case["tables"].as_array().map(Vec::as_slice).unwrap_or_default();
        for path in tables.iter().map(|table| table["path"].as_str().expect("a path")) {
            let text = String::from_utf8(packed::plain(&out.join(path))).expect("a table");
            // It did not happen where it did.
            let changed = text.replacen(",1\n", ",0\n", 1);
            assert_ne!(changed, text, "{path}");
            let mut zip = Zip::new(std::fs::File::create(out.join(path)).expect("writable"));
            zip.write_all(changed.as_bytes()).expect("writable");
            zip.finish().expect("writable");
        }
    }
    std::fs::write(&file, results.to_string()).expect("writable");
}

#[test]
fn values_follow_from_the_captures_alone_and_a_changed_one_is_noticed() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (first, search) = (desk.path().join("first"), desk.path().join("search"));
    run(&first, CASES, "first");
    run(&search, SEARCH, "all");
    let Some((said, agrees)) = recomputed(&[&first, &search]) else { return };
    assert!(agrees && said.ends_with(&format!("{VALUES} values, 0 differ\n")), "{said}");
    change(&first);
    change(&search);
    let (said, agrees) = recomputed(&[&first, &search]).expect("it ran before");
    let all = format!("{VALUES} values, {VALUES} differ\n");
    assert!(!agrees && said.ends_with(&all), "{said}");
}
