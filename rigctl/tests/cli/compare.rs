//! Two results beside each other, and what the exit code says of them.

use crate::support::Desk;

const CASE: &str = "pfcwd::detection-time-is-the-poll-interval-broadcom";

fn two_runs(desk: &Desk) {
    desk.rigctl(&format!("run --only {CASE} --seed 5 --out old --evidence none"));
    let mutate = "--mutate pfcwd.detection_time=x2";
    desk.rigctl(&format!("run --only {CASE} --seed 5 --out new --evidence none {mutate}"));
}

#[test]
fn a_new_failure_exits_with_1() {
    let desk = Desk::new();
    two_runs(&desk);
    let left = desk.rigctl("compare old/results.json new/results.json");
    assert_eq!(left.code, 1, "{left:?}");
    let failure = format!(" NEW FAILURE {CASE}: was pass; pfcwd.detection: want nP <= T");
    assert!(left.stdout.contains(&failure), "{}", left.stdout);
    let circumstances = "     Differs mutations: was none, is pfcwd.detection_time=x2\n";
    assert!(left.stdout.starts_with(circumstances), "{}", left.stdout);
    assert!(left.stdout.contains("1 case in both, 0 unchanged, 1 new failure"), "{}", left.stdout);
    let json = desk.rigctl("compare old/results.json new/results.json --format json");
    let comparison: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, &comparison["format"]), (1, &"rig-comparison/2".into()));
    assert_eq!(comparison["changes"][0]["kind"], "new-failure");
}

#[test]
fn equal_runs_exit_with_0() {
    let desk = Desk::new();
    two_runs(&desk);
    let left = desk.rigctl("compare old/results.json old");
    assert_eq!(left.code, 0, "{left:?}");
    insta::assert_snapshot!(left.stdout, @"     Summary 1 case in both, 1 unchanged");
}

/// Moves the first measurement of a run far away, and gives the run another seed if one is named.
fn moved(desk: &Desk, seed: Option<u64>) {
    let mut results = desk.json("old/results.json");
    let measurement = &mut results["cases"][0]["measurements"][0];
    for (end, at) in
        [("lo", 900_000_000_000_u64), ("value", 900_000_000_001), ("hi", 900_000_000_002)]
    {
        measurement[end] = at.into();
    }
    if let Some(seed) = seed {
        results["seed"] = seed.into();
    }
    desk.write("moved.json", &results.to_string());
}

#[test]
fn a_shift_is_an_alarm_under_the_same_seed_and_a_remark_under_another() {
    let desk = Desk::new();
    two_runs(&desk);
    moved(&desk, None);
    let left = desk.rigctl("compare old/results.json moved.json");
    assert_eq!(left.code, 1, "{left:?}");
    assert!(left.stdout.contains("SHIFTED") && !left.stdout.contains("Note"), "{}", left.stdout);
    moved(&desk, Some(6));
    let left = desk.rigctl("compare old/results.json moved.json");
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.stdout.contains("SHIFTED"), "{}", left.stdout);
    assert!(left.stdout.contains("Note the draws differ"), "{}", left.stdout);
}

#[test]
fn both_files_are_told_when_both_are_unreadable() {
    let desk = Desk::new();
    desk.write("a.json", "{\"format\": \"rig-results/0\"}");
    let left = desk.rigctl("compare a.json b.json");
    assert_eq!((left.code, left.stdout.as_str()), (2, ""));
    assert!(left.stderr.contains("a.json: the format is `rig-results/0`"), "{}", left.stderr);
    assert!(left.stderr.contains("b.json: cannot be read"), "{}", left.stderr);
    assert!(left.stderr.contains("2 faults"), "{}", left.stderr);
}

/// What `compare` says of the old run and of what `change` made of it.
fn after(change: impl FnOnce(&mut serde_json::Value), flags: &str) -> crate::support::Left {
    let desk = Desk::new();
    desk.rigctl(&format!("run --only {CASE} --seed 5 --out old --evidence none"));
    let mut results = desk.json("old/results.json");
    change(&mut results);
    desk.write("new.json", &results.to_string());
    desk.rigctl(&format!("compare old new.json {flags}"))
}

#[test]
fn a_case_that_stops_measuring_exits_with_1() {
    let undecided = |results: &mut serde_json::Value| {
        results["cases"][0]["verdict"] = "inconclusive".into();
        results["cases"][0]["reason"] = "capture-hole".into();
    };
    let left = after(undecided, "");
    assert_eq!(left.code, 1, "{left:?}");
    let lost = format!("LOST VERDICT {CASE}: was pass, is inconclusive; capture-hole\n");
    assert!(left.stdout.contains(&lost), "{}", left.stdout);
    let unmeasured = |results: &mut serde_json::Value| {
        results["cases"][0]["measurements"].as_array_mut().expect("measured").pop();
    };
    let left = after(unmeasured, "");
    assert_eq!(left.code, 1, "{left:?}");
    assert!(left.stdout.ends_with("0 unchanged, 1 lost measurement\n"), "{}", left.stdout);
}

#[test]
fn a_case_that_is_gone_exits_with_1_unless_fewer_were_asked_for() {
    let gone = |results: &mut serde_json::Value| {
        let mut more = results["cases"][0].clone();
        more["id"] = "pfcwd::another".into();
        results["cases"] = vec![more].into();
    };
    let left = after(gone, "");
    assert_eq!(left.code, 1, "{left:?}");
    assert!(left.stdout.contains(&format!("    VANISHED {CASE}: was pass\n")), "{}", left.stdout);
    let left = after(gone, "--common");
    assert_eq!(left.code, 5, "nothing was compared: {left:?}");
    assert!(left.stderr.contains("no case is in both runs"), "{}", left.stderr);
    let more = |results: &mut serde_json::Value| {
        let mut more = results["cases"][0].clone();
        more["id"] = "pfcwd::another".into();
        results["cases"].as_array_mut().expect("cases").push(more);
    };
    assert_eq!(after(more, "--common").code, 0);
}

#[test]
fn a_case_that_is_there_twice_is_bad_input() {
    let twice = |results: &mut serde_json::Value| {
        let again = results["cases"][0].clone();
        results["cases"].as_array_mut().expect("cases").push(again);
    };
    let left = after(twice, "");
    assert_eq!(left.code, 2, "{left:?}");
    let said = format!("new.json: cases[0] and cases[1] are both `{CASE}`");
    assert!(left.stderr.contains(&said), "{}", left.stderr);
}
