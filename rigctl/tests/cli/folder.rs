//! The folder of a run: made for it, held by it, and nothing of anybody else's touched.

use crate::support::{Desk, ended};
use rig_oracle::measure::Registry;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout};

const FEW: &str = "run --only cnp::* --seed 7 --jobs 1 --evidence none";

/// A run that has told of so many cases, and what it goes on to tell.
fn under_way(desk: &Desk, arguments: &str, cases: usize) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    let mut child = command.args(arguments.split_whitespace()).spawn().expect("rigctl starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let passed = lines.by_ref().flatten().filter(|line| line.contains("PASS")).take(cases).count();
    assert_eq!(passed, cases);
    (child, lines)
}

const ALL: &str = "run --seed 7 --jobs 1 --evidence none --out night";

#[test]
fn a_run_that_is_killed_leaves_no_report_of_the_one_before() {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("{FEW} --out night"));
    assert_eq!(left.code, 0, "{}", left.stderr);
    let green = desk.files("night");
    let left = desk.rigctl(ALL);
    assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{}", left.stderr);
    assert!(left.stderr.contains("`--out night` holds a run already"), "{}", left.stderr);
    assert!(left.stderr.contains("want: a new folder, or --overwrite"), "{}", left.stderr);
    assert_eq!(desk.files("night"), green);
    let (mut child, _) = under_way(&desk, &format!("{ALL} --overwrite"), 2);
    child.kill().expect("it runs");
    ended(child);
    assert_eq!(desk.files("night~1"), green);
    assert!(!desk.path("night/results.json").exists());
    let left = desk.rigctl("compare night~1 night");
    assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{}", left.stderr);
    assert!(left.stderr.contains("want: `rigctl report night` first"), "{}", left.stderr);
    // What it wrote down makes its reports, and they say what they are of.
    let left = desk.rigctl("report night");
    assert_eq!(left.code, 4, "{}", left.stderr);
    let results = desk.json("night/results.json");
    let ran = results["cases"].as_array().expect("cases").len();
    let not_run = results["not_run"].as_array().expect("not run").len();
    assert!(ran >= 2 && not_run > 10, "{ran} ran, {not_run} did not");
    let why = format!("the run died after {ran} of {} cases", ran + not_run);
    for text in [left.stdout, desk.read("night/junit.xml"), desk.read("night/report.html")] {
        assert!(text.contains(&why), "{why}: {text}");
    }
    assert!(results["partial"].as_str().expect("partial").starts_with(&why));
    let left = desk.rigctl("compare night~1 night");
    assert_eq!(left.code, 1, "{}", left.stdout);
    assert!(left.stdout.contains(&why), "{}", left.stdout);
}

#[test]
fn the_junit_report_of_an_earlier_run_does_not_stand_for_one_that_was_killed() {
    let desk = Desk::new();
    assert_eq!(desk.rigctl(&format!("{FEW} --out first --junit ci.xml")).code, 0);
    assert!(desk.read("ci.xml").contains("errors=\"0\""));
    let (mut child, _) = under_way(&desk, &format!("{ALL} --junit ci.xml"), 1);
    child.kill().expect("it runs");
    ended(child);
    let xml = desk.read("ci.xml");
    let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
    let count: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let why = format!("the run died after 0 of {count} cases");
    assert!(xml.contains(&why), "{why}: {}", &xml[..600]);
    assert!(xml.contains(&format!("errors=\"{count}\"")), "{}", &xml[..600]);
}

#[test]
fn a_junit_report_goes_into_a_file_and_waits_for_nobody() {
    let desk = Desk::new();
    for place in ["pipe", "/dev/null", "link", "/dev/full"] {
        let make = "test -p pipe || mkfifo pipe; test -L link || ln -s /dev/zero link";
        assert_eq!(desk.shell(make).code, 0);
        let left = desk.rigctl(&format!("{FEW} --out out --junit {place}"));
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{place}: {}", left.stderr);
        let want = format!("`--junit {place}`: it is there, and no file\n   = want: a new file");
        assert!(left.stderr.contains(&want), "{}", left.stderr);
        assert!(!desk.path("out").exists());
    }
}

#[test]
fn a_junit_report_takes_the_place_of_no_file_of_the_users_or_of_a_run() {
    let desk = Desk::new();
    assert_eq!(desk.rigctl(&format!("{FEW} --out first --junit first/junit.xml")).code, 0);
    desk.write("suite.yaml", "precious");
    desk.write("empty", "");
    for (place, why) in [
        ("suite.yaml", "it is there, and no report"),
        ("out/results.json", "out holds a run"),
        ("out/events.jsonl", "out holds a run"),
        ("./out/.rigctl", "out holds a run"),
        ("first/new.xml", "first holds a run"),
        ("first/evidence/x.xml", "first holds a run"),
        ("first/report.html", "first holds a run"),
    ] {
        let left = desk.rigctl(&format!("{FEW} --out out --junit {place}"));
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{place}: {}", left.stderr);
        assert!(left.stderr.contains(why), "{place}: {}", left.stderr);
        assert!(!desk.path("out").exists());
    }
    assert_eq!(desk.read("suite.yaml"), "precious");
    // In a folder that is there and empty, too.
    assert_eq!(desk.shell("mkdir out").code, 0);
    let left = desk.rigctl(&format!("{FEW} --out out --junit out/results.json"));
    assert_eq!(left.code, 2, "{}", left.stderr);
    for place in ["empty", "first/junit.xml", "new.xml", "new.xml", "out/junit.xml"] {
        let left = desk.rigctl(&format!("{FEW} --overwrite --out out --junit {place}"));
        assert_eq!(left.code, 0, "{place}: {}", left.stderr);
        assert!(desk.read(place).starts_with("<?xml"), "{place}");
    }
}

