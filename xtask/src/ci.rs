//! What CI runs, one step after the other; stops at the first that fails.

use crate::dpdk_shim;
use std::path::Path;
use std::process::Command;

/// The steps: a name and a cargo command line. The tests open the DPDK shim at run time; the last steps link it in.
const STEPS: &[(&str, &[&str])] = &[
    ("format", &["fmt", "--all", "--check"]),
    ("lint", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    // All of what fails, not the first of it.
    ("test", &["test", "--workspace", "--locked", "--no-fail-fast"]),
    ("doc", &["doc", "--workspace", "--no-deps", "--locked"]),
];

/// Steps that need DPDK.
const DPDK_STEPS: &[(&str, &[&str])] = &[
    ("shim", &["run", "--quiet", "--package", "xtask", "--locked", "--", "dpdk-shim"]),
    (
        "lint with DPDK",
        &[
            "clippy",
            "--package",
            "rig-generator",
            "--features",
            "dpdk",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "test with DPDK",
        &["test", "--package", "rig-generator", "--features", "dpdk", "--test", "dpdk", "--locked"],
    ),
];

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
    STEPS.iter().chain(dpdk).all(|(name, args)| {
        println!("== {name}: cargo {}", args.join(" "));
        let mut command = Command::new(&cargo);
        command.args(*args).current_dir(root);
        if *name == "doc" {
            command.env("RUSTDOCFLAGS", "-D warnings");
        }
        match command.status() {
            Ok(status) if status.success() => true,
            Ok(status) => {
                eprintln!("== {name} failed: {status}");
                false
            }
            Err(error) => {
                eprintln!("== {name}: cannot start cargo: {error}");
                false
            }
        }
    })
}
