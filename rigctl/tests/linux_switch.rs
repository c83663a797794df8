//! Early detection on the first switch that nobody here wrote, the bridge of Linux with RED in a guest; and guests that are wrong on
//! purpose. Root and Linux only, with the packages of `docs/soft-roce.md`.

use rig_generator::netlab::Namespace;
use rig_guests::GuestFault;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LABS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs");
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/ecn.yaml");

/// Whether this machine can have a guest; a word on stderr where it cannot.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn can_have_one() -> bool {
    let lacks = rig_guests::image::missing();
    let why = match Namespace::new() {
        Err(error) => error.to_string(),
        Ok(_) if !lacks.is_empty() => GuestFault::Missing(lacks).to_string(),
        Ok(_) => return true,
    };
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(!required, "{why} (RIG_REQUIRE_ALL=1)");
    eprintln!("skipped: {why}");
    false
}

/// What the run of these cases in a lab came to: of each its verdict, and all that the report says of it.
fn run(lab: &Path, cases: &[&str], out: &Path) -> BTreeMap<String, (String, String)> {
    // The guest of `tests/linux.rs` may run at the same time: what it keeps in its folder is another one's.
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linux-switch");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.env("RIGCTL_STATE", state).args(["run", SUITE, "--seed", "1", "--lab"]).arg(lab);
    command.args(["--only", &format!("ecn::{{{}}}", cases.join(","))]);
    command.arg("--out").arg(out).stdin(Stdio::null());
    let ran = command.output().expect("it starts");
    let said = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    let results = fs::read(out.join("results.json")).unwrap_or_else(|_| panic!("{said}"));
    let results: serde_json::Value = serde_json::from_slice(&results).expect("JSON");
    let all = results["cases"].as_array().unwrap_or_else(|| panic!("{said}"));
    let told = all.iter().map(|case| {
        let id = case["id"].as_str().unwrap_or_default().replace("ecn::", "");
        let verdict = case["verdict"].as_str();
        (id, (verdict.unwrap_or_default().to_owned(), case.to_string()))
    });
    told.collect()
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
    ];
    // RED below another discipline is not asked for a frame while it is empty, so it never learns that it was idle.
    let remembers = "forgotten-when-empty";
    // Of a device with a watchdog.
    let skipped = ["kmin-is-kmax-broadcom"];
    let cases: Vec<&str> = right.into_iter().chain([remembers]).chain(skipped).collect();
    let told = run(&lab, &cases, &desk.path().join("out"));
    for case in right {
        assert_eq!(told[case].0, "pass", "{case}: {}", told[case].1);
    }
    let (verdict, report) = &told[remembers];
    assert_eq!(verdict, "fail", "{report}");
    let found = findings(report);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["ecn.marks"], "{report}");
    for case in skipped {
        assert_eq!(told[case].0, "skipped", "{case}: {}", told[case].1);
    }
}

#[test]
fn switches_that_are_wrong_are_seen() {
    if !can_have_one() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let right = fs::read_to_string(PathBuf::from(LABS).join("linux-switch.yaml")).expect("a lab");
    let wrong = [
        // A threshold at half the depth.
        (
            "limits",
            ("min 100000 max 100000", "min 50000 max 50000"),
            "step-under-load",
            "ecn.curve",
        ),
        // RED without ECN drops what it should mark.
        ("dropping", ("probability 0.5 ecn", "probability 0.5"), "step-under-load", "loss"),
        // One queue for both lossless classes.
        ("merged", ("4:4", "4:3"), "queue-beside-a-full-one", "ecn.marks"),
    ];
    for (name, (line, instead), case, why) in wrong {
        let lab = desk.path().join(format!("{name}.yaml"));
        assert!(right.contains(line), "{line}");
        let text = right.replace(line, instead).replace("duts/", &format!("{LABS}/duts/"));
        fs::write(&lab, text).expect("a lab");
        let told = run(&lab, &[case], &desk.path().join(name));
        let (verdict, report) = &told[case];
        assert_eq!(verdict, "fail", "{name}: {report}");
        assert!(findings(report).iter().any(|rule| rule == why), "{name}: {report}");
    }
}
