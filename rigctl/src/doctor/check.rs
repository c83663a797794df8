//! One thing that was looked at, and how it is.

use serde::Serialize;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Good to know; nothing depends on it.
    Note,
    /// Missing, though this lab does without.
    Lack,
    /// Missing, and this lab needs it.
    Need,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was found, and what it means.
    pub says: String,
    /// The command that mends it, or what else does.
    pub mend: Option<String>,
}

/// Checks that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// What they are about.
    pub name: String,
    /// In the order in which they are printed.
    pub checks: Vec<Check>,
}

/// Something in a state.
pub(super) fn check(name: &str, state: State, says: impl Into<String>) -> Check {
    Check { name: name.to_owned(), state, says: says.into(), mend: None }
}

impl Check {
    /// The same, and what mends it.
    pub(super) fn mend(mut self, how: impl Into<String>) -> Check {
        self.mend = Some(how.into());
        self
    }
}

/// Missing: needed here, or by others.
pub(super) const fn missing(needed: bool) -> State {
    if needed { State::Need } else { State::Lack }
}
