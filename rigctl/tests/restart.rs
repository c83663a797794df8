//! A step that restarts the watchdog, from the case's file to the verdict.

use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::case::{CaseAction, CaseStep};
use rig_testcases::{Amount, DeviceVerb};
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

/// The verdict of a bundled case without its sweep, with a restart of the watchdog at that time.
fn restarted(case: &str, at: Option<Dur>) -> Verdict {
    let suites = rig_testcases::read::bundled(&Registry).expect("the bundled catalogue");
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let mut all = suites.into_iter().flat_map(|suite| suite.cases);
    let mut case = all.find(|one| one.id.to_string() == case).expect("it is in there");
    case.sweep.clear();
    case.steps.extend(at.map(|at| {
        let what = CaseAction::Device(DeviceVerb::RestartPfcwd);
        CaseStep { at: Amount::Exactly(at), what }
    }));
    let stop = Stop::default();
    case::run(&Rig::of(&lab, &[&case], 7, &stop), &case).report.verdict
}

#[test]
fn what_the_watchdog_makes_of_a_storm_is_judged_unless_a_restart_meets_it() {
    // The storm starts at 20 ms; its queue is detected from 220 ms on, and restored by 770 ms.
    for case in ["pfcwd::detection-latency-broadcom", "pfcwd::restoration-latency-broadcom"] {
        for at in [None, Some(Dur::ms(10)), Some(Dur::ms(900))] {
            assert_eq!(restarted(case, at), Verdict::Pass, "{case} {at:?}");
        }
        for at in [20, 150, 400].map(Dur::ms) {
            let verdict = restarted(case, Some(at));
            let Verdict::Inconclusive(doubt) = verdict else { panic!("{case} {at}: {verdict:?}") };
            let why = format!("pfcwd starts afresh at {at}, and a detection");
            let told = doubt.reason == "not-measured" && doubt.detail.contains(&why);
            assert!(told, "{doubt:?}");
        }
    }
}
