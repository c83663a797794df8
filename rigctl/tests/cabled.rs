//! The transport `interfaces`: real interfaces in the namespace of the process, a device behind them that nobody can ask. Root
//! and Linux only. Here the device is an emulated one, served on the far ends of pairs; the rig is told nothing of that.

mod common;

#[path = "common/bench.rs"]
mod bench;

use bench::{Bench, PROFILE, case, said, well};
use common::root;
use std::path::Path;

#[test]
fn a_device_that_nobody_can_ask_is_measured_by_the_wire_alone() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let (output, results) = bench.run(
        "--only pfcwd::{detection-latency,idle-queue-is-stormed,action-*,storm-counters,limits-*}-broadcom",
    );
    let told = said(&output);
    assert_eq!(results["executor"], "wire");
    let cases = results["cases"].as_array().expect("cases");
    let late = bench.late();
    for case in cases {
        let detail = case["detail"].as_str().unwrap_or_default();
        let skipped = case["verdict"] == "skipped" && !detail.is_empty();
        assert!(skipped || well(case) || late.is_some(), "{}: {case}\n{told}", case["id"]);
    }
    let passed = cases.iter().filter(|case| case["verdict"] == "pass").count();
    assert!(passed > 0 || late.is_some(), "{told}");
    let forward = case(&results, "pfcwd::action-forward-broadcom");
    assert!(
        forward["detail"]
            .as_str()
            .expect("why")
            .contains("it would have to be configured: pfcwd.action=forward (it declares drop)"),
        "{forward}"
    );
    // Of a sweep the point that the device is at.
    let latency = case(&results, "pfcwd::detection-latency-broadcom");
    assert_eq!(
        latency["left_out"],
        serde_json::json!([
            "pfcwd.detection_time=1000ms (it declares 200ms): nothing here configures it"
        ])
    );
    let pausing = &results["wall"]["pausing"];
    assert_eq!(pausing["from"], "fed", "{pausing}");
    assert!(told.contains("Pausing p1"), "{told}");
}

#[test]
fn links_are_cut_and_mended_at_the_rigs_own_interfaces() {
    if !root() {
        return;
    }
    for backend in ["af-xdp", "af-packet"] {
        let bench = Bench::new(backend);
        let (output, results) = bench.run("--only pfcwd::port-toggle-broadcom");
        let toggle = case(&results, "pfcwd::port-toggle-broadcom");
        assert!(well(toggle) || bench.late().is_some(), "{backend}: {toggle}\n{}", said(&output));
        let link = bench.near.run(|| rig_generator::port::Link::named("eth2")).expect("inside");
        assert!(link.expect("it is there").carrier, "{backend}");
    }
}

#[test]
fn a_device_that_departs_from_what_it_declares_fails_without_being_asked() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // The profile is given another detection time than the device that is served.
    let profile = std::fs::read_to_string(PROFILE).expect("a profile");
    bench.write("other.yaml", &profile.replace("detection_time: 200ms", "detection_time: 600ms"));
    let text = std::fs::read_to_string(bench.desk.path().join("lab.yaml")).expect("the lab");
    bench.write("lab.yaml", &text.replace(PROFILE, "other.yaml"));
    let suite = "about: \"one\"\ndevice: switch\ncases:\n  one:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut: \
                 {rule_family: broadcom}\n    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, \
                 every: 500us}}\n    storms: {storm: {from: p2, classes: [3]}}\n    trials: 3\n    steps:\n      - {at: 0ms, \
                 start: victim}\n      - {at: 20ms, start: storm, for: 900ms}\n    measure:\n      - pfcwd.detection: {storm: \
                 storm, stream: victim}\n";
    bench.write("one.yaml", suite);
    let (output, results) = bench.run("one.yaml");
    let one = case(&results, "one::one");
    let stalled = one["verdict"] == "inconclusive" && well(one);
    assert!(
        one["verdict"] == "fail" || stalled || bench.late().is_some(),
        "{one}\n{}",
        said(&output)
    );
}

#[test]
fn a_doctor_opens_what_the_lab_names_and_lets_go_of_it() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // Twice: what the first had kept open, the second would find busy.
    for _ in 0..2 {
        let output = bench.rigctl("doctor --lab lab.yaml");
        let told = said(&output);
        let ports = told.matches("AF_XDP in the driver, copies, frames of any length").count();
        assert_eq!(ports, 5, "four of the lab, and a pair of its own: {told}");
    }
    let output = bench.rigctl("doctor --lab lab.yaml --cabled p1 p2");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("frames eth1 -> eth2  no cable"), "{}", said(&output));
}

#[test]
fn what_makes_no_sense_without_a_control_channel_is_refused() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let output = bench.rigctl("run --lab lab.yaml --out out --mutate pfcwd.detection_time=x2");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("`rigctl dut serve --mutate"), "{}", said(&output));
    assert!(!Path::new(&bench.desk.path().join("out")).exists());
}
