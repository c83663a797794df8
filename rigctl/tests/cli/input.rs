//! Wrong input: refused before anything runs, every fault told at its place, exit code 2.

use crate::support::{Desk, Left, STORM, suite};

const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

/// Runs what must be refused, and gives what it is told.
fn refused(desk: &Desk, arguments: &str) -> String {
    let Left { code, stdout, stderr } = desk.rigctl(arguments);
    assert_eq!((code, stdout.as_str()), (2, ""), "{arguments}: {stderr}");
    assert!(!desk.path("out").is_dir(), "{arguments}: something ran");
    stderr
}

#[test]
fn every_fault_of_a_file_is_told_at_once() {
    let desk = Desk::new();
    let storm = STORM.replace("every: 500us", "every: 500").replace("trials: 1", "trails: 1");
    let text = suite(&format!("{storm}{DETECTION}")).replace("action: drop", "action: dorp");
    desk.write("wrong.yaml", &text);
    for command in ["run --out out", "check"] {
        let said = refused(&desk, &format!("{command} wrong.yaml"));
        for (what, place) in
            [("dorp", "wrong.yaml:7:"), ("500", "wrong.yaml:8:"), ("trails", "wrong.yaml:13:")]
        {
            assert!(said.contains(what) && said.contains(place), "{what} at {place}: {said}");
        }
        assert!(said.contains("3 faults, nothing was run"), "{said}");
    }
}

#[test]
fn names_that_do_not_exist_are_answered_with_those_that_do() {
    let desk = Desk::new();
    desk.write("one.yaml", &suite(&format!("{STORM}{DETECTION}")));
    for (arguments, want) in [
        ("run one.yaml --dut brodcom --out out", "did you mean `broadcom`?"),
        ("run one.yaml --only [ --out out", "`--only [`"),
        ("run one.yaml --mutate pfcwd.detection_tim=x2 --out out", "pfcwd.detection_time"),
        ("run one.yaml --mutate deviation=drop_leeks --out out", "drop_leaks"),
        ("run one.yaml --mutate nonsense --out out", "want PATH=VALUE"),
        ("run no-such.yaml --out out", "no-such.yaml"),
        ("run one.yaml --lab no-such.yaml --out out", "no-such.yaml"),
        ("run --seed seven --out out", "invalid value 'seven' for '--seed <N>'"),
        (
            "explain pfcwd::detection-latenzy-broadcom",
            "did you mean pfcwd::detection-latency-broadcom",
        ),
        ("explain ecn::curv", "did you mean ecn::curve-broadcom"),
        ("analyze no-such.pcapng", "no-such.pcapng: cannot be read"),
        (
            "dut serve --dut between-two-switches-nics --port lo --control x",
            "is a device of a system",
        ),
        ("dut serve --dut two-in-a-row-near --port lo --control x", "is a device of a system"),
        ("dut serve --dut gen1-to-gen2 --port lo --control x", "a pair of NICs: want two `--port`"),
        ("dut serve --dut broadcom --port lo", "--control <SOCKET>"),
        ("dut serve --dut broadcom --port lo --as sonic", "--redis <unix:PATH>"),
        ("dut serve --dut broadcom --port lo --as sonic --redis tcp:leaf:6379", "want: unix:PATH"),
        (
            "dut serve --dut broadcom --port lo --as sonic --redis unix:x --fault deaf",
            "want one of deaf-asic, late-counters=TIME",
        ),
        ("frobnicate", "unrecognized subcommand"),
    ] {
        let said = refused(&desk, arguments);
        assert!(said.contains(want), "{arguments}: {said}");
    }
}

#[test]
fn several_wrong_flags_and_files_are_all_told() {
    let desk = Desk::new();
    let said = refused(&desk, "run no-such.yaml --lab nor-this.yaml --only [ --out out");
    for want in ["no-such.yaml", "nor-this.yaml", "--only"] {
        assert!(said.contains(want), "{want}: {said}");
    }
}

#[test]
fn a_rate_that_no_port_can_carry_is_refused() {
    let desk = Desk::new();
    let storm = STORM.replace("every: 500us", "every: 10ns");
    desk.write("fast.yaml", &suite(&format!("{storm}{DETECTION}")));
    let said = refused(&desk, "run fast.yaml --out out");
    assert!(said.contains("fast.yaml") && said.contains("victim"), "{said}");
}

