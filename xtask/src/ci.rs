//! What CI runs, one step after the other; stops at the first that fails. Each step's minutes are printed, with its share
//! of what CI may take: what exceeds its share belongs to `cargo xtask nightly`.
//!
//! Tests on wires and in guests wait more than they compute, so what only compiles runs beside them on what they leave idle
//! ([`beside`]), where the machine can be told so, and so do the tests that only compute ([`aside`]).

mod aside;
mod beside;

pub(crate) use aside::start;

use crate::dpdk_shim;
use crate::watch::{Minutes, Watch};
use aside::Aside;
use core::time::Duration;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// One step: a cargo command line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    /// Minutes that it may take of [`WHOLE`]; `None` where only the whole is limited.
    share: Option<u64>,
}

/// Minutes that all steps together may take on two cores, from a checkout in which nothing is built.
const WHOLE: u64 = 25;

/// What takes a second: it comes first.
const FORMAT: Step = Step { name: "format", args: &["fmt", "--all", "--check"], share: None };

/// What is compiled to be looked at and never run.
const LOOKS: &[Step] = &[
    Step {
        name: "lint",
        args: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        share: None,
    },
    Step { name: "doc", args: &["doc", "--workspace", "--no-deps", "--locked"], share: None },
];

/// All of what fails, not the first of it.
const TEST: Step = Step {
    name: "test",
    args: &["test", "--workspace", "--locked", "--no-fail-fast"],
    share: None,
};

/// Steps that need DPDK: they link it in. The tests open its shim at run time. They are asked of the whole workspace, though all that
/// the feature changes is the generator and this test of it: of one package alone cargo would choose other features for what it depends
/// on, and build forty crates a second time.
const DPDK_STEPS: &[Step] = &[
    Step {
        name: "shim",
        args: &["run", "--quiet", "--package", "xtask", "--locked", "--", "dpdk-shim"],
        share: None,
    },
    Step {
        name: "test with DPDK",
        args: &[
            "test",
            "--workspace",
            "--features",
            "rig-generator/dpdk",
            "--test",
            "dpdk",
            "--locked",
        ],
        share: None,
    },
];

/// The look at what only DPDK's feature compiles.
const DPDK_LOOK: Step = Step {
    name: "lint with DPDK",
    args: &[
        "clippy",
        "--workspace",
        "--features",
        "rig-generator/dpdk",
        "--test",
        "dpdk",
        "--locked",
        "--",
        "-D",
        "warnings",
    ],
    share: None,
};

/// Licences, versions and sources of what is built in, as `deny.toml` allows them. Under a second.
const DENY: Step = Step {
    name: "dependencies",
    args: &["deny", "--offline", "--locked", "check", "licenses", "bans", "sources"],
    share: None,
};

/// Whether there is a `cargo deny`; [`DENY`] is left out without it, but where everything is required.
fn has_deny(cargo: &OsStr) -> bool {
    let asked = Command::new(cargo).args(["deny", "--version"]).output();
    asked.is_ok_and(|answer| answer.status.success())
}

/// Runs every step; the tidy rules come with the tests.
pub(crate) fn run(root: &Path) -> bool {
    let watch = Watch::start();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    let lacks = dpdk_shim::lacks();
    let dpdk = lacks.is_empty() || required;
    if !dpdk {
        println!("== DPDK is left out: {}", lacks.join("; "));
    }
    let deny = required || has_deny(&cargo);
    if !deny {
        println!("== {} are left out: there is no `cargo deny`", DENY.name);
    }
    let idle = beside::idle();
    let (first, rest) = plan(deny, dpdk, idle.is_some());
    let mut took = Vec::new();
    let mut well = in_turn(&cargo, root, &first, &mut took);
    if well {
        let looks = looks(dpdk);
        well = match idle {
            Some(idle) => std::thread::scope(|scope| {
                let beside = scope.spawn(|| beside::run(idle, &cargo, root, &looks));
                let well = in_turn(&cargo, root, &rest, &mut took);
                let (looked, beside_took) = beside.join().unwrap_or_default();
                took.extend(beside_took);
                well && looked
            }),
            None => in_turn(&cargo, root, &rest, &mut took),
        };
    }
    print!("{}", told(&took, watch.elapsed()));
    well
}

/// What is looked at.
fn looks(dpdk: bool) -> Vec<Step> {
    LOOKS.iter().copied().chain([DPDK_LOOK].into_iter().filter(|_| dpdk)).collect()
}

