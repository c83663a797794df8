//! Frames that stand between the rig and a device on one machine: the trial is void, whatever either end did meanwhile.

use super::WIRE;
use super::deaf::{SUITE, ran};
use super::memory::What;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use std::fs;

#[test]
fn frames_that_stood_on_their_way_void_their_trial_and_say_for_how_long() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let lab = desk.path().join("lab.yaml");
    fs::write(&lab, WIRE).expect("writable");
    let lab = rig_lab::read::lab(Some(&lab)).expect("a lab");
    let suite = rig_testcases::read::piped(SUITE.as_bytes(), &Registry).expect("a suite");
    let case = &suite.cases[0];
    let (whole, waits) = ran(&lab, case, What::Nothing, 0);
    assert_eq!((&whole.report.verdict, whole.report.trials.void.len()), (&Verdict::Pass, 0));
    let mut voids = 0;
    for at in [1, 3, 5, 7].map(|eighths| waits * eighths / 8) {
        let (stood, _) = ran(&lab, case, What::Stood, at);
        assert_eq!(stood.report.verdict, Verdict::Pass, "{at}");
        let all = &stood.report.trials.void;
        for void in all {
            let told = "on its way to the served device, at port 1";
            assert!(void.reason.contains(told), "{at}: {void:?}");
            let long = ["6.", "7.", "8ms"].map(|ms| format!("stood in this machine for {ms}"));
            assert!(long.iter().any(|long| void.reason.contains(long)), "{at}: {void:?}");
        }
        voids += all.len();
    }
    assert!(voids >= 3, "{voids}");
}
