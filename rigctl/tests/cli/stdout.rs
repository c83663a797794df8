//! Standard output that cannot be written: a full disk is exit code 4 with a line that says so, a reader that went away is
//! nothing. Every command is tried.

use crate::support::{Desk, Left, STORM, finish, suite};
use clap::CommandFactory as _;
use rigctl::cli::Cli;
use std::fs::OpenOptions;
use std::process::Stdio;

/// A suite of one case, on the one device that suits it.
const FAST: &str = concat!(
    "few.yaml --seed 5 --lab ",
    env!("CARGO_MANIFEST_DIR"),
    "/../lab-configs/broadcom.yaml"
);
/// CONFIG_DB of a switch, made by hand.
const SONIC: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../dut-adapters/testdata/sonic/leaf.json");
const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";

/// Every command with what it prints in each of its ways, and its exit code where it can print. `dut serve` is left out: it
/// prints nothing, and steers a device by standard output only where that is asked for.
const COMMANDS: &[(&str, i32)] = &[
    ("--help", 0),
    ("--version", 0),
    ("run --help", 0),
    ("run FAST --evidence none --out OUT", 0),
    ("run FAST --evidence none --out OUT --format json", 0),
    ("run FAST --evidence none --out OUT --mutate pfcwd.detection_time=x2", 1),
    ("run few.yaml --only no-such --out OUT", 5),
    ("check few.yaml", 0),
    ("list few.yaml", 0),
    ("explain few::one-case few.yaml", 0),
    ("mutants --list", 0),
    ("mutants --list --format json", 0),
    ("mutants few.yaml --only few::one-case --dut broadcom", 1),
    ("mutants few.yaml --dut broadcom --per-case --format json", 0),
    ("analyze made.pcapng", 0),
    ("analyze made.pcapng --format json", 0),
    ("report old", 0),
    ("compare old old", 0),
    ("compare old old --format json", 0),
    ("compare old old --common --format human", 0),
    ("size", 0),
    ("size --format json", 0),
    ("lint broadcom", 0),
    ("lint mellanox", 1),
    ("lint --list", 0),
    ("profile from-dut --config-db SONIC", 0),
    ("schema testcase", 0),
    ("schema lab", 0),
    ("schema dut", 0),
    ("schema results", 0),
    ("doctor", 0),
    ("doctor --format json", 0),
    ("gen --to gen.pcapng --stream kind=udp,size=256B,every=10us,count=5", 0),
    ("gen --to gen.pcapng --stream kind=udp,size=256B,every=10us,count=5 --format json", 0),
    ("bench frames", 0),
    ("guest build --help", 0),
    ("guest perftest --help", 0),
];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("few.yaml", &suite(&format!("{STORM}{DETECTION}")));
    let made = "gen --to made.pcapng --stream kind=udp,size=256B,every=10us,count=5";
    assert_eq!(desk.rigctl(made).code, 0);
    let old = desk.rigctl(&format!("run {FAST} --out old --evidence none"));
    assert_eq!(old.code, 0, "{old:?}");
    desk
}

fn with_stdout(desk: &Desk, arguments: &str, stdout: Stdio) -> Left {
    // A folder of its own for each run.
    let out = desk.files(".").len();
    let arguments = arguments.replace("FAST", FAST).replace("SONIC", SONIC);
    let arguments = arguments.replace("OUT", &format!("out-{out}"));
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    command.args(arguments.split_whitespace()).stdout(stdout);
    finish(command.spawn().expect("rigctl starts"))
}

fn device(path: &str) -> Stdio {
    OpenOptions::new().write(true).open(path).expect("a device").into()
}

/// A pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

#[test]
fn a_full_disk_is_told_and_a_reader_that_went_away_is_not() {
    let desk = desk();
    for &(command, exit) in COMMANDS {
        let left = with_stdout(&desk, command, closed());
        assert_eq!(left.code, exit, "{command} into a closed pipe: {left:?}");
        assert!(!left.stderr.contains("standard output"), "{command}: {}", left.stderr);
        let usual = left.stderr.lines().count();
        let left = with_stdout(&desk, command, device("/dev/full"));
        assert_eq!(left.code, 4, "{command} > /dev/full: {left:?}");
        let said =
            "error: standard output cannot be written: No space left on device (os error 28)\n";
        assert!(left.stderr.ends_with(said), "{command}: {}", left.stderr);
        assert_eq!(left.stderr.lines().count(), usual + 1, "{command}: {}", left.stderr);
    }
}

#[test]
fn no_command_is_left_out() {
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        let tried = COMMANDS.iter().any(|(line, _)| line.split_whitespace().next() == Some(name));
        // `dut` serves until it is ended; of `restore` there is nothing to be said where nothing is left.
        assert_eq!(tried, !["dut", "restore"].contains(&name), "{name}");
    }
}

#[test]
fn what_goes_to_files_is_written_though_the_terminal_text_is_not() {
    let desk = desk();
    for format in ["human", "json"] {
        let out = format!("full-{format}");
        let run = format!("run FAST --out {out} --junit {out}.xml --format {format}");
        assert_eq!(with_stdout(&desk, &run, device("/dev/full")).code, 4);
        let results = desk.json(&format!("{out}/results.json"));
        assert_eq!((&results["partial"], &results["summary"]["passed"]), (&().into(), &1.into()));
        for name in ["junit.xml", "report.html", "events.jsonl"] {
            assert!(!desk.read(&format!("{out}/{name}")).is_empty(), "{name}");
        }
        assert_eq!(desk.files(&format!("{out}/evidence")).len(), 1);
        assert!(desk.path(&format!("{out}.xml")).is_file());
    }
}
