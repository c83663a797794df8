//! `rigctl`: see `rigctl --help`.

use clap::Parser;
use rigctl::cli::{Cli, Command};
use rigctl::commands;
use rigctl::commands::input::Bad;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let exit = match Cli::parse().command {
        Command::Run(args) => commands::run::run(&args),
        Command::Check(selection) => commands::check::check(&selection),
        Command::List(selection) => commands::list::list(&selection),
        Command::Mutants(args) => commands::mutants::mutants(&args),
        _ => Err(Bad::of("not yet")),
    };
    let exit = exit.unwrap_or_else(|bad| {
        let _closed = io::stderr().write_all(bad.text().as_bytes());
        rig_reports::Exit::Input
    });
    ExitCode::from(exit.code())
}
