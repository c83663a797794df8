//! What the machine can do, as scripts ask it. What is found depends on the machine; the texts are held by unit tests.

use crate::support::Desk;
use serde_json::Value;

#[test]
fn the_bundled_lab_needs_nothing_of_a_machine() {
    let desk = Desk::new();
    let left = desk.rigctl("doctor --format json");
    assert_eq!((left.code, left.stderr.as_str()), (0, ""), "{}", left.stdout);
    let report: Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(report["format"], "rig-doctor/1");
    assert_eq!((&report["lab"], &report["ready"]), (&"emulated".into(), &true.into()));
    let names = report["sections"].as_array().expect("sections").iter().map(|one| &one["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["kernel", "time", "DPDK and tools"]);
}

#[test]
fn a_lab_whose_interfaces_are_not_there_needs_them() {
    let desk = Desk::new();
    let lab = "about: \"a\"\ntransport: interfaces\ncable: 3m\nwire: {interfaces: [rig-none-1, rig-none-2], bound: 4ms, budget: \
               60s}\nduts: [dut.yaml]\n";
    desk.write("lab.yaml", lab);
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
    desk.write("dut.yaml", &std::fs::read_to_string(profile).expect("a profile"));
    let left = desk.rigctl("doctor --lab lab.yaml");
    assert_eq!((left.code, left.stderr.as_str()), (4, ""), "{}", left.stdout);
    for name in ["rig-none-1", "rig-none-2"] {
        let want = format!("port {name}: no such interface in this network namespace");
        assert!(left.stdout.contains(&want), "{}", left.stdout);
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let desk = Desk::new();
    for (arguments, want) in [
        ("doctor --lab no-such.yaml", "no-such.yaml"),
        ("doctor --cabled eth1", "2 values required"),
        ("doctor --cabled eth1 eth1", "a cable has two ends"),
    ] {
        let left = desk.rigctl(arguments);
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{arguments}");
        assert!(left.stderr.contains(want), "{arguments}: {}", left.stderr);
    }
}
