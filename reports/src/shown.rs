//! Text that a terminal may have: the one type that standard output and standard error of `rigctl` take.
//!
//! What a capture, a file, a device or the command line says may hold escape sequences that set a window's title, clear the
//! screen or turn the order of reading around, so that a report shows what it does not say. A type for every foreign text (the
//! name of an interface, a comment, the id of a case, a path) would have to go through every crate and every message, and a new
//! message could still leave it out. So it is the other way round: all text is foreign until it is [`Shown`], which is made
//! by escaping and by nothing else, and colours are no bytes in a text but a [`Paint`] beside it. The writers of `rigctl`
//! (`stdout.rs`, `stderr.rs`) take nothing but this type, and the lints (`clippy.toml`, `print_stdout`, `print_stderr`) refuse the other ways to
//! either stream. What is to stay on one line besides, as the name of a case, goes through [`printable`] first.
//!
//! Invariant: of what is below a blank a [`Shown`] has newlines, tabs and the escapes of [`Paint`]; nothing of DEL, C1 and what
//! changes the order of reading.

use core::fmt;
use core::ops::AddAssign;

/// Text that a terminal may have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown(String);

/// How a part of it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is bold and of the colour that its name says")]
pub enum Paint {
    Bold,
    Green,
    Red,
    Yellow,
    Blue,
    Magenta,
}

/// The end of every paint.
const PLAIN: &str = "\x1b[0m";

impl Paint {
    /// The escape sequence that begins it.
    const fn code(self) -> &'static str {
        match self {
            Paint::Bold => "\x1b[1m",
            Paint::Green => "\x1b[1;32m",
            Paint::Red => "\x1b[1;31m",
            Paint::Yellow => "\x1b[1;33m",
            Paint::Blue => "\x1b[1;34m",
            Paint::Magenta => "\x1b[1;35m",
        }
    }
}

impl Shown {
    /// Text of one or more lines: newlines and tabs stay, everything else that a terminal acts upon is spelt out.
    pub fn text(text: &str) -> Shown {
        let mut shown = Shown::default();
        shown.push(text);
        shown
    }

    /// A text that is JSON: what JSON may hold and a terminal acts upon becomes JSON's own escape, so that it means the same.
    pub fn json(text: &str) -> Shown {
        let mut shown = Shown::default();
        for c in text.chars() {
            match c {
                '\n' => shown.0.push(c),
                c if acted_upon(c) => shown.0 += &format!("\\u{:04x}", u32::from(c)),
                c => shown.0.push(c),
            }
        }
        shown
    }

    /// Adds text as [`Shown::text`] does.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' | '\t' => self.0.push(c),
                c => spell(&mut self.0, c),
            }
        }
    }

    /// Adds text that looks so.
    pub fn paint(&mut self, paint: Paint, text: &str) {
        self.0 += paint.code();
        self.push(text);
        self.0 += PLAIN;
    }

    /// What the terminal gets.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AddAssign<&Shown> for Shown {
    fn add_assign(&mut self, more: &Shown) {
        self.0 += &more.0;
    }
}

/// `write!` escapes as [`Shown::push`] does.
impl fmt::Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// `text` on one line and without a character that a terminal, a browser or an XML reader would act upon: each is spelt out
/// as `\n`, `\x1b` or `\u{202e}`. For what must not make a line of its own, as the name of a case.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    text.chars().for_each(|c| spell(&mut line, c));
    line
}

/// Controls (C0, DEL, C1), marks and overrides of the order of reading, separators of lines, and the code points that XML 1.0
/// forbids.
const fn acted_upon(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'..='\u{ffff}')
}

/// Adds `c`, or how it is spelt.
fn spell(line: &mut String, c: char) {
    match c {
        '\n' => *line += "\\n",
        '\r' => *line += "\\r",
        '\t' => *line += "\\t",
        '\0'..='\u{9f}' if acted_upon(c) => *line += &format!("\\x{:02x}", u32::from(c)),
        c if acted_upon(c) => *line += &format!("\\u{{{:x}}}", u32::from(c)),
        c => line.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write as _;
    use proptest::prelude::*;

    /// Sets the title, clears the screen, reads backwards, in C1 too.
    const HOSTILE: &str = "a\x1b]0;t\x07\x1b[2J\r\0\x7f\u{9b}2J\u{202e}\u{2066}\u{61c}\u{ffff}z";
    const SPELT: &str =
        "a\\x1b]0;t\\x07\\x1b[2J\\r\\x00\\x7f\\x9b2J\\u{202e}\\u{2066}\\u{61c}\\u{ffff}z";

    #[test]
    fn everything_that_a_terminal_acts_upon_is_spelt_out() {
        assert_eq!(printable(HOSTILE), SPELT);
        assert_eq!(printable("one\ntwo\t"), "one\\ntwo\\t");
        assert_eq!(Shown::text(HOSTILE).as_str(), SPELT);
        assert_eq!(Shown::text("one\n\ttwo\n").as_str(), "one\n\ttwo\n");
        assert_eq!(Shown::text("Größe ≥ 5 µs").as_str(), "Größe ≥ 5 µs");
    }

    #[test]
    fn a_style_is_the_only_escape_and_none_comes_in_with_the_text() {
        let mut shown = Shown::text("[");
        shown.paint(Paint::Red, "FAIL\x1b[0m");
        let foreign = "\x1b[2J";
        let _infallible = write!(shown, "] {foreign}");
        assert_eq!(shown.as_str(), "[\x1b[1;31mFAIL\\x1b[0m\x1b[0m] \\x1b[2J");
    }

    #[test]
    fn json_means_the_same_escaped() {
        let value = serde_json::json!({ "name": HOSTILE, "lines": "a\nb" });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        assert!(text.contains('\u{9b}'), "else there is nothing to escape");
        let shown = Shown::json(&text);
        assert!(!shown.as_str().chars().any(|c| acted_upon(c) && c != '\n'), "{shown:?}");
        let back: serde_json::Value = serde_json::from_str(shown.as_str()).expect("JSON");
        assert_eq!(back, value);
    }

    proptest! {
        #[test]
        fn nothing_foreign_reaches_the_terminal(text in any::<String>()) {
            let kept = |c: char| c == '\n' || c == '\t';
            prop_assert!(!Shown::text(&text).as_str().chars().any(|c| acted_upon(c) && !kept(c)));
            prop_assert!(!printable(&text).chars().any(acted_upon));
        }
    }
}
