//! `check`: what would run, and what it would tell.

use crate::support::Desk;

/// What is printed below the line of a case.
fn below<'a>(text: &'a str, case: &str) -> Vec<&'a str> {
    let mut lines = text.lines().skip_while(|line| !line.contains(case));
    assert!(lines.next().is_some(), "{case} in:\n{text}");
    lines.take_while(|line| line.starts_with("                         ")).map(str::trim).collect()
}

#[test]
fn what_a_case_would_tell_hangs_on_the_timestamps_of_the_lab() {
    const CASE: &str = "pfcwd::detection-latency-broadcom";
    let desk = Desk::new();
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/pfcwd.yaml");
    let told = |more: &str| {
        let left = desk.rigctl(&format!("check {suite} --only {CASE} {more}"));
        assert_eq!(left.code, 0, "{}", left.stderr);
        left.stdout
    };
    let plain = told("");
    assert_eq!(below(&plain, CASE), Vec::<&str>::new());
    let exact = told("--resolution");
    let off = |bound: &str| {
        let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
        let lab = format!(
            "about: \"a switch\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [e1, e2, e3, e4], backend: af-xdp, bound: {bound}, budget: 60s}}\nduts: [{profile}]\n"
        );
        desk.write("lab.yaml", &lab);
        told("--resolution --lab lab.yaml")
    };
    let (near, far) = (off("1us"), off("20us"));
    let detection = |text: &str| {
        let lines = below(text, CASE);
        let first = lines.first().unwrap_or_else(|| panic!("{text}"));
        assert!(first.starts_with("pfcwd.detection storm, victim, "), "{text}");
        let (_, alike) = first.split_once("pfcwd.poll_interval in ").expect("an interval");
        alike.split_once(']').map_or(alike, |(alike, _)| alike).to_owned()
    };
    // Of two trials each reading is as wide as its stamps leave it.
    let all = [&exact, &near, &far].map(|text| detection(text));
    assert!(all[0] != all[1] && all[1] != all[2], "{all:?}");
    assert!(near.contains("with timestamps off by as much as this lab's may be, 1us"), "{near}");
    assert!(exact.contains("with exact timestamps"), "{exact}");
    // The same twice.
    assert_eq!(told("--resolution"), exact);
}

#[test]
fn a_case_that_would_decide_nothing_says_why() {
    let desk = Desk::new();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/gen2.yaml");
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../testcases/host-ets.yaml");
    desk.write(
        "lab.yaml",
        &format!("about: \"a NIC, and stamps that tell little\"\ntransport: virtual\nwire: {{bound: 16ms}}\ncable: 3m\nduts: [{profile}]\n"),
    );
    let only = "host-ets::hlk-single-class";
    let left = desk.rigctl(&format!("check {suite} --lab lab.yaml --only {only} --resolution"));
    assert_eq!(left.code, 0, "{}", left.stderr);
    let below = below(&left.stdout, only);
    assert!(
        below[0].starts_with("inconclusive on a device as declared: not-measured: nic.shares: "),
        "{}",
        left.stdout
    );
}
