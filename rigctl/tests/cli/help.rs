//! The texts that tell what there is.

use crate::support::Desk;

#[test]
fn every_command_documents_itself_and_the_exit_codes() {
    let desk = Desk::new();
    let mut all = String::new();
    for command in [
        "",
        "run",
        "check",
        "list",
        "explain",
        "mutants",
        "analyze",
        "compare",
        "size",
        "lint",
        "profile from-dut",
        "schema",
        "doctor",
        "restore",
        "gen",
        "guest",
        "guest build",
        "guest perftest",
        "bench",
        "bench oracle",
        "bench pacing",
        "bench tx",
    ] {
        let left = desk.rigctl(&format!("{command} --help"));
        assert_eq!((left.code, left.stderr.as_str()), (0, ""), "{command}");
        all.push_str(&format!("$ rigctl {command} --help\n{}\n", left.stdout));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let desk = Desk::new();
    for command in ["list", "explain pfcwd::trigger-ramp-broadcom", "mutants --list"] {
        let read = desk.shell(&format!("\"$RIGCTL\" {command} > /dev/null"));
        let left = desk.shell(&format!("\"$RIGCTL\" {command} | head -n 1"));
        assert_eq!((left.code, left.stderr), (0, read.stderr), "{command}");
        assert_eq!(left.stdout.lines().count(), 1, "{command}");
    }
}
