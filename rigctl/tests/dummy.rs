//! A device whose control is `dummy`: nobody knows what it is configured to, so no case is run on it, and none passes.

use serde_json::Value;
use std::process::{Command, Stdio};

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");

/// Cases that suit the device, were it known.
const ONLY: &str = "pfcwd::{detection-latency,idle-queue-is-stormed,storm-counters}-broadcom";

#[test]
fn no_case_is_run_on_a_device_whose_control_states_no_configuration() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let lab = format!(
        "about: \"nobody is there\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [rig-none-1, rig-none-2, rig-none-3, rig-none-4], \
         bound: 4ms, budget: 60s}}\nduts: [{{profile: {PROFILE}, control: dummy}}]\n"
    );
    std::fs::write(desk.path().join("lab.yaml"), lab).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "--lab", "lab.yaml", "--out", "out", "--only", ONLY]);
    command.current_dir(desk.path()).env("RIGCTL_STATE", desk.path().join("state"));
    let output = command.stdin(Stdio::null()).output().expect("rigctl starts");
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "nothing ran: {told}");
    let results = std::fs::read_to_string(desk.path().join("out/results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let cases = results["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let why = case["detail"].as_str().unwrap_or_default();
        let told = why.contains("the control `dummy` states no configuration: nobody knows");
        assert!(case["verdict"] == "skipped" && told, "{case}");
    }
}
