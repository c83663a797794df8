//! YAML as a tree in which every value knows where it stands. The only module that knows the YAML library.
//!
//! Limits: a file of 1 MiB, 64 levels, 50 000 values after aliases are expanded. Anchors, aliases and merge keys (`<<`)
//! are allowed; a fault in an aliased value points at where it is written.

mod node;

pub use node::{Key, Mark, Node, Value};

use crate::fault::{Fault, Place, Snippet};
use crate::keys;
use crate::settings::distance;
use serde_saphyr::Error;
use std::path::Path;

/// Largest file that is read.
pub const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting.
pub const MAX_DEPTH: usize = 64;
/// Most values in a file, aliases expanded.
pub const MAX_VALUES: usize = 50_000;

/// A file and its text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, as it was named.
    pub file: String,
    text: String,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is missing, no file, too large or not UTF-8.
    pub fn read(path: &Path) -> Result<Source, Vec<Fault>> {
        const WANT: &str = "a readable YAML file";
        let file = path.display().to_string();
        let fault = |found: String| vec![Fault::of_file(&file, found, WANT)];
        let meta = std::fs::metadata(path).map_err(|e| fault(reason(&e)))?;
        if meta.is_dir() {
            return Err(fault("is a directory".to_owned()));
        }
        if meta.len() > MAX_BYTES as u64 {
            return Err(too_large(&file));
        }
        let bytes = std::fs::read(path).map_err(|e| fault(reason(&e)))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source { file, text }),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let line = e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
                Err(fault(format!("is not UTF-8 text: byte {at}, on line {line}, is not")))
            }
        }
    }

    /// Takes a text that is at hand; `file` is only its name.
    pub fn new(file: &str, text: &str) -> Source {
        Source { file: file.to_owned(), text: text.to_owned() }
    }

    /// The text as a tree.
    ///
    /// # Errors
    /// The first place that is not YAML, or not within the limits.
    pub fn parse(&self) -> Result<Node, Vec<Fault>> {
        if self.text.len() > MAX_BYTES {
            return Err(too_large(&self.file));
        }
        if self.text.trim().is_empty() {
            return Err(vec![Fault::of_file(&self.file, "is empty", "a YAML mapping")]);
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_depth: MAX_DEPTH,
                flow_nesting_limit: MAX_DEPTH,
                max_nodes: MAX_VALUES,
                max_events: 3 * MAX_VALUES,
            },
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_VALUES },
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
            file: self.file.clone(),
            line,
            column,
            width: width.max(1),
            snippet: Snippet::of(&text, column),
            path: keys::hidden(path),
        }
    }

    /// A line as it may be shown. The block `macsec` at the top of a lab holds keys, even with a typo in its
    /// name, and so may a line that looks like one.
    fn shown(&self, line: usize) -> String {
        let text = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let top = |line: &&str| line.starts_with(|c: char| !c.is_whitespace() && c != '#');
        let block = self.text.lines().take(line).filter(top).last();
        let name = block.and_then(|block| block.split(':').next()).unwrap_or_default();
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        // Close enough to be what was meant.
        let secret = distance(&name, "macsec") <= 2;
        if secret || keys::looks_like_one(text) { keys::masked(text) } else { text.to_owned() }
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
            Error::Budget { .. } => limits("the file is too large"),
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
            _ if said.contains("recursion limit") => limits("the nesting is too deep"),
            _ if said.contains("alias replay limit") => limits("aliases make the file too large"),
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
        vec![Fault { place: Box::new(self.place(mark, "")), found: keys::hidden(&found), want }]
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

fn limits(found: &str) -> (String, String) {
    let want =
        format!("at most {MAX_DEPTH} levels and {MAX_VALUES} values, aliases expanded, in a file");
    (found.to_owned(), want)
}

fn too_large(file: &str) -> Vec<Fault> {
    vec![Fault::of_file(file, "is too large", format!("at most {MAX_BYTES} bytes"))]
}

/// An I/O error without the number of the operating system.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "may not be read (permission denied)".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests;
