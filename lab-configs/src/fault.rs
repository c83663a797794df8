//! A fault in a file that a person wrote: where, what stands there, and what would be accepted.

use core::fmt;
use rig_units::limits::{QUOTED, quoted};

/// A place in a file: what a fault points at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// How many characters the caret underlines; at least 1.
    pub width: usize,
    /// The line, cut to what fits a terminal; `column` still counts in the file.
    pub snippet: Snippet,
    /// Keys from the top of the file: `cases.detection.steps[1].at`.
    pub path: String,
}

/// A line of a file, cut around the place that matters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Snippet {
    /// The text, without control characters.
    pub text: String,
    /// Where in `text` the caret starts, in characters from 0.
    pub caret: usize,
}

impl Snippet {
    /// Longest text kept of a line.
    const WIDTH: usize = 120;

    /// `line` around `column` (from 1). Control characters, tabs included, show as one blank: the caret stays true.
    pub fn of(line: &str, column: usize) -> Snippet {
        let caret = column.saturating_sub(1);
        let from = if caret < Self::WIDTH { 0 } else { caret - Self::WIDTH / 3 };
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let mut text: String = line.chars().skip(from).take(Self::WIDTH).map(visible).collect();
        if from > 0 {
            text.insert_str(0, "...");
        }
        if line.chars().nth(from + Self::WIDTH).is_some() {
            text.push_str("...");
        }
        let shifted = if from > 0 { 3 } else { 0 };
        Snippet { text: text.trim_end().to_owned(), caret: caret - from + shifted }
    }
}

/// A message in which what it quotes of a file is cut where it is long: three dots stand for the rest.
pub(crate) fn brief(message: &str) -> String {
    let mut cut = String::new();
    for (index, part) in message.split_inclusive(['`', '"']).enumerate() {
        // Between two quotes stands what somebody else wrote; the words around it are the rig's own, lists among them.
        match part.strip_suffix(['`', '"']) {
            Some(inner) if index % 2 == 1 => {
                cut.push_str(&quoted(inner));
                cut.push_str(&part[inner.len()..]);
            }
            None if index % 2 == 1 => cut.push_str(&quoted(part)),
            _ => cut.push_str(part),
        }
    }
    cut
}

/// What somebody else put together, which may echo what it was given without quotes: cut as a whole.
pub(crate) fn foreign(message: &str) -> String {
    match message.char_indices().nth(2 * QUOTED) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}

/// One fault. Printed as a compiler would: the place, the line, a caret, what is wanted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// File, line and column.
    pub place: Box<Place>,
    /// What stands there, as a sentence without a full stop: ``unknown key `sise` ``.
    pub found: String,
    /// What would be accepted.
    pub want: String,
}

impl Fault {
    /// A fault of a file as a whole: missing, unreadable, too large.
    pub fn of_file(file: &str, found: impl Into<String>, want: impl Into<String>) -> Fault {
        let place = Place { file: file.to_owned(), width: 1, ..Place::default() };
        Fault { place: Box::new(place), found: found.into(), want: want.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { place, found, want } = self;
        let Place { file, line, column, width, snippet, path } = place.as_ref();
        if *line == 0 {
            write!(f, "{file}: {found}")?;
            if !path.is_empty() {
                write!(f, "\n   = in: {path}")?;
            }
            return write!(f, "\n   = want: {want}");
        }
        let gutter = line.to_string();
        let gap = " ".repeat(gutter.len());
        let room = snippet.text.chars().count().saturating_sub(snippet.caret).max(1);
        let carets = "^".repeat((*width).clamp(1, room));
        writeln!(f, "{file}:{line}:{column}: {found}")?;
        writeln!(f, "{gap} |")?;
        writeln!(f, "{gutter} | {}", snippet.text)?;
        writeln!(f, "{gap} | {}{carets}", " ".repeat(snippet.caret))?;
        if !path.is_empty() {
            writeln!(f, "{gap} = in: {path}")?;
        }
        write!(f, "{gap} = want: {want}")
    }
}

impl core::error::Error for Fault {}

/// `one of a, b`, and which one was probably meant by `word`.
pub fn one_of<'a>(word: &str, all: impl Iterator<Item = &'a str> + Clone) -> String {
    let list: Vec<&str> = all.clone().collect();
    if let [only] = list.as_slice() {
        return format!("`{only}`");
    }
    let list = format!("one of {}", list.join(", "));
    match crate::settings::nearest(word, all).first() {
        Some(near) if near != word => format!("{list}; did you mean `{near}`?"),
        _ => list,
    }
}
