//! Standard error, for people: the one way to it. Nobody could be told that it cannot be written.

use rig_reports::{Shown, printable};
use std::io::{self, IsTerminal, Write};

/// Writes `text` now, in one piece.
pub fn show(text: &Shown) {
    let _nobody_to_tell = stream().write_all(text.as_str().as_bytes());
}

/// Writes `text`, a newline behind it.
pub fn line(text: &str) {
    show(&Shown::text(&format!("{text}\n")));
}

/// Writes a remark, on one line whatever it quotes.
pub fn note(text: &str) {
    line(&format!("note: {}", printable(text)));
}

/// Whether people look at it.
pub fn is_terminal() -> bool {
    stream().is_terminal()
}

#[expect(clippy::disallowed_methods, reason = "this is the one way to it")]
fn stream() -> io::Stderr {
    io::stderr()
}
