//! What CI runs, one step after the other; stops at the first that fails.

use std::path::Path;
use std::process::Command;

/// The steps: a name and a cargo command line.
const STEPS: &[(&str, &[&str])] = &[
    ("format", &["fmt", "--all", "--check"]),
    ("lint", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    ("test", &["test", "--workspace", "--locked"]),
    ("doc", &["doc", "--workspace", "--no-deps", "--locked"]),
];

/// Runs every step; the tidy rules come with the tests.
pub(crate) fn run(root: &Path) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    STEPS.iter().all(|(name, args)| {
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
