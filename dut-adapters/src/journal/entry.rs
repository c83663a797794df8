//! The lines of a journal, and what of them can be read.

use super::{Change, Owner};
use serde::{Deserialize, Serialize};

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
    /// How it is undone.
    pub change: Change,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Line {
    /// A change is about to be made.
    Changes(Entry),
    /// One was undone.
    Undone(u64),
    /// One was read back as it was written.
    Stands(u64),
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
pub(super) struct Contents {
    /// Changes that are outstanding, in their order.
    pub(super) outstanding: Vec<Entry>,
    /// Bytes of lines that have an end. What follows is none: the power went before what it announces was done.
    pub(super) whole: usize,
    /// Lines that cannot be read, and why the first of them cannot.
    pub(super) unread: Option<String>,
}

/// Reads what can be read of a journal.
pub(super) fn read(bytes: &[u8]) -> Contents {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut outstanding = Vec::new();
    let mut unread: Vec<(u64, String)> = Vec::new();
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|&byte| byte == b'\n')) {
        match serde_json::from_slice(line) {
            Ok(Line::Changes(entry)) => outstanding.push(entry),
            Ok(Line::Undone(number)) => undone(&mut outstanding, number),
            Ok(Line::Stands(number)) => {
                let meant = outstanding.iter_mut().filter(|entry| entry.number == number);
                meant.for_each(|entry| entry.change.stands());
            }
            Err(error) => unread.push((number, error.to_string())),
        }
    }
    let unread = unread.first().map(|(number, why)| match unread.len() - 1 {
        0 => format!("line {number} cannot be read: {why}"),
        1 => format!("line {number} cannot be read: {why}; nor can another one"),
        more => format!("line {number} cannot be read: {why}; nor can {more} others"),
    });
    Contents { outstanding, whole, unread }
}

/// Strikes a change out. No process gives two the same number; where there are two, nobody knows which of them was meant, and
/// both stay: to undo one once more does no harm.
fn undone(outstanding: &mut Vec<Entry>, number: u64) {
    let mut meant = (0..outstanding.len()).filter(|&at| outstanding[at].number == number);
    if let (Some(at), None) = (meant.next(), meant.next()) {
        outstanding.remove(at);
    }
}