#[test]
fn a_storm_that_cannot_be_held_is_refused() {
    let desk = Desk::new();
    let storm = STORM.replace("classes: [3]", "classes: [3], refresh: 1.5x");
    desk.write("lapsing.yaml", &suite(&format!("{storm}{DETECTION}")));
    let said = refused(&desk, "run lapsing.yaml --out out");
    assert!(said.contains("cannot be gap-free") && said.contains("lapsing.yaml:9:"), "{said}");
    assert!(said.contains("storm-lapse"), "{said}");
}

#[test]
fn a_lab_that_is_none_is_refused_at_its_place() {
    let desk = Desk::new();
    desk.write(
        "lab.yaml",
        "about: \"x\"\ntransport: telepathy\ncable: 3\nduts: [duts/none.yaml]\n",
    );
    let said = refused(&desk, "run --lab lab.yaml --out out");
    assert!(said.contains("lab.yaml:2:") && said.contains("telepathy"), "{said}");
    assert!(said.contains("lab.yaml:3:"), "{said}");
}

#[test]
fn a_file_in_the_place_of_the_output_folder_is_refused() {
    let desk = Desk::new();
    desk.write("out", "in the way");
    let said = refused(&desk, "run --out out");
    assert!(said.contains("`--out out` is there, and no folder"), "{said}");
    assert_eq!(desk.read("out"), "in the way");
}

#[test]
fn a_filter_that_matches_nothing_is_answered_with_what_was_meant() {
    let desk = Desk::new();
    for (only, want) in [
        (
            "detection-latency",
            "did you mean `--only '*detection-latency*'`: pfcwd::detection-latency-broadcom, ",
        ),
        ("pfcwd::detection-latenzy-broadcom", "did you mean pfcwd::detection-latency-broadcom"),
        ("zzzzzzzz", "rigctl list names them all"),
    ] {
        for command in ["run --evidence none --out out", "list", "check"] {
            let Left { code, stderr, .. } = desk.rigctl(&format!("{command} --only {only}"));
            assert_eq!(code, 5, "{command} {only}: {stderr}");
            let none = format!("note: no case matches `--only {only}`");
            assert!(stderr.contains(&none) && stderr.contains(want), "{only}: {stderr}");
            let _gone = std::fs::remove_dir_all(desk.path("out"));
        }
    }
}

#[test]
fn a_family_is_explained_by_the_name_that_its_file_has() {
    let desk = Desk::new();
    let Left { code, stdout, stderr } = desk.rigctl("explain ecn::curve");
    assert_eq!(code, 0, "{stderr}");
    for family in ["broadcom", "mellanox", "cisco-8000", "barefoot"] {
        assert!(stdout.contains(&format!("ecn::curve-{family}\n")), "{family}: {stdout}");
    }
}

#[test]
fn sizes_and_shares_are_told_what_is_wrong_with_them() {
    let desk = Desk::new();
    for (from, to, want) in [
        (
            "size: 254B",
            "size: 1GB",
            "a frame of 1GB is longer than the longest that any device takes",
        ),
        ("size: 254B", "size: 20B", "a frame of 20B does not hold its headers"),
        (
            "every: 500us}}",
            "rate: 150%}}",
            "`150%` is not a stream rate: it is more than the whole port",
        ),
    ] {
        let text = suite(&format!("{STORM}{DETECTION}")).replace(from, to);
        desk.write("wrong.yaml", &text);
        let said = refused(&desk, "run wrong.yaml --out out");
        assert!(said.contains(want) && said.contains("wrong.yaml:8:"), "{to}: {said}");
    }
}

#[test]
fn frames_that_a_device_does_not_take_are_no_fault_of_the_file() {
    let desk = Desk::new();
    let text = suite(&format!("{STORM}{DETECTION}")).replace("size: 254B", "size: 10000B");
    desk.write("long.yaml", &text);
    let Left { code, stdout, stderr } = desk.rigctl("run long.yaml --out out");
    assert_eq!(code, 5, "{stdout}{stderr}");
    let why = "frames of 10KB are sent, and it takes frames up to 9122B";
    assert!(format!("{stdout}{stderr}").contains(why), "{stdout}{stderr}");
}

