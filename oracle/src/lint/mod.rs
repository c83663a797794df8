//! Mis-sizings of a declared configuration: what no trial has to show, because a formula does.
//!
//! A rule is one value of [`LINTS`]: its name, what it says, who says so, and its check. Invariant: a check asks `spec` and judges nothing that
//! a sound configuration may be.

mod buffers;
mod classes;
mod rule;
mod watchdog;

pub use rule::{Flaw, Lint, Linted};

use rig_lab::System;
use rule::Check;

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
    watchdog::UNWATCHED,
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
