//! Standard output: the one way to it.
//!
//! What is written is data that somebody is waiting for. A reader that goes away (`| head`) has had enough, and nothing is
//! said. Any other failure, as of a full disk, is no result: it is kept here until the command has ended, so that what
//! goes to files is still written, and then it is told and the exit code is 4, whatever the command found.

use crate::stderr;
use rig_reports::{Exit, Shown};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// The first failure. There is one standard output in a process, and so there is one of these.
static FAILED: OnceLock<String> = OnceLock::new();

/// Writes `text` now, in one piece.
pub fn show(text: &Shown) {
    let mut out = stream();
    let _kept = note(out.write_all(text.as_str().as_bytes()).and_then(|()| out.flush()));
}

/// Writes lines for people.
pub fn text(lines: &str) {
    show(&Shown::text(lines));
}

/// Writes a text that is JSON, a newline behind it.
pub fn json(value: &str) {
    let mut shown = Shown::json(value.trim_end());
    shown.push("\n");
    show(&shown);
}

/// Whether people look at it.
pub fn is_terminal() -> bool {
    stream().is_terminal()
}

/// Keeps that something could not be written; a closed pipe is no failure.
fn note<T>(written: io::Result<T>) -> io::Result<T> {
    if let Err(why) = &written
        && why.kind() != ErrorKind::BrokenPipe
    {
        let _later_ones_follow_from_it = FAILED.set(why.to_string());
    }
    written
}

/// The exit code of a command that ends with `exit`: what could not be written is told, and outranks what was found.
pub fn ended(exit: Exit) -> Exit {
    match (FAILED.get(), exit) {
        (None, exit) | (Some(_), exit @ Exit::Input) => exit,
        (Some(why), _) => {
            stderr::line(&format!("error: standard output cannot be written: {why}"));
            Exit::Broken
        }
    }
}

/// For the conversation that steers a served device: bytes, which no terminal gets.
#[derive(Debug)]
pub struct Conversation;

impl Write for Conversation {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        note(stream().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        note(stream().flush())
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one way to it")]
fn stream() -> io::Stdout {
    io::stdout()
}