/// What comes first, and what comes then: looks first of all where nothing can run `beside` the tests, for what is wrong in them shows
/// in a minute.
fn plan(deny: bool, dpdk: bool, beside: bool) -> (Vec<Step>, Vec<Step>) {
    let first = [DENY].into_iter().filter(|_| deny).chain([FORMAT]);
    let looks = looks(dpdk).into_iter().filter(|_| !beside);
    let dpdk = DPDK_STEPS.iter().copied().filter(|_| dpdk);
    (first.collect(), looks.chain(dpdk).chain([TEST]).collect())
}

/// Runs steps until one fails, each on the terminal.
fn in_turn(cargo: &OsStr, root: &Path, steps: &[Step], took: &mut Vec<(Step, Duration)>) -> bool {
    steps.iter().all(|step| {
        println!("== {}: cargo {}", step.name, step.args.join(" "));
        let watch = Watch::start();
        let mut command = step.command(Command::new(cargo), root);
        let aside = if *step == TEST { Aside::listen(cargo) } else { None };
        let variables = aside.iter().flat_map(Aside::variables);
        let well = step.well(command.envs(variables).status());
        // All of what fails, not the first of it.
        let well = aside.is_none_or(Aside::end) && well;
        took.push((*step, watch.elapsed()));
        well
    })
}

impl Step {
    /// The step as a command of `cargo`, which may have words before cargo's own.
    fn command(&self, mut cargo: Command, root: &Path) -> Command {
        cargo.args(self.args).current_dir(root);
        if self.name == "doc" {
            cargo.env("RUSTDOCFLAGS", "-D warnings");
        }
        cargo
    }

    /// Whether it did what it should; says so where it did not.
    fn well(&self, status: std::io::Result<ExitStatus>) -> bool {
        match status {
            Ok(status) if status.success() => return true,
            Ok(status) => eprintln!("== {} failed: {status}", self.name),
            Err(error) => eprintln!("== {}: cannot start cargo: {error}", self.name),
        }
        false
    }
}

/// What each step took, and all of them.
fn told(took: &[(Step, Duration)], whole: Duration) -> String {
    let over = |took: Duration, share: u64| match took > Duration::from_secs(share * 60) {
        true => format!(" of {share}: the rest belongs to `cargo xtask nightly`"),
        false => format!(" of {share}"),
    };
    let mut text = String::from("== what it took\n");
    for (step, took) in took {
        let share = step.share.map(|share| over(*took, share)).unwrap_or_default();
        text += &format!("   {:<16}{:>10}{share}\n", step.name, Minutes(*took).to_string());
    }
    text + &format!("   {:<16}{:>10}{}\n", "all", Minutes(whole).to_string(), over(whole, WHOLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_told_with_its_minutes_and_its_share() {
        let step = |name, share| Step { name, args: &[], share };
        let (lint, test, slow) = (step("lint", None), step("test", None), step("matrix", Some(3)));
        let seconds = Duration::from_secs;
        let text = told(
            &[(lint, seconds(66)), (test, seconds(1_200)), (slow, seconds(240))],
            seconds(1_506),
        );
        let want = "== what it took\n\
                    \x20  lint               1.1 min\n\
                    \x20  test              20.0 min\n\
                    \x20  matrix             4.0 min of 3: the rest belongs to `cargo xtask nightly`\n\
                    \x20  all               25.1 min of 25: the rest belongs to `cargo xtask nightly`\n";
        assert_eq!(text, want);
        assert!(told(&[(slow, seconds(180))], seconds(180)).contains("3.0 min of 3\n"));
    }

    #[test]
    fn what_is_only_compiled_runs_beside_the_tests_where_it_can_and_before_them_where_not() {
        let names = |steps: Vec<Step>| steps.iter().map(|step| step.name).collect::<Vec<_>>();
        let (first, rest) = plan(true, true, true);
        assert_eq!(names(first), ["dependencies", "format"]);
        assert_eq!(names(rest), ["shim", "test with DPDK", "test"]);
        assert_eq!(names(looks(true)), ["lint", "doc", "lint with DPDK"]);
        let (_, rest) = plan(true, true, false);
        assert_eq!(
            names(rest),
            ["lint", "doc", "lint with DPDK", "shim", "test with DPDK", "test"]
        );
        let (first, rest) = plan(false, false, false);
        assert_eq!(names(first), ["format"]);
        assert_eq!(names(rest), ["lint", "doc", "test"]);
    }
}
