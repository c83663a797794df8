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
    assert_eq!((left.code, left.stderr.as_str()), (0, ""));
    let row = |id: &str| {
        let mut rows = left.stdout.lines();
        rows.find(|row| row.starts_with(id)).unwrap_or_else(|| panic!("{id} in:\n{}", left.stdout))
    };
    assert!(row("pfcwd::action-drop-broadcom ").ends_with("  broadcom"), "{}", left.stdout);
    let in_part = row("pfcwd::storm-counters-broadcom ");
    assert!(
        in_part.ends_with("  broadcom, without counters: the control `none` reads no counters"),
        "{in_part}"
    );
    assert!(row("pfcwd::second-storm-mellanox ").contains("  skipped: "), "{}", left.stdout);
}
