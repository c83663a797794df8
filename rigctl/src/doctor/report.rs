//! What was found, for people and for scripts.

use super::judge::{Check, Needs, Section, State};
use core::fmt;
use rig_reports::Exit;
use serde::Serialize;

/// The format of the JSON.
const FORMAT: &str = "rig-doctor/1";
/// Columns of the state.
const STATE: usize = 6;
/// Columns of the name behind it, at least.
const NAME: usize = 13;

/// Everything that was found, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    format: &'static str,
    /// Version of the rig.
    version: &'static str,
    /// The lab.
    lab: String,
    /// Whether it has all that it needs.
    ready: bool,
    /// What was looked at.
    sections: Vec<Section>,
}

impl Report {
    /// What `sections` amount to.
    pub fn new(needs: &Needs, sections: Vec<Section>) -> Report {
        let ready = !sections.iter().flat_map(|section| &section.checks).any(is_need);
        Report {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            lab: needs.lab.clone(),
            ready,
            sections,
        }
    }

    /// The exit code that it deserves.
    pub const fn exit(&self) -> Exit {
        if self.ready { Exit::Passed } else { Exit::Broken }
    }

    /// The report as one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn is_need(check: &Check) -> bool {
    check.state == State::Need
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || self.sections.iter().flat_map(|section| &section.checks);
        let width = all().map(|check| check.name.chars().count()).max().unwrap_or(0).max(NAME);
        for Section { name, checks } in &self.sections {
            writeln!(f, "{name}")?;
            for Check { name, state, says, mend } in checks {
                let state = match state {
                    State::Ok => "ok",
                    State::Note => "note",
                    State::Lack => "lack",
                    State::Need => "NEED",
                };
                writeln!(f, "{state:>STATE$}  {name:<width$}  {says}")?;
                if let Some(mend) = mend {
                    writeln!(f, "{:STATE$}  {:width$}  > {mend}", "", "")?;
                }
            }
            writeln!(f)?;
        }
        match all().filter(|check| is_need(check)).count() {
            0 => writeln!(f, "lab {} has all that it needs", self.lab),
            1 => writeln!(f, "lab {} needs one thing more", self.lab),
            needs => writeln!(f, "lab {} needs {needs} things more", self.lab),
        }
    }
}
