//! The project's own chores. `cargo xtask ci` is what CI runs; `cargo xtask nightly` runs for hours what CI has no time for;
//! `cargo xtask tidy` checks the house rules alone; `cargo xtask calibrate` counts how often bounds hold what is true;
//! `cargo xtask same-results REV` tells whether this tree measures and judges what another revision does; `cargo xtask dpdk-shim` builds what the back end DPDK opens at run time.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who runs it"
)]

mod calibrate;
mod ci;
mod dpdk_shim;
mod nightly;
mod same_results;
mod tidy;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "cargo xtask ci | nightly [--hours N] [--check NAME]... | tidy | calibrate [TRIALS] | dpdk-shim [FILE]";

fn main() -> ExitCode {
    let root = root();
    let mut args = std::env::args().skip(1);
    let ok = match args.next().as_deref() {
        Some("dpdk-shim") => dpdk_shim::report(&root, args.next().map(PathBuf::from)),
        Some("ci") => ci::run(&root),
        // Said by cargo, which `ci` has told to: no command of people's.
        Some("start-tests") => ci::start(args),
        Some("nightly") => nightly::run(&root, args),
        Some("same-results") => same_results::run(&root, args),
        Some("tidy") => tidy::report(&root),
        Some("calibrate") => calibrate::run(&root, args.next()),
        _ => {
            eprintln!("usage: {USAGE} | {}", same_results::USAGE);
            false
        }
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
