//! A page of text for a terminal.

use rig_reports::printable;
use std::fmt::Write as _;

/// Text in two columns: names on the left, what they are on the right, broken at blanks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page(String);

impl Page {
    /// Where the right column begins, in characters.
    const INDENT: usize = 14;
    /// Where a line is broken.
    const WIDTH: usize = 110;

    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// What another page says, behind all else.
    pub(super) fn add(&mut self, other: &Page) {
        self.0.push_str(&other.0);
    }

    pub(super) fn line(&mut self, text: &str) {
        // What a file says stays on its line.
        let _infallible = writeln!(self.0, "{}", printable(text));
    }

    pub(super) fn heading(&mut self, name: &str) {
        self.line(&format!("  {name}"));
    }

    pub(super) fn field(&mut self, name: &str, text: &str) {
        self.at(2, Self::INDENT, name, text);
    }

    /// A field below a heading.
    pub(super) fn detail(&mut self, name: &str, text: &str) {
        self.at(6, Self::INDENT + 4, name, text);
    }

    /// A field whose name begins at column `left` and whose text at column `right`.
    pub(super) fn at(&mut self, left: usize, right: usize, name: &str, text: &str) {
        let mut line = format!("{:left$}{name:1$} ", "", right - left - 1);
        let mut written = false;
        for word in text.split(' ') {
            if written && line.chars().count() + 1 + word.chars().count() > Self::WIDTH {
                self.line(line.trim_end());
                line = format!("{:right$}{word}", "");
                continue;
            }
            let blank = if written { " " } else { "" };
            let _infallible = write!(line, "{blank}{word}");
            written = true;
        }
        self.line(line.trim_end());
    }

    /// Rows below a heading, each column as wide as its widest cell.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = format!("      {}", cells.collect::<Vec<_>>().join("  "));
            self.line(line.trim_end());
        }
    }
}
