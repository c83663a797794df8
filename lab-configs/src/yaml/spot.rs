//! Where a value stands, before anybody wants to see it: of each value of a catalogue a place is kept, and hardly one is ever shown.

use super::{Mark, Source};
use crate::fault::Place;
use core::fmt;

/// A value's place in its file, from which the line and the caret are made when it is shown.
#[derive(Clone)]
pub struct Spot {
    source: Source,
    mark: Mark,
    path: String,
}

impl Spot {
    pub(crate) fn new(source: &Source, mark: Mark, path: &str) -> Spot {
        Spot { source: source.clone(), mark, path: path.to_owned() }
    }

    /// What a fault shows of it.
    pub fn place(&self) -> Place {
        self.source.place(self.mark, &self.path)
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.source.file
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.mark.line
    }
}

/// The same value of the same file: what else the file holds makes no difference.
impl PartialEq for Spot {
    fn eq(&self, other: &Spot) -> bool {
        let key = |spot: &Spot| (spot.mark, spot.source.file.clone());
        key(self) == key(other) && self.path == other.path
    }
}

impl Eq for Spot {}

/// Without the rest of the file.
impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark { line, column, .. } = self.mark;
        write!(f, "{}:{line}:{column} {}", self.source.file, self.path)
    }
}
