//! The project's own chores. `cargo xtask ci` is what CI runs; `cargo xtask tidy` checks the house rules alone.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who runs it"
)]

mod ci;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "cargo xtask ci | tidy";

fn main() -> ExitCode {
    let root = root();
    let ok = match std::env::args().nth(1).as_deref() {
        Some("ci") => ci::run(&root),
        Some("tidy") => tidy::report(&root),
        _ => {
            eprintln!("usage: {USAGE}");
            false
        }
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
