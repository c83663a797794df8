//! What CI runs, one step after the other; stops at the first that fails. Each step's minutes are printed, with its share
//! of what CI may take: what exceeds its share belongs to `cargo xtask nightly`.

use crate::dpdk_shim;
use crate::watch::{Minutes, Watch};
use core::time::Duration;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// One step: a cargo command line.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    /// Minutes that it may take of [`WHOLE`]; `None` where only the whole is limited.
    share: Option<u64>,
}

/// Minutes that all steps together may take on two cores, from a checkout in which nothing is built.
const WHOLE: u64 = 25;

/// The steps but for the tests, which take the longest and come last: what is wrong elsewhere shows in a minute.
const STEPS: &[Step] = &[
    Step { name: "format", args: &["fmt", "--all", "--check"], share: None },
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
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    let dpdk = match dpdk_shim::lacks() {
        lacks if lacks.is_empty() || required => DPDK_STEPS,
        lacks => {
            println!("== DPDK is left out: {}", lacks.join("; "));
            &[]
        }
    };
    let deny = required || has_deny(&cargo);
    if !deny {
        println!("== {} are left out: there is no `cargo deny`", DENY.name);
    }
    let mut took = Vec::new();
    let deny = [DENY].into_iter().filter(|_| deny);
    let steps: Vec<Step> = deny.chain(STEPS.iter().chain(dpdk).copied()).chain([TEST]).collect();
    let well = steps.iter().all(|step| {
        println!("== {}: cargo {}", step.name, step.args.join(" "));
        let watch = Watch::start();
        let mut command = Command::new(&cargo);
        command.args(step.args).current_dir(root);
        if step.name == "doc" {
            command.env("RUSTDOCFLAGS", "-D warnings");
        }
        let well = match command.status() {
            Ok(status) if status.success() => true,
            Ok(status) => {
                eprintln!("== {} failed: {status}", step.name);
                false
            }
            Err(error) => {
                eprintln!("== {}: cannot start cargo: {error}", step.name);
                false
            }
        };
        took.push((step, watch.elapsed()));
        well
    });
    print!("{}", told(&took));
    well
}

/// What each step took, and all of them.
fn told(took: &[(&Step, Duration)]) -> String {
    let over = |took: Duration, share: u64| match took > Duration::from_secs(share * 60) {
        true => format!(" of {share}: the rest belongs to `cargo xtask nightly`"),
        false => format!(" of {share}"),
    };
    let mut text = String::from("== what it took\n");
    for (step, took) in took {
        let share = step.share.map(|share| over(*took, share)).unwrap_or_default();
        text += &format!("   {:<16}{:>10}{share}\n", step.name, Minutes(*took).to_string());
    }
    let whole: Duration = took.iter().map(|(_, took)| *took).sum();
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
        let text = told(&[(&lint, seconds(66)), (&test, seconds(1_200)), (&slow, seconds(240))]);
        let want = "== what it took\n\
                    \x20  lint               1.1 min\n\
                    \x20  test              20.0 min\n\
                    \x20  matrix             4.0 min of 3: the rest belongs to `cargo xtask nightly`\n\
                    \x20  all               25.1 min of 25: the rest belongs to `cargo xtask nightly`\n";
        assert_eq!(text, want);
        assert!(told(&[(&slow, seconds(180))]).contains("3.0 min of 3\n"));
    }
}
