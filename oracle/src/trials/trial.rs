//! One trial that was run: what was sent and what was seen.

use super::ask::Role;
use crate::verdict::Doubt;
use rig_capture::Observation;
use rig_testcases::{FlowSpec, Script, StreamSpec};
use std::sync::Arc;

/// One trial that was run.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its number within the case, from 1.
    pub number: u32,
    /// Index of its point in the sweep of variables.
    pub point: usize,
    /// What was sent.
    pub script: Arc<Script>,
    /// What was seen.
    pub observation: Observation,
    /// What it is for.
    pub role: Role,
    /// Why it does not count, if it does not.
    pub void: Option<Doubt>,
}

impl Trial {
    /// Why something cannot be told from this trial.
    pub fn doubt(&self, why: &str) -> Doubt {
        Doubt { reason: "not-observable", detail: format!("trial {}: {why}", self.number) }
    }

    /// Whether the device took every setting that the case changes on the way.
    ///
    /// # Errors
    /// It refused one, and why.
    pub fn taken(&self) -> Result<(), Doubt> {
        let mut outcomes = self.observation.config.iter();
        match outcomes.find_map(|outcome| outcome.refused.as_ref()) {
            Some(why) => {
                Err(self.doubt(&format!("the device refused a setting on the way: {why}")))
            }
            None => Ok(()),
        }
    }

    /// A stream of the script by its name, with its index.
    ///
    /// # Errors
    /// There is none.
    pub fn stream(&self, name: &str) -> Result<(u16, &StreamSpec), Doubt> {
        let found = (0_u16..).zip(&self.script.streams).find(|(_, spec)| spec.name == name);
        found.ok_or_else(|| self.doubt(&format!("{name} is not in the script")))
    }

    /// A flow of the script by its name, with its index.
    ///
    /// # Errors
    /// There is none.
    pub fn flow(&self, name: &str) -> Result<(u16, &FlowSpec), Doubt> {
        let found = (0_u16..).zip(&self.script.flows).find(|(_, spec)| spec.name == name);
        found.ok_or_else(|| self.doubt(&format!("{name} is not in the script")))
    }

    /// The index of a rig port by its name.
    ///
    /// # Errors
    /// There is none.
    pub fn port(&self, name: &str) -> Result<u16, Doubt> {
        let found = (0_u16..).zip(&self.script.ports).find(|(_, port)| *port == name);
        let index = found.map(|(index, _)| index);
        index.ok_or_else(|| self.doubt(&format!("{name} is not in the script")))
    }
}
