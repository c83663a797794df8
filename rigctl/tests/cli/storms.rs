//! Storms that the rig does not hold: what `storm.coverage` and the exit code make of each.

use crate::support::{Desk, Left, suite};

/// A case of 50 ms of storm, refreshed as `refresh` says, with one more step and further keys.
fn run(desk: &Desk, refresh: &str, step: &str, more: &str) -> Left {
    run_for(desk, "50ms", refresh, step, more)
}

fn run_for(desk: &Desk, lasting: &str, refresh: &str, step: &str, more: &str) -> Left {
    desk.write(
        "storm.yaml",
        &suite(&format!(
            "    streams: {{victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 500us}}}}
    storms: {{storm: {{from: p2, classes: [3], quanta: 15000q, refresh: {refresh}}}}}
    steps:
      - {{at: 0ms, start: victim}}
      - {{at: 20ms, start: storm, for: {lasting}}}
{step}    trials: 1
{more}"
        )),
    );
    desk.rigctl("run storm.yaml --seed 7 --out out")
}

const COVERAGE: &str = "    measure:\n      - storm.coverage: {storm: storm}\n";
const LOSS: &str = "    measure:\n      - loss: {stream: victim, expect: none}\n";
const CUT: &str = "      - {at: 40ms, link_down: p2, for: 5ms}\n";
const BY_HAND: &str =
    "      - {at: 30ms, pfc: {from: p2, classes: [3], quanta: 65535q, count: 20, every: 1ms}}\n";

fn coverage(desk: &Desk) -> (u64, u64, u64, u64) {
    let results = desk.json("out/results.json");
    let measured = &results["cases"][0]["measurements"][0];
    assert_eq!(measured["name"], "storm.coverage");
    let number = |key: &str| measured[key].as_u64().unwrap_or_else(|| panic!("{measured}"));
    (number("lo"), number("hi"), number("predicted_lo"), number("predicted_hi"))
}

#[test]
fn a_storm_with_the_gaps_of_its_own_plan_covers_what_is_predicted() {
    for (refresh, covered) in [("0.5x", 1_000_000), ("1.5x", 666_666), ("2x", 500_000)] {
        let desk = Desk::new();
        assert_eq!(run(&desk, refresh, "", COVERAGE).code, 0, "{refresh}");
        let (lo, hi, least, most) = coverage(&desk);
        assert!(lo.abs_diff(covered) < 1_000 && lo == hi, "{refresh}: {lo} to {hi}");
        assert!(least <= lo && hi <= most, "{refresh}: {lo}, predicted {least} to {most}");
    }
}

#[test]
fn a_storm_with_gaps_in_a_case_that_is_not_about_them_is_refused() {
    let desk = Desk::new();
    let left = run(&desk, "1.5x", "", LOSS);
    assert_eq!(left.code, 2, "{left:?}");
    assert!(left.stderr.contains("a case that measures storm.coverage"), "{}", left.stderr);
}

#[test]
fn a_link_that_goes_down_under_a_storm_leaves_no_verdict() {
    for (refresh, measure) in [("0.5x", LOSS), ("0.5x", COVERAGE), ("1.5x", COVERAGE)] {
        let desk = Desk::new();
        let left = run(&desk, refresh, CUT, measure);
        assert_eq!(left.code, 3, "{left:?}");
        let case = &desk.json("out/results.json")["cases"][0];
        assert_eq!(case["reason"], "storm-lapse");
    }
}

#[test]
fn a_lapse_that_the_case_is_about_passes_and_its_absence_fails() {
    let expect = format!("{LOSS}    expect: {{verdict: inconclusive, reason: storm-lapse}}\n");
    let desk = Desk::new();
    assert_eq!(run(&desk, "1.5x", "", &expect).code, 0);
    // One frame has no gap behind it.
    let desk = Desk::new();
    let left = run_for(&desk, "50us", "1.5x", "", &expect);
    assert_eq!(left.code, 1, "{left:?}");
    assert_eq!(desk.json("out/results.json")["cases"][0]["findings"][0]["rule"], "expect");
}

#[test]
fn a_storm_that_pauses_more_than_its_plan_fails_by_its_coverage() {
    let desk = Desk::new();
    let left = run(&desk, "2x", BY_HAND, COVERAGE);
    assert_eq!(left.code, 1, "{left:?}");
    let (lo, _, _, most) = coverage(&desk);
    assert!(lo > most, "{lo} is predicted: up to {most}");
    let case = &desk.json("out/results.json")["cases"][0];
    assert_eq!(case["findings"][0]["rule"], "storm.coverage");
}
