//! YAML as a tree in which every value knows where it stands. The only module that knows the YAML library.
//!
//! Bytes, levels and values after aliases are expanded are limited ([`limits`]). Anchors, aliases and merge keys (`<<`) are
//! allowed; a fault in an aliased value points at where it is written.

mod node;
mod spot;

pub use node::{Key, Mark, Node, Value};
pub use spot::Spot;

use crate::fault::{Fault, Place, Snippet, foreign};
use crate::file;
use crate::keys;
use crate::settings::distance;
use core::ops::Range;
use rig_units::limits::{self, YAML_BYTES, YAML_DEPTH, YAML_VALUES};
use serde_saphyr::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A file and its text. A copy is the same text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, as it was named.
    pub file: Arc<str>,
    text: Arc<str>,
    lines: Arc<[Line]>,
}

/// Where a line stands in the text, and whether it may hold a key. Found once for all of its places.
#[derive(Debug, Clone)]
struct Line {
    bytes: Range<usize>,
    secret: bool,
}

/// The lines of a text. The block `macsec` at the top of a lab holds keys, even with a typo in its name, and so may a line that
/// looks like one.
fn lines(text: &str) -> Arc<[Line]> {
    let mut block = false;
    let mut start = 0;
    let line = |whole: &str| {
        let line =
            whole.strip_suffix('\n').map_or(whole, |cut| cut.strip_suffix('\r').unwrap_or(cut));
        if line.starts_with(|c: char| !c.is_whitespace() && c != '#') {
            let name = line.split(':').next().unwrap_or_default();
            let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            // Close enough to be what was meant.
            block = distance(&name, "macsec") <= 2;
        }
        let bytes = start..start + line.len();
        start += whole.len();
        Line { bytes, secret: block || keys::looks_like_one(line) }
    };
    text.split_inclusive('\n').map(line).collect()
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is missing, no regular file, too large or not UTF-8.
    pub fn read(path: &Path) -> Result<Source, Vec<Fault>> {
        Source::of(&path.display().to_string(), file::read(path, YAML_BYTES))
    }

    /// Takes what comes by standard input.
    ///
    /// # Errors
    /// When it breaks off, is too large or not UTF-8.
    pub fn piped(from: impl io::Read) -> Result<Source, Vec<Fault>> {
        Source::of(file::STDIN_SAID, file::bounded(from, YAML_BYTES))
    }

    fn of(file: &str, bytes: Result<Vec<u8>, file::Unread>) -> Result<Source, Vec<Fault>> {
        let bytes = bytes
            .map_err(|file::Unread { found, want }| vec![Fault::of_file(file, found, want)])?;
        let fault = |found: String| vec![Fault::of_file(file, found, "a readable YAML file")];
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source::new(file, &text)),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let line = e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
                Err(fault(format!("is not UTF-8 text: byte {at}, on line {line}, is not")))
            }
        }
    }

    /// Takes a text that is at hand; `file` is only its name.
    pub fn new(file: &str, text: &str) -> Source {
        Source { file: file.into(), text: text.into(), lines: lines(text) }
    }

    /// The text as a tree.
    ///
    /// # Errors
    /// The first place that is not YAML, or not within the limits.
    pub fn parse(&self) -> Result<Node, Vec<Fault>> {
        if self.text.len() as u64 > YAML_BYTES {
            let found = format!("it has {} bytes", self.text.len());
            return Err(vec![Fault::of_file(&self.file, found, limits::yaml().want)]);
        }
        if self.text.trim().is_empty() {
            return Err(vec![Fault::of_file(&self.file, "is empty", "a YAML mapping")]);
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: YAML_DEPTH,
                flow_nesting_limit: YAML_DEPTH,
                max_nodes: YAML_VALUES,
                max_events: 3 * YAML_VALUES,
            },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: YAML_VALUES },
            strict_booleans: true,
            with_snippet: false,
        };
        let mut root: Node = serde_saphyr::from_str_with_options(&self.text, options)
            .map_err(|e| self.broken(&e))?;
        self.fill(&mut root);
        Ok(root)
    }

    /// The place of `mark`, reached by `path`.
    pub fn place(&self, mark: Mark, path: &str) -> Place {
        let Mark { line, column, width, .. } = mark;
        let text = self.shown(line);
        Place {
            file: self.file.to_string(),
            line,
            column,
            width: width.max(1),
            snippet: Snippet::of(&text, column),
            path: foreign(&keys::shown(path)),
        }
    }

    /// A line as it may be shown.
    fn shown(&self, line: usize) -> String {
        let Some(Line { bytes, secret }) = self.lines.get(line.saturating_sub(1)) else {
            return String::new();
        };
        let text = &self.text[bytes.clone()];
        if *secret { keys::masked(text) } else { text.to_owned() }
    }

    /// Numbers that are not whole keep their text: a binary fraction is never made of them.
    fn fill(&self, node: &mut Node) {
        let (from, len) = node.mark.bytes;
        match &mut node.value {
            Value::Real(text) => {
                *text = self.text.get(from..from + len).unwrap_or_default().to_owned();
            }
            Value::List(all) => all.iter_mut().for_each(|node| self.fill(node)),
            Value::Map(fields) => fields.iter_mut().for_each(|(_, node)| self.fill(node)),
            Value::Null | Value::Bool(_) | Value::Whole(_) | Value::Text(_) => {}
        }
    }

    /// What the YAML library objects to, in this project's words where it is about our limits.
    fn broken(&self, error: &Error) -> Vec<Fault> {
        let error = error.without_snippet();
        let mark = error.location().map(Mark::of).unwrap_or_default();
        let whole = error.to_string();
        let said = whole.split(" at line ").next().unwrap_or_default().to_owned();
        let (found, want) = match error {
            Error::DuplicateMappingKey { key, .. } => {
                let key = key.as_deref().unwrap_or("?");
                (format!("the key `{key}` stands twice in one mapping"), "each key once".to_owned())
            }
            Error::Budget { .. } => beyond("the file is too large"),
            Error::MultipleDocuments { .. } => {
                ("a second document starts here".to_owned(), "one document a file".to_owned())
            }
            Error::UnknownAnchor { .. } => {
                let want = "an anchor (`&name`) that is written before its alias".to_owned();
                ("there is no such anchor".to_owned(), want)
            }
            // An alias inside of what its own anchor names.
            _ if said.contains("weak recursion") => {
                let want = "an alias (`*name`) of something that is written before it".to_owned();
                ("an alias stands inside of the very thing that it names".to_owned(), want)
            }
            _ if said.contains("recursion limit") => beyond("the nesting is too deep"),
            _ if said.contains("alias replay limit") => beyond("aliases make the file too large"),
            _ => match self.tab_near(mark) {
                Some(tab) => {
                    let (found, want) =
                        ("a tab in the indentation", "blanks: YAML takes no tabs here");
                    let place = Box::new(self.place(tab, ""));
                    return vec![Fault { place, found: found.to_owned(), want: want.to_owned() }];
                }
                None => (said, "well-formed YAML".to_owned()),
            },
        };
        if mark.line == 0 {
            return vec![Fault::of_file(&self.file, found, want)];
        }
        vec![Fault {
            place: Box::new(self.place(mark, "")),
            found: foreign(&keys::shown(&found)),
            want,
        }]
    }

    /// The tab that indents the line at `mark`, or the one before or after it.
    fn tab_near(&self, mark: Mark) -> Option<Mark> {
        let lines = self.text.lines().enumerate().skip(mark.line.saturating_sub(2)).take(3);
        lines.into_iter().find_map(|(index, line)| {
            let indent = line.len() - line.trim_start().len();
            let column = line[..indent].find('\t')? + 1;
            Some(Mark { line: index + 1, column, width: 1, bytes: (0, 0) })
        })
    }
}

fn beyond(found: &str) -> (String, String) {
    (found.to_owned(), limits::values().want)
}

#[cfg(test)]
mod tests;
