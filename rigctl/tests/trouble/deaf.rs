//! A port of the rig that goes deaf, on a healthy device: what is missing was not lost by it.

use super::WIRE;
use super::memory::{Memory, What};
use rig_lab::Lab;
use rig_oracle::Verdict;
use rig_oracle::measure::Registry;
use rig_testcases::Case;
use rigctl::executor::wire::{Benches, Start};
use rigctl::runner::case::{self, Ran, Rig};
use rigctl::stop::Stop;
use std::fs;
use std::sync::Arc;

/// Two streams of two classes to one port, twelve times as long as a port is deaf.
pub(super) const SUITE: &str = "about: \"a suite that is small\"
device: switch
setup:
  dut: {rule_family: barefoot}
  streams:
    probe: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 50us}
    other: {from: p3, to: p2, class: 4, kind: rocev2-write, size: 1024B, every: 50us}
cases:
  both: {why: \"a test\", source: [\"a test\"], trials: 4, steps: [{at: 0ms, start: [probe, other], for: 60ms}], measure: [loss: {stream: other, expect: none}]}
";

/// Runs the case, and `what` strikes as it waits for the `at`-th time; how often it waited.
pub(super) fn ran(lab: &Lab, case: &Case, what: What, at: u64) -> (Ran, u64) {
    let stop = Arc::new(Stop::default());
    let memory = Memory::new(what, at, &stop);
    let benches = Benches::by(Arc::clone(&memory) as _, Start::Made(Arc::clone(&memory) as _), 1);
    benches.patience().grant(rig_units::Dur::s(60));
    let rig = Rig { benches: Some(&benches), ..Rig::of(lab, &[case], 7, &stop) };
    (case::run(&rig, case), memory.waited())
}

#[test]
fn a_port_that_goes_deaf_accuses_nobody_and_one_that_stays_so_is_told() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let lab = desk.path().join("lab.yaml");
    fs::write(&lab, WIRE).expect("writable");
    let lab = rig_lab::read::lab(Some(&lab)).expect("a lab");
    let suite = rig_testcases::read::piped(SUITE.as_bytes(), &Registry).expect("a suite");
    let case = &suite.cases[0];
    let (whole, waits) = ran(&lab, case, What::Nothing, 0);
    assert_eq!((&whole.report.verdict, whole.report.trials.void.len()), (&Verdict::Pass, 0));
    let mut voids = 0;
    // At an eighth of each trial, where both streams are sent for longer than it is deaf.
    for at in [1, 3, 5, 7].map(|eighths| waits * eighths / 8) {
        let (deaf, _) = ran(&lab, case, What::Deaf, at);
        assert_eq!(deaf.report.verdict, Verdict::Pass, "{at}");
        let silent = |void: &&rig_reports::Void| {
            let counted = "frames that the served device sent had not reached the rig";
            void.reason.contains(counted) && void.reason.contains("silent-port: nothing at all")
        };
        let all = &deaf.report.trials.void;
        assert_eq!(all.iter().filter(silent).count(), all.len(), "{at}: {all:?}");
        voids += all.len();
    }
    assert!(voids >= 3, "{voids}");
    let (mute, _) = ran(&lab, case, What::Mute, waits / 8);
    let Verdict::Inconclusive(doubt) = &mute.report.verdict else {
        panic!("{:?}", mute.report.verdict)
    };
    assert_eq!(doubt.reason, "capture-hole", "{}", doubt.detail);
    assert!(doubt.detail.contains("given up after 49 in a row"), "{}", doubt.detail);
    assert!(doubt.detail.contains("nothing at all arrived at p2 from "), "{}", doubt.detail);
}
