//! Reading `results.json` back, for comparison.

use super::{EARLIER, FORMAT, Results};
use core::fmt;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A text that is not results this version understands: where, what stands there, what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1; 0 when the fault is not at one place.
    pub line: usize,
    /// Column, from 1; 0 when the fault is not at one place.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unreadable { file, line, column, message } = self;
        match line {
            0 => write!(f, "{file}: {message}"),
            _ => write!(f, "{file}:{line}:{column}: {message}"),
        }
    }
}

impl core::error::Error for Unreadable {}

/// The one key that every version of the format has.
#[derive(Deserialize)]
#[serde(expecting = "the results.json of a run")]
struct Header {
    format: Option<String>,
}

/// Whether a text is what a run writes into `events.jsonl`: JSON a line, each with the name of its event.
fn is_events(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Line {
        #[serde(rename = "event")]
        _event: String,
    }
    text.lines().next().is_some_and(|line| serde_json::from_str::<Line>(line).is_ok())
}

/// Which case stands in the file twice: no one could say which of the two is meant.
fn twice(results: &Results) -> Option<String> {
    let mut seen = BTreeMap::new();
    results.cases.iter().enumerate().find_map(|(at, case)| {
        let first = seen.insert(&case.id, at)?;
        Some(format!("cases[{first}] and cases[{at}] are both `{}`: want each case once", case.id))
    })
}

impl Results {
    /// Reads the text of a `results.json`; `file` is its name for messages. Keys that this version does not know are
    /// passed over: a later rig may add some without a new format number.
    ///
    /// # Errors
    /// Text that is not JSON, of another format, or lacks what the format promises, and text that names a case twice.
    pub fn read(file: &str, text: &str) -> Result<Results, Unreadable> {
        let at = |error: &serde_json::Error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
            let (line, column) = (error.line(), error.column());
            Unreadable { file: file.to_owned(), line, column, message: message.to_owned() }
        };
        let whole = |message| Unreadable { file: file.to_owned(), line: 0, column: 0, message };
        if is_events(text) {
            return Err(whole(format!(
                "these are the events of a run (events.jsonl): want its results.json (`{FORMAT}`), which lies beside them"
            )));
        }
        if !text.trim_start().starts_with(['{', '[']) {
            return Err(whole(format!(
                "this is no JSON: want the results.json of a run (`{FORMAT}`)"
            )));
        }
        let header: Header = serde_json::from_str(text).map_err(|error| at(&error))?;
        match header.format.as_deref() {
            Some(FORMAT | EARLIER) => {
                let results: Results = serde_json::from_str(text).map_err(|error| at(&error))?;
                match twice(&results) {
                    Some(message) => Err(whole(message)),
                    None => Ok(results),
                }
            }
            Some(other) => Err(whole(format!(
                "the format is `{other}`; this rigctl reads `{FORMAT}` and `{EARLIER}`: compare with the rigctl that wrote the file"
            ))),
            None => {
                Err(whole(format!("no key `format`: want the results.json of a run (`{FORMAT}`)")))
            }
        }
    }
}
