//! The wire executor over virtual interfaces, against the emulated device in a process of its own: root and Linux only.
//!
//! A machine that looks away for long makes trials void, and a case inconclusive with that reason: nothing here fails for
//! it. A healthy device that is called faulty does.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
/// Reasons that are the machine's and not the device's.
const STALLS: [&str; 3] = ["late-send", "dut-late", "storm-lapse"];

/// Whether this process may make network namespaces.
fn root() -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(root || !required, "the wire needs root (RIG_REQUIRE_ALL=1)");
    if !root {
        #[expect(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: network namespaces and AF_XDP need root; run with sudo");
        }
    }
    root
}

fn command(out: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--lab", LAB, "--seed", "7", "--out"]).arg(out);
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

/// What ran, and every case's verdict with its reason.
fn run(arguments: &str) -> (Output, Value) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let output = command(out.path(), arguments).output().expect("rigctl starts");
    let results = std::fs::read_to_string(out.path().join("results.json")).unwrap_or_else(|why| {
        panic!("no results: {why}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    (output, serde_json::from_str(&results).expect("JSON"))
}

/// The verdict of each case; one that is inconclusive for a stall of the machine is left out.
fn verdicts(results: &Value) -> Vec<(String, String)> {
    let cases = results["cases"].as_array().expect("cases");
    let verdict = |case: &Value| {
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let stalled = text("verdict") == "inconclusive" && STALLS.contains(&&*text("reason"));
        (!stalled).then(|| (text("id"), text("verdict")))
    };
    cases.iter().filter_map(verdict).collect()
}

#[test]
fn a_healthy_device_passes_in_real_time_on_the_plan_that_it_passes_in_virtual_time() {
    if !root() {
        return;
    }
    let (output, results) = run("--only pfcwd::action-*-broadcom");
    assert_eq!(results["executor"], "wire");
    let verdicts = verdicts(&results);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(verdicts.iter().all(|(_, verdict)| verdict == "pass"), "{verdicts:?}\n{text}");
    let ran: u64 = results["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .filter_map(|case| case["trials"]["run"].as_u64())
        .sum();
    assert!(ran > 0, "no trial ran: {text}");
}

#[test]
fn a_device_that_departs_from_what_it_declares_fails_in_real_time() {
    if !root() {
        return;
    }
    let (output, results) = run(
        "--only pfcwd::action-*-broadcom --mutate deviation=forward_drops --mutate pfcwd.detection_time=x2",
    );
    let verdicts = verdicts(&results);
    let text = String::from_utf8_lossy(&output.stdout);
    // Without one trial that counts there is nothing to notice it by; then every case says so.
    assert!(
        verdicts.is_empty() || verdicts.iter().any(|(_, verdict)| verdict == "fail"),
        "{verdicts:?}\n{text}"
    );
}

/// The processes that `parent` has started.
fn children(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of_threads = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .collect::<Vec<_>>()
        .join(" ");
    let all = format!("{} {of_threads}", list.unwrap_or_default());
    let mut all: Vec<u32> = all.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_rig_that_is_killed_leaves_no_process_behind() {
    if !root() {
        return;
    }
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut rig = command(out.path(), "--only pfcwd::detection-latency-broadcom")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("rigctl starts");
    let mut served = Vec::new();
    for _ in 0..100 {
        served = children(rig.id());
        if !served.is_empty() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert!(!served.is_empty(), "no device was started within 5 s");
    sleep(Duration::from_millis(500));
    rig.kill().expect("it runs");
    rig.wait().expect("it ends");
    let alive = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    for _ in 0..100 {
        if !served.iter().any(alive) {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("{served:?} still run 5 s after the rig was killed");
}
