//! `list`: what of the catalogue a lab can have.

use crate::support::Desk;

#[test]
fn a_lab_that_nobody_can_ask_is_told_what_runs_what_runs_in_part_and_what_is_missing() {
    let desk = Desk::new();
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
    desk.write(
        "lab.yaml",
        &format!(
            "about: \"a switch\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [e1, e2, e3, e4], backend: af-xdp, bound: 1us, budget: 60s}}\nduts: [{profile}]\n"
        ),
    );
    let left = desk.rigctl("list --lab lab.yaml");
    assert_eq!(left.code, 0);
    // Beside the list, for people: what of it there is, and what the rest lacks.
    let table: Vec<&str> = left.stderr.lines().filter(|line| !line.is_empty()).collect();
    let [heads, broadcom] = table.as_slice() else { panic!("{}", left.stderr) };
    let heads: Vec<&str> = heads.split_whitespace().collect();
    assert_eq!(heads, ["device", "cases", "whole", "part", "control", "stamps", "found", "lab"]);
    let counts: Vec<usize> =
        broadcom.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(counts[0], counts[1..].iter().sum::<usize>(), "{broadcom}");
    assert!(counts[1] > 0 && counts[2] > 0 && counts[3] > 0 && counts[4] > 0, "{broadcom}");
    let row = |id: &str| {
        let mut rows = left.stdout.lines();
        rows.find(|row| row.starts_with(id)).unwrap_or_else(|| panic!("{id} in:\n{}", left.stdout))
    };
    assert!(
        row("pfcwd::both-lossless-classes-broadcom ")
            .ends_with("  broadcom (stamps within 83.884799us)"),
        "{}",
        left.stdout
    );
    let in_part = row("pfcwd::storm-counters-broadcom ");
    assert!(
        in_part.contains("  broadcom (stamps within 83.884799us)")
            && in_part.ends_with("without counters: the control `none` reads no counters"),
        "{in_part}"
    );
    assert!(row("pfcwd::second-storm-mellanox ").contains("  skipped: "), "{}", left.stdout);
}
