//! Two results beside each other, and what the exit code says of them.

use crate::support::{Desk, STORM, suite};

/// Its suite and one device alone: most of the time of a run of one case is that of reading what is not run.
const SUITE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../testcases/pfcwd.yaml --lab ",
    env!("CARGO_MANIFEST_DIR"),
    "/../lab-configs/broadcom.yaml"
);
const CASE: &str = "pfcwd::detection-time-is-the-poll-interval-broadcom";
const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

fn two_runs(desk: &Desk) {
    desk.rigctl(&format!("run {SUITE} --only {CASE} --seed 5 --out old --evidence none"));
    let mutate = "--mutate pfcwd.detection_time=x2";
    desk.rigctl(&format!("run {SUITE} --only {CASE} --seed 5 --out new --evidence none {mutate}"));
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
    desk.rigctl(&format!("run {SUITE} --only {CASE} --seed 5 --out old --evidence none"));
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

/// The one case of the run once more, as another one.
fn another(results: &serde_json::Value) -> serde_json::Value {
    let mut more = results["cases"][0].clone();
    more["id"] = "pfcwd::another".into();
    more
}

/// Its verdict becomes another one, for a reason.
fn undecided(results: &mut serde_json::Value, verdict: &str) {
    results["cases"][0]["verdict"] = verdict.into();
    results["cases"][0]["reason"] = "capture-hole".into();
    results["cases"][0]["measurements"] = serde_json::json!([]);
}

/// What makes a run show less than the one before, as a change of its results; the flag that allows it; the first line.
type Less = (fn(&mut serde_json::Value), &'static str, &'static str);

const LESS: &[Less] = &[
    (
        |results| results["partial"] = "interrupted".into(),
        "--allow-partial",
        "     Partial the new run was cut short: interrupted; 0 cases were not run",
    ),
    (
        |results| {
            drop(results["cases"].as_array_mut().expect("cases").remove(0));
            results["partial"] = "interrupted".into();
            results["not_run"] = vec![CASE].into();
        },
        "--allow-partial",
        "     Partial the new run was cut short: interrupted; 1 case was not run",
    ),
    (
        |results| results["cases"] = serde_json::json!([]),
        "--allow-empty",
        "       Empty the new run has no case that ran; the old one has 2",
    ),
    (
        |results| {
            undecided(results, "skipped");
            results["cases"][1]["verdict"] = "skipped".into();
        },
        "--allow-empty",
        "       Empty the new run has no case that ran; the old one has 2",
    ),
    (
        |results| drop(results["cases"].as_array_mut().expect("cases").remove(0)),
        "--allow-missing",
        "     Missing 1 case and 0 measurements of the old run are not in the new one",
    ),
    (
        |results| drop(results["cases"][0]["measurements"].as_array_mut().expect("some").pop()),
        "--allow-missing",
        "     Missing 0 cases and 1 measurement of the old run are not in the new one",
    ),
    (
        |results| undecided(results, "inconclusive"),
        "--allow-undecided",
        "   Undecided 1 case that passed decides nothing any more",
    ),
    (
        |results| undecided(results, "broken"),
        "--allow-broken",
        "      Broken 1 case that passed is broken",
    ),
];

#[test]
fn a_run_that_shows_less_exits_with_1_until_just_that_is_allowed() {
    let desk = Desk::new();
    desk.rigctl(&format!("run {SUITE} --only {CASE} --seed 5 --out old --evidence none"));
    let mut old = desk.json("old/results.json");
    let more = another(&old);
    old["cases"].as_array_mut().expect("cases").push(more);
    desk.write("old.json", &old.to_string());
    let flags: Vec<&str> = LESS.iter().map(|(_, flag, _)| *flag).collect();
    for (change, flag, line) in LESS {
        let mut results = old.clone();
        change(&mut results);
        desk.write("new.json", &results.to_string());
        let left = desk.rigctl("compare old.json new.json");
        assert_eq!(left.code, 1, "{line}: {left:?}");
        let first = format!("{line} ({flag})\n");
        assert!(left.stdout.starts_with(&first), "{first}{}", left.stdout);
        let others: Vec<&str> = flags.iter().filter(|other| *other != flag).copied().collect();
        let left = desk.rigctl(&format!("compare old.json new.json {}", others.join(" ")));
        assert_eq!(left.code, 1, "{line}, all others allowed: {left:?}");
        let left = desk.rigctl(&format!("compare old.json new.json {flag} {flag}"));
        assert_eq!(left.code, 0, "{line}, allowed: {left:?}");
        let first = format!("{line}, allowed\n");
        assert!(left.stdout.starts_with(&first), "{first}{}", left.stdout);
        let json = desk.rigctl(&format!("compare old.json new.json --format json {flag}"));
        let comparison: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
        let lack = &comparison["lacks"][0];
        assert_eq!((json.code, &comparison["worse"]), (0, &false.into()), "{comparison}");
        assert_eq!((&lack["flag"], &lack["allowed"]), (&(*flag).into(), &true.into()));
    }
}

#[test]
fn two_things_that_a_run_lacks_are_both_told_and_both_allowed_by_name() {
    let both = |results: &mut serde_json::Value| {
        undecided(results, "inconclusive");
        results["partial"] = "interrupted".into();
    };
    let left = after(both, "");
    assert_eq!(left.code, 1, "{left:?}");
    for line in ["     Partial ", "\n   Undecided 1 case "] {
        assert!(left.stdout.contains(line), "{}", left.stdout);
    }
    assert_eq!(after(both, "--allow-partial").code, 1);
    assert_eq!(after(both, "--allow-undecided").code, 1);
    assert_eq!(after(both, "--allow-undecided --allow-partial").code, 0);
}

#[test]
fn no_leave_to_lack_something_is_leave_to_fail() {
    let failed = |results: &mut serde_json::Value| {
        results["cases"][0]["verdict"] = "fail".into();
        results["partial"] = "interrupted".into();
    };
    let all: Vec<&str> = LESS.iter().map(|(_, flag, _)| *flag).collect();
    assert_eq!(after(failed, &all.join(" ")).code, 1);
}

/// The first block of shell in the page on nightly runs.
fn nightly_script() -> String {
    let page = include_str!("../../../docs/nightly.md");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("a script in docs/nightly.md").to_owned()
}

#[test]
fn a_night_that_was_killed_is_red_as_the_documentation_says() {
    let desk = Desk::new();
    desk.write("nightly.sh", &nightly_script());
    std::fs::create_dir(desk.path("testcases")).expect("a folder");
    desk.write("testcases/few.yaml", &suite(&format!("{STORM}{DETECTION}")));
    // `rigctl` as cron would find it; a run of it is killed where the test asks for that.
    std::fs::create_dir(desk.path("bin")).expect("a folder");
    let bin = "#!/bin/sh\nif [ \"$1\" = run ] && [ -n \"$KILLED\" ]; then kill -KILL $$; fi\nexec \"$RIGCTL\" \"$@\"\n";
    desk.write("bin/rigctl", bin);
    let night = |before: &str| {
        desk.shell(&format!("chmod +x bin/rigctl; {before} PATH=\"$PWD/bin:$PATH\" sh nightly.sh"))
    };
    // As if it had been the night before.
    let pass = "rm night/*.txt; mv night/2* night/first && ln -sfn first night/last;";
    let first = night("");
    assert_eq!(first.code, 0, "{first:?}");
    let second = night(pass);
    assert_eq!(second.code, 0, "{second:?}");
    let good = std::fs::read_link(desk.path("night/last")).expect("a link");
    assert_ne!(good.to_str(), Some("first"), "the good night took its place");
    let killed = night(
        "rm night/*.txt; rm -r night/first; mv night/2* night/first && ln -sfn first night/last; KILLED=1",
    );
    assert_eq!(killed.code, 1, "{killed:?}");
    assert!(killed.stdout.contains(": cannot be read"), "{killed:?}");
    let last = std::fs::read_link(desk.path("night/last")).expect("a link");
    assert_eq!(last.to_str(), Some("first"));
}
