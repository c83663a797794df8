//! Mis-sizings of a declared configuration: what no trial has to show, because a formula does.
//!
//! A rule is one value of [`LINTS`]: its name, what it says, who says so, and its check. Invariant: a check asks `spec` and judges nothing that
//! a sound configuration may be.

mod buffers;
mod classes;
mod watchdog;

use rig_lab::{Declared, RuleFamily, System};
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
    check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
enum Check {
    /// One switch.
    Switch(fn(&Linted<'_>) -> Option<Flaw>),
    /// The links of a system; the flaw is of the link of that number.
    Links(fn(&System) -> Vec<(usize, Flaw)>),
}

/// A switch that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Linted<'a> {
    /// What it declares.
    pub declared: &'a Declared,
    /// The family of its watchdog's rule.
    pub family: Option<RuleFamily>,
    /// The longest of its cables.
    pub cable: Length,
    /// Its packet memory, where that is known: no profile declares it.
    pub memory: Option<Bytes>,
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

/// Every rule, in the order of docs/sizing.md.
pub static LINTS: &[Lint] = &[
    buffers::HEADROOM,
    buffers::MEMORY,
    buffers::STATIC_LIMITS,
    buffers::XON_FLAPS,
    buffers::PFC_FIRST,
    classes::PAUSE_LAPSES,
    classes::UNUSED_CLASS,
    watchdog::CONGESTION,
    watchdog::BETWEEN_POLLS,
    classes::MTU_OF_LINKS,
];

/// What the rules have to say of a switch.
pub fn switch(linted: &Linted<'_>) -> Vec<(&'static Lint, Flaw)> {
    let said = |lint: &'static Lint| match lint.check {
        Check::Switch(check) => check(linted).map(|flaw| (lint, flaw)),
        Check::Links(_) => None,
    };
    LINTS.iter().filter_map(said).collect()
}

/// What they have to say of the links between the devices of a system, each with the number of the link.
pub fn links(system: &System) -> Vec<(&'static Lint, usize, Flaw)> {
    let said = |lint: &'static Lint| match lint.check {
        Check::Links(check) => check(system),
        Check::Switch(_) => Vec::new(),
    };
    LINTS
        .iter()
        .flat_map(|lint| said(lint).into_iter().map(move |(at, flaw)| (lint, at, flaw)))
        .collect()
}

/// The rules for people, in Markdown.
pub fn table() -> String {
    let rows = LINTS
        .iter()
        .map(|lint| format!("| `{}` | {} | {} |\n", lint.name, lint.about, lint.source));
    format!("| rule | what is wrong | source |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests;
