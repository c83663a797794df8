//! A step that restarts the watchdog, from the case's file to the verdict.

use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::case::{CaseAction, CaseStep};
use rig_testcases::{Amount, Case, DeviceVerb};
use rig_units::Dur;
use rigctl::runner::case::{self, Rig};
use rigctl::stop::Stop;
use std::process::{Command, Stdio};

const CASE: &str = "about: \"one\"\ndevice: switch\ncases:\n  one:\n    why: \"a test\"\n    source: [\"a test\"]\n    dut: \
                    {rule_family: broadcom}\n    streams: {victim: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, \
                    every: 1ms}}\n    trials: 1\n    steps:\n      - {at: 0ms, start: victim, for: 100ms}\n      - {at: 50ms, \
                    restart: pfcwd}\n    measure:\n      - loss: {stream: victim, expect: none}\n";

#[test]
fn a_restart_takes_nothing_from_traffic_that_nobody_stops() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(desk.path().join("one.yaml"), CASE).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["run", "one.yaml", "--seed", "7", "--out", "out"]).current_dir(desk.path());
    let output = command.stdin(Stdio::null()).output().expect("rigctl starts");
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
}

#[test]
fn what_the_watchdog_does_after_a_restart_on_the_way_is_not_judged_by_its_first_start() {
    let suites = rig_testcases::read::bundled(&Registry).expect("the bundled catalogue");
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut all = suites.into_iter().flat_map(|suite| suite.cases);
    let mut case = all
        .find(|case| case.id.to_string() == "pfcwd::detection-latency-broadcom")
        .expect("it is in there");
    case.sweep.clear();
    let stop = Stop::default();
    let report = |case: &Case| case::run(&Rig::of(&lab, &[case], 7, &stop), case).report;
    assert_eq!(report(&case).verdict, Verdict::Pass);
    let what = CaseAction::Device(DeviceVerb::RestartPfcwd);
    case.steps.push(CaseStep { at: Amount::Exactly(Dur::ms(150)), what });
    let Verdict::Inconclusive(doubt) = report(&case).verdict else { panic!("it is judged") };
    let why = "pfcwd starts afresh at 150ms, and one start is predicted for";
    assert!(doubt.reason == "not-measured" && doubt.detail.contains(why), "{doubt:?}");
}
