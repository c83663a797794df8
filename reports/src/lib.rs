//! One stream of run events feeds the terminal, JUnit, JSON, JSONL and the HTML page.
//!
//! Invariant: nothing here reads a clock; whatever depends on wall-clock time comes in under [`Wall`] and goes out
//! under the one key `wall`. Reporters write to what they are given and print nothing themselves.

pub mod event;

pub use event::{CaseReport, EvidenceFile, Finished, RunEvent, Started, Trials, Wall};