#[test]
fn a_folder_that_cannot_be_marked_is_taken_away_and_the_run_before_stays_in_its_place() {
    let desk = Desk::new();
    // No file may have a byte.
    let full = |flags: &str| desk.shell(&format!("ulimit -f 0; $RIGCTL {FEW} --out night {flags}"));
    let left = full("");
    assert_ne!(left.code, 0, "{}", left.stdout);
    assert!(left.stderr.contains("`--out night` cannot be written"), "{}", left.stderr);
    assert!(!desk.path("night").exists());
    assert_eq!(desk.rigctl(&format!("{FEW} --out night")).code, 0);
    let before = desk.read("night/results.json");
    assert_ne!(full("--overwrite").code, 0);
    assert_eq!(desk.read("night/results.json"), before);
    assert!(!desk.path("night~1").exists());
    assert_eq!(desk.rigctl(&format!("{FEW} --overwrite --out night")).code, 0);
}

#[test]
fn reports_are_made_from_events_in_the_folder_and_not_from_where_a_link_leads() {
    let desk = Desk::new();
    assert_eq!(desk.rigctl(&format!("{FEW} --out night")).code, 0);
    let plant = "mv night/events.jsonl elsewhere; ln -s ../elsewhere night/events.jsonl";
    assert_eq!(desk.shell(plant).code, 0);
    let left = desk.rigctl("report night");
    assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{}", left.stderr);
    assert!(left.stderr.contains("night/events.jsonl: "), "{}", left.stderr);
}

#[test]
fn reports_made_again_are_those_that_the_run_wrote() {
    let desk = Desk::new();
    assert_eq!(desk.rigctl(&format!("{FEW} --out night")).code, 0);
    let [results, junit] = ["night/results.json", "night/junit.xml"].map(|name| desk.read(name));
    let left = desk.rigctl("report night");
    assert_eq!(left.code, 0, "{}", left.stderr);
    assert_eq!(desk.read("night/results.json"), results);
    // Times of cases are written down to the millisecond.
    let verdicts = |xml: &str| xml.matches("<testcase").count();
    assert_eq!(verdicts(&desk.read("night/junit.xml")), verdicts(&junit));
    for (arguments, want) in [
        ("report .", "no run of the rig's"),
        ("report nowhere", "cannot be read: No such file"),
        ("report night/junit.xml", "is there, and no folder"),
    ] {
        let left = desk.rigctl(arguments);
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{arguments}: {}", left.stderr);
        assert!(left.stderr.contains(want), "{arguments}: {}", left.stderr);
    }
}

#[test]
fn a_run_of_nothing_leaves_nothing_and_files_of_the_users_stay() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("x/evidence")).expect("writable");
    desk.write("x/evidence/own.txt", "precious");
    desk.write("x/results.json", "precious");
    let own = desk.files(".");
    for (arguments, code) in [
        ("run --only no::such --out x", 5),
        ("run --only no::such", 5),
        ("run --only cnp::* --out x", 2),
        ("run --only cnp::* --out x --overwrite", 2),
    ] {
        let left = desk.rigctl(arguments);
        assert_eq!(left.code, code, "{arguments}: {}", left.stderr);
        assert_eq!(desk.files("."), own, "{arguments}");
    }
    assert!(!desk.path("rig-runs").exists());
}

#[test]
fn one_folder_takes_one_run_at_a_time() {
    let desk = Desk::new();
    let (mut first, _) = under_way(&desk, ALL, 1);
    for second in [ALL.to_owned(), format!("{ALL} --overwrite"), "report night".to_owned()] {
        let left = desk.rigctl(&second);
        assert_eq!((left.code, left.stdout.as_str()), (4, ""), "{second}: {}", left.stderr);
        assert!(left.stderr.contains("is being written by another run"), "{}", left.stderr);
    }
    first.kill().expect("it runs");
    ended(first);
}

#[test]
fn a_folder_that_goes_away_in_the_middle_breaks_the_run() {
    let desk = Desk::new();
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/broadcom.yaml");
    let some =
        format!("run --only pfcwd::* --lab {lab} --seed 7 --jobs 1 --evidence none --out night");
    let (child, lines) = under_way(&desk, &some, 1);
    let away = |path: &Path| std::fs::remove_dir_all(path);
    away(&desk.path("night")).expect("it is there");
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(ended(child).code(), Some(4), "{rest:?}");
}

#[test]
fn runs_of_one_second_have_a_folder_each() {
    let desk = Desk::new();
    let start = || {
        let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
        command.args(FEW.split_whitespace()).spawn().expect("rigctl starts")
    };
    for child in [start(), start(), start()] {
        assert_eq!(crate::support::finish(child).code, 0);
    }
    let runs = std::fs::read_dir(desk.path("rig-runs")).expect("runs");
    assert_eq!(runs.count(), 4, "three runs and `latest`");
}
