//! The lines of a journal, and how far one can be read.

use super::{Change, Owner};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One change of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Counted within its file.
    pub number: u64,
    /// Who makes it.
    pub process: Owner,
    /// The network namespace that it is made in.
    pub namespace: u64,
    /// What.
    pub change: Change,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Line {
    /// A change is about to be made.
    Changes(Entry),
    /// One was undone.
    Undone(u64),
}

impl Line {
    /// Itself, with its end.
    pub(super) fn text(&self) -> String {
        let mut text = serde_json::to_string(self).expect("lines have string keys");
        text.push('\n');
        text
    }
}

/// What stands in a journal.
pub(super) struct Seen {
    /// Changes that are outstanding, in their order.
    pub(super) outstanding: Vec<Entry>,
    /// Bytes of lines that have an end. What follows is none: the power went before what it announces was done.
    pub(super) whole: usize,
    /// Why it is not read further than the line before.
    pub(super) unread: Option<String>,
}

/// Reads a journal as far as it goes.
pub(super) fn read(bytes: &[u8]) -> Seen {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut outstanding = BTreeMap::new();
    let mut unread = None;
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|&byte| byte == b'\n')) {
        match serde_json::from_slice(line) {
            Ok(Line::Changes(entry)) => drop(outstanding.insert(entry.number, entry)),
            Ok(Line::Undone(number)) => drop(outstanding.remove(&number)),
            Err(error) => {
                unread = Some(format!("line {number} cannot be read: {error}"));
                break;
            }
        }
    }
    Seen { outstanding: outstanding.into_values().collect(), whole, unread }
}
