//! A breach of a house rule.

use core::fmt;

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) why: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.why)
    }
}
