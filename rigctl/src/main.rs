//! `rigctl`: see `rigctl --help`.

use clap::Parser;
use rig_reports::{Exit, Shown};
use rigctl::cli::{Cli, Command, DutCommand, ProfileCommand, arguments};
use rigctl::rights::{self, Work};
use rigctl::{commands, fence, stderr, stdout};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    full_disks_are_errors();
    let command = match Cli::try_parse_from(arguments(std::env::args_os())) {
        Ok(cli) => cli.command,
        Err(said) => return ExitCode::from(stdout::ended(answered(&said)).code()),
    };
    confine(&command);
    let exit = match command {
        Command::Run(args) => commands::run::run(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::List(selection) => commands::list::list(&selection),
        Command::Mutants(args) => commands::mutants::mutants(&args),
        Command::Explain(args) => commands::explain::explain(&args),
        Command::Analyze(args) => commands::analyze::analyze(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Size(args) => commands::size::size(&args),
        Command::Lint(args) => commands::lint::lint(&args),
        Command::Profile(ProfileCommand::FromDut(args)) => commands::profile::from_dut(&args),
        Command::Schema(args) => Ok(commands::schema::schema(&args)),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Restore(args) => commands::restore::restore(&args),
        Command::Dut(DutCommand::Serve(args)) => commands::dut::serve(&args),
        Command::Dut(DutCommand::Say(args)) => commands::say::say(&args),
        Command::Dut(DutCommand::Nic(args)) => commands::nic::nic(&args),
        Command::Dut(DutCommand::Set(args)) => commands::nic::set(&args),
        Command::Guest(what) => commands::guest::guest(&what),
        Command::Gen(args) => commands::generate::generate(&args),
        Command::Bench(what) => commands::bench::bench(&what),
    };
    let exit = exit.unwrap_or_else(|bad| {
        stderr::show(&Shown::text(&bad.text()));
        Exit::Input
    });
    ExitCode::from(stdout::ended(exit).code())
}

/// Gives up what the command does not need, before it reads a byte of what it was given.
fn confine(command: &Command) {
    let work = Work::of(command);
    rights::keep(work);
    // A bench starts the programs that it takes turns with; what is read of a switch behind it, ssh; of a NIC, sh, too.
    let starts = match command {
        Command::Bench(_) => true,
        Command::Profile(ProfileCommand::FromDut(args)) => {
            matches!(args.redis, Some(rig_lab::RedisAt::Ssh { .. }))
        }
        Command::Dut(DutCommand::Nic(args)) => args.sysroot.is_none(),
        _ => false,
    };
    if work == Work::Reading && !starts {
        fence::close(&[]);
    }
    if work == Work::Undecided {
        // Until it knows more it only reads and makes its folder.
        rights::lower(Work::Writing);
    }
}

/// What the parser has to say: help, or what is wrong with the command line, which it quotes.
fn answered(said: &clap::Error) -> Exit {
    if said.use_stderr() {
        stderr::show(&Shown::text(&said.render().to_string()));
        return Exit::Input;
    }
    if stdout::is_terminal() {
        said.exit(); // with its colours: a help text quotes nobody
    }
    stdout::text(&said.render().to_string());
    Exit::Passed
}

/// A limit on the size of files (`ulimit -f`) ends a process by a signal, and with it everything that was measured.
/// With a handler in its place, whatever it does, the write fails instead, and is reported as one to a full disk.
fn full_disks_are_errors() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let _entered = runtime.enter();
    // Once it is installed the handler stays for the life of the process.
    let _installed = signal(SignalKind::from_raw(nix::libc::SIGXFSZ));
}
