//! The names that a case may use, and which of them it did.

use super::known::known;
use core::cell::RefCell;
use indexmap::IndexMap;
use rig_lab::walk::At;
use std::collections::BTreeSet;

/// Names of a case. A list of ports makes one stream or storm for each; the group's name stands for all of them.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// Stream groups and their members.
    pub(super) streams: IndexMap<String, Vec<String>>,
    /// Storm groups and their members.
    pub(super) storms: IndexMap<String, Vec<String>>,
    /// Groups of flows and their members.
    pub(super) flows: IndexMap<String, Vec<String>>,
    /// Counted streams: how long one takes to send is a length of time.
    pub(super) counted: Vec<String>,
    /// Variables of the sweep.
    pub(super) variables: Vec<String>,
    /// Declared values that are lengths of time.
    pub(super) durations: &'a [String],
    used: RefCell<BTreeSet<String>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        streams: IndexMap<String, Vec<String>>,
        storms: IndexMap<String, Vec<String>>,
        counted: Vec<String>,
        variables: Vec<String>,
        durations: &'a [String],
    ) -> Names<'a> {
        let flows = IndexMap::new();
        Names { streams, storms, flows, counted, variables, durations, used: RefCell::default() }
    }

    /// The same names, and those of flows.
    pub(super) fn with_flows(self, flows: IndexMap<String, Vec<String>>) -> Names<'a> {
        Names { flows, ..self }
    }

    /// Whether a step or a measure named it.
    pub(super) fn used(&self, name: &str) -> bool {
        self.used.borrow().contains(name)
    }

    /// A variable, noted as used.
    pub(super) fn variable(&self, at: &At<'_>, name: &str) -> bool {
        self.used.borrow_mut().insert(name.to_owned());
        known(at, "variable", name, self.variables.iter().map(String::as_str))
    }

    /// Notes a variable as used, if it is one.
    pub(super) fn late(&self, name: &str) {
        if self.variables.iter().any(|variable| variable == name) {
            self.used.borrow_mut().insert(name.to_owned());
        }
    }

    /// The members of a stream or of a group of them.
    pub(super) fn stream(&self, at: &At<'_>) -> Option<Vec<String>> {
        self.find(at, "stream", &[&self.streams])
    }

    /// The members of a storm or of a group of them.
    pub(super) fn storm(&self, at: &At<'_>) -> Option<Vec<String>> {
        self.find(at, "storm", &[&self.storms])
    }

    /// The members of a flow or of a group of them.
    pub(super) fn flow(&self, at: &At<'_>) -> Option<Vec<String>> {
        self.find(at, "flow", &[&self.flows])
    }

    /// The members of whatever has this name.
    pub(super) fn sender(&self, at: &At<'_>) -> Option<Vec<String>> {
        let what = if self.flows.is_empty() { "stream or storm" } else { "stream, flow or storm" };
        self.find(at, what, &[&self.streams, &self.storms, &self.flows])
    }

    fn find(
        &self,
        at: &At<'_>,
        what: &str,
        kinds: &[&IndexMap<String, Vec<String>>],
    ) -> Option<Vec<String>> {
        let name = at.text(&format!("the name of a {what}"))?;
        for groups in kinds {
            let found = groups.get(name).cloned().or_else(|| {
                groups
                    .values()
                    .flatten()
                    .any(|member| member == name)
                    .then(|| vec![name.to_owned()])
            });
            if let Some(members) = found {
                let mut used = self.used.borrow_mut();
                let of = |(_, all): &(&String, &Vec<String>)| all.contains(&members[0]);
                used.extend(groups.iter().filter(of).map(|(group, _)| group.clone()));
                used.extend(members.iter().cloned());
                return Some(members);
            }
        }
        let names = || kinds.iter().flat_map(|groups| groups.keys()).map(String::as_str);
        let names: Vec<&str> = names().collect();
        known(at, what, name, names.iter().copied());
        None
    }
}
