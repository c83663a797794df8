//! A whole run, gathered from its events: what the files that are written at the end are made from.

use crate::outcome::{Exit, Outcome, Tally};
use crate::{CaseReport, Finished, RunEvent, Started};

/// Everything that was reported, so far or in the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// How it started.
    pub started: Started,
    /// Cases that ended, in catalogue order.
    pub cases: Vec<CaseReport>,
    /// How it ended; `None` while it has not.
    pub finished: Option<Finished>,
}

impl Run {
    /// A run of which only the start is known.
    pub const fn new(started: Started) -> Run {
        Run { started, cases: Vec::new(), finished: None }
    }

    /// Takes in what happened next. A second start is ignored, as is the start of a case.
    pub fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::Started(_) | RunEvent::CaseStarted(_) => {}
            RunEvent::CaseFinished(case) => self.cases.push(*case),
            RunEvent::Finished(finished) => self.finished = Some(finished),
        }
    }

    /// How many cases ended how.
    pub fn tally(&self) -> Tally {
        self.cases.iter().map(|case| Outcome::of(&case.verdict)).collect()
    }

    /// Why the run is not whole, if it is not.
    pub fn partial(&self) -> Option<&str> {
        match &self.finished {
            Some(finished) => finished.partial.as_deref(),
            None => Some("the run has not ended"),
        }
    }

    /// The exit code it deserves.
    pub fn exit(&self) -> Exit {
        self.tally().exit(self.partial().is_some())
    }
}
