//! The run's own evidence, read back from its files, must say what the run said.

use crate::support::{Desk, STORM, layout, suite};
use serde_json::Value;

/// Captures are cut to the nanosecond, at either end of what is measured.
const CUT_PS: u64 = 10_000;

fn hull<'a>(spans: impl Iterator<Item = &'a Value>) -> (u64, u64) {
    let ends =
        spans.map(|span| (span["lo"].as_u64().expect("lo"), span["hi"].as_u64().expect("hi")));
    ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).expect("at least one span")
}

fn near(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= CUT_PS
}

#[test]
fn evidence_read_back_gives_what_the_run_measured() {
    let desk = Desk::new();
    let measures = "    measure:
      - pfcwd.detection: {storm: storm, stream: victim}
      - pfcwd.restoration: {storm: storm, stream: victim}
";
    let few = suite(&format!("{STORM}{measures}")).replace("trials: 1", "trials: 5");
    desk.write("few.yaml", &few);
    let left = desk.rigctl("run few.yaml --seed 5 --evidence all --out out");
    assert_eq!(left.code, 0, "{left:?}");
    let shown = desk.files("out/evidence").into_iter().map(|(file, _)| {
        let file = format!("out/evidence/{}", file.display());
        let left = desk.rigctl(&format!("analyze {file} --dut broadcom --format json"));
        let analysis: Value = serde_json::from_str(&left.stdout).expect("JSON");
        assert_eq!(analysis["format"], "rig-analysis/1");
        assert_eq!(analysis["storms"][0]["lapses"], 0);
        assert_eq!(analysis["doubts"], Value::Array(Vec::new()));
        analysis["watchdog"][0].clone()
    });
    let shown: Vec<Value> = shown.collect();
    assert!(shown.len() >= 5, "{}", shown.len());
    let results = desk.json("out/results.json");
    let measured = results["cases"][0]["measurements"].as_array().expect("measurements");
    for (name, key) in [("pfcwd.detection", "detection"), ("pfcwd.restoration", "restoration")] {
        let shown = hull(shown.iter().map(|watchdog| &watchdog[key]));
        let measured = hull(measured.iter().filter(|of| of["name"] == name));
        assert!(
            near(shown.0, measured.0) && near(shown.1, measured.1),
            "{name}: {shown:?}, {measured:?}"
        );
    }
}

#[test]
fn a_capture_is_told_to_people() {
    let desk = Desk::new();
    let case = "pfcwd::both-lossless-classes-broadcom";
    desk.rigctl(&format!("run --only {case} --seed 5 --out out"));
    let left = desk.rigctl(
        "analyze out/evidence/pfcwd/both-lossless-classes-broadcom/0001.pcapng.gz --dut broadcom",
    );
    assert_eq!(left.code, 0, "{left:?}");
    insta::assert_snapshot!(layout(&left.stdout));
}

#[test]
fn what_is_no_capture_is_refused_at_its_byte() {
    let desk = Desk::new();
    desk.write("text.pcapng", "this is no capture");
    desk.write("empty.pcapng", "");
    for (file, want) in [
        ("text.pcapng", "text.pcapng: byte 0: this is neither a pcapng nor a pcap file"),
        ("empty.pcapng", "empty.pcapng: byte 0: the file is empty"),
    ] {
        let left = desk.rigctl(&format!("analyze {file}"));
        assert_eq!((left.code, left.stdout.as_str()), (2, ""));
        assert!(left.stderr.contains(want), "{}", left.stderr);
    }
}

#[test]
fn a_capture_that_was_cut_short_is_read_as_far_as_it_goes() {
    let desk = Desk::new();
    let case = "pfcwd::detection-time-is-the-poll-interval-broadcom";
    desk.rigctl(&format!("run --only {case} --seed 5 --out out"));
    let (_, whole) = desk.files("out/evidence").remove(0);
    std::fs::write(desk.path("cut.pcapng"), &whole[..whole.len() / 2]).expect("writable");
    let left = desk.rigctl("analyze cut.pcapng --dut broadcom");
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.stdout.contains("capture-hole: the file ends in the middle"), "{}", left.stdout);
}

/// What `analyze` says of the capture of the first trial of a case that is green.
fn of_a_green_case(suite: &str, case: &str) -> (Value, String) {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("run --only {suite}::{case} --seed 7 --out out"));
    assert_eq!(left.code, 0, "{left:?}");
    let file = format!("out/evidence/{suite}/{case}/0001.pcapng.gz");
    let json = desk.rigctl(&format!("analyze {file} --format json"));
    let analysis = serde_json::from_str(&json.stdout).expect("JSON");
    (analysis, desk.rigctl(&format!("analyze {file}")).stdout)
}

#[test]
fn frames_that_were_counted_and_not_recorded_are_neither_lost_nor_a_detection() {
    for (suite, case) in [
        ("headroom", "loss-against-response-broadcom"),
        ("ecn", "none-under-a-load-that-fits-broadcom"),
    ] {
        let (analysis, text) = of_a_green_case(suite, case);
        for stream in analysis["streams"].as_array().expect("streams") {
            assert_eq!((&stream["lost"], &stream["whole"]), (&0.into(), &false.into()), "{text}");
            assert_eq!(stream["sent"], stream["received"], "{text}");
        }
        assert!(!text.contains("Detected"), "{text}");
        assert!(text.contains("       Doubt capture-hole: "), "{text}");
        assert!(text.contains("        Load p1: load stream="), "{text}");
        assert!(text.contains("assumed: the lab's first, --dut names another"), "{text}");
    }
}

#[test]
fn a_capture_of_a_nic_is_not_read_as_a_switch_unasked() {
    let (_, text) = of_a_green_case("cnp", "acknowledgements-of-each-message");
    assert!(text.contains("assumed: the lab's first NIC, as the file tells of one"), "{text}");
}
