//! Steps that run beside the tests, on the time of the processors that nothing else wants: by the scheduler's idle class a test that
//! wakes is served at once, as if nothing ran beside it. They have a build folder of their own, for cargo lets one command at a time
//! into a folder; what they print is shown whole when they end, not between the lines of the tests.

use super::Step;
use crate::watch::Watch;
use core::time::Duration;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// What puts a command into the idle class.
const IDLE: [&str; 3] = ["chrt", "--idle", "0"];

/// The words before a command that make it run in the idle class; nothing where the machine has none.
pub(super) fn idle() -> Option<&'static [&'static str]> {
    let tried = before(&IDLE, OsStr::new("true")).output();
    tried.is_ok_and(|tried| tried.status.success()).then_some(&IDLE)
}

/// All of what fails, not the first of it: nobody waits for it.
pub(super) fn run(
    idle: &[&str],
    cargo: &OsStr,
    root: &Path,
    steps: &[Step],
) -> (bool, Vec<(Step, Duration)>) {
    let mut took = Vec::new();
    let mut well = true;
    for step in steps {
        let watch = Watch::start();
        let mut command = step.command(before(idle, cargo), root);
        let output = command.env("CARGO_TARGET_DIR", root.join("target/beside")).output();
        took.push((*step, watch.elapsed()));
        let status = output.map(|output| {
            show(step, output.status, &output.stderr);
            output.status
        });
        well &= step.well(status);
    }
    (well, took)
}

/// A failure is told with all that was said; of what went well its name is enough.
fn show(step: &Step, status: ExitStatus, said: &[u8]) {
    println!("== beside: {}: cargo {}", step.name, step.args.join(" "));
    if !status.success() {
        eprintln!("{}", String::from_utf8_lossy(said));
    }
}

/// `program` with `words` before it.
pub(super) fn before(words: &[&str], program: &OsStr) -> Command {
    let Some((first, rest)) = words.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step { name: "good", args: &["0"], share: None };
    const BAD: Step = Step { name: "bad", args: &["7"], share: None };

    #[test]
    fn one_that_fails_does_not_keep_the_next_from_running() {
        // `sh -c 'exit $0' N` in place of cargo.
        let shell = ["sh", "-c"];
        let cargo = OsStr::new("exit $0");
        let names =
            |took: Vec<(Step, Duration)>| took.iter().map(|of| of.0.name).collect::<Vec<_>>();
        let (well, took) = run(&shell, cargo, Path::new("."), &[BAD, GOOD]);
        assert!(!well);
        assert_eq!(names(took), ["bad", "good"]);
        assert!(run(&shell, cargo, Path::new("."), &[GOOD]).0);
    }

    #[test]
    fn words_come_before_the_program() {
        let command = before(&IDLE, OsStr::new("cargo"));
        assert_eq!(command.get_program(), "chrt");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--idle", "0", "cargo"]);
        assert_eq!(before(&[], OsStr::new("cargo")).get_program(), "cargo");
    }
}