/// Flags of perftest that the rig has to understand, or gives itself: no guest is booted for them.
#[test]
fn flags_of_perftest_that_are_wrong_are_refused_by_name_before_a_guest_is_booted() {
    let desk = Desk::new();
    for (words, said) in [
        ("ib_write_lat -- -n 4", "ib_write_lat: -n: want 5 to 100000000, got 4".to_owned()),
        ("ib_write_lat -- -s 0", "ib_write_lat: -s: want 1 to 2147483647, got 0".to_owned()),
        (
            "ib_write_lat -- -a",
            "ib_write_lat: -a: want -n and -s, as its peer has to know its messages".to_owned(),
        ),
        (
            "ib_read_lat --rig client -- -n 9 -q 2",
            "ib_read_lat: -q: want 1, as there is one queue pair, got 2".to_owned(),
        ),
        (
            "ib_atomic_lat --rig client -- -s 16",
            "ib_atomic_lat: -s: want none, as an atomic is on 8 B, got 16".to_owned(),
        ),
        (
            "ib_send_bw --rig client -- -n 9 -b",
            "ib_send_bw: -b: want none, as the rig asks by itself alone".to_owned(),
        ),
        (
            "ib_write_bw --rig client -- -D 3",
            "ib_write_bw: -D: want -n and -s, as its peer has to know its messages".to_owned(),
        ),
        (
            "ib_read_bw --rig client -- -q 17",
            "ib_read_bw: -q: want 1 to 16, got 17".to_owned(),
        ),
        (
            "ib_read_lat -- -n 9 -x 3",
            "`-x` is no flag for ib_read_lat\n   = want: no device, port or GID, which the rig gives it"
                .to_owned(),
        ),
        (
            "ib_read_bw --rig client -- -Fa",
            "ib_read_bw: -Fa: want -n and -s, as its peer has to know its messages".to_owned(),
        ),
        (
            "ib_send_bw --rig client -- --bidir",
            "ib_send_bw: --bidir: want none, as the rig asks by itself alone".to_owned(),
        ),
        (
            "ib_send_bw -- -n 40 -c UD",
            "ib_send_bw: -c: want RC, as the rig has reliable connections alone, got `UD`".to_owned(),
        ),
        (
            "ib_write_bw -- -n 3",
            "ib_write_bw: -n: want 5 to 100000000, got 3".to_owned(),
        ),
        (
            "ib_write_bw -- -R",
            "ib_write_bw: -R: want none, as the rig is met over TCP".to_owned(),
        ),
        (
            "ib_send_bw -- -n 9 10.0.0.1",
            "`10.0.0.1` is no flag for ib_send_bw\n   = want: flags and their values, as the host is the rig's to give"
                .to_owned(),
        ),
    ] {
        let left = desk.rigctl(&format!("guest perftest {words}"));
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{words}: {left:?}");
        let fault = format!("error: {said}\n\n1 fault, nothing was run\n");
        assert_eq!(left.stderr, fault, "{words}");
    }
    let left = desk.rigctl("guest perftest ib_read_late");
    assert_eq!(left.code, 2, "{left:?}");
    assert!(left.stderr.contains("'ib_read_late'") && left.stderr.contains("ib_atomic_lat"));
}

/// A storm that is to have gaps has them, too, where nobody can be asked what came of them: a lab of a switch that the rig has no way to was refused with all of the catalogue.
#[test]
fn the_catalogue_is_taken_for_a_switch_that_nobody_can_ask_at_every_speed() {
    let desk = Desk::new();
    let profile =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml").to_owned();
    for speed in ["1Gbps", "400Gbps"] {
        let lab = format!(
            "about: \"a\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [eth1, eth2, eth3, eth4], speed: {speed}, bound: 4ms, budget: 240s}}\nduts: [{profile}]\n"
        );
        desk.write("my-lab.yaml", &lab);
        let left = desk.rigctl("check --lab my-lab.yaml");
        assert_eq!(left.code, 0, "{speed}: {}", left.stderr);
    }
}
