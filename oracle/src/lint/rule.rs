//! A rule, what it looks at, and what it says.

use crate::sizing::Demand;
use rig_lab::{RuleFamily, Switch, System};
use rig_units::{Bytes, Length};

/// One rule.
#[derive(Debug)]
pub struct Lint {
    /// Its name: lower case with dashes.
    pub name: &'static str,
    /// What is wrong where it fires, as a sentence without a full stop.
    pub about: &'static str,
    /// Who says so.
    pub source: &'static str,
    pub(super) check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// One switch.
    Switch(fn(&Linted<'_>) -> Option<Flaw>),
    /// The links of a system; the flaw is of the link of that number.
    Links(fn(&System) -> Vec<(usize, Flaw)>),
}

/// A switch that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Linted<'a> {
    /// What it declares.
    pub declared: &'a Switch,
    /// The family of its watchdog's rule.
    pub family: Option<RuleFamily>,
    /// The longest of its cables.
    pub cable: Length,
    /// Its packet memory, where that is known: no profile declares it.
    pub memory: Option<Bytes>,
    /// What ports that are configured otherwise keep of it for themselves.
    pub elsewhere: Bytes,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The path below `declared:` of the setting that is to blame; nothing for a link.
    pub path: &'static str,
    /// What is there, with its number.
    pub found: String,
    /// What would be right.
    pub want: String,
    /// The formula with its numbers.
    pub numbers: String,
}

impl Linted<'_> {
    /// What the switch is asked to do, with its cables.
    pub(super) fn demand(&self) -> Demand {
        Demand { cable: self.cable, ..Demand::of(self.declared) }
    }
}
