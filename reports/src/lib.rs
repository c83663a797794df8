//! One stream of run events feeds the terminal, JUnit, JSON, JSONL and the HTML page.
//!
//! Invariant: nothing here reads a clock; whatever depends on wall-clock time comes in under [`Wall`] and goes out
//! under the one key `wall`. Reporters write to what they are given and print nothing themselves.

pub mod budget;
pub mod compare;
pub mod event;
mod figure;
mod finding;
#[cfg(test)]
mod fixture;
pub mod foreseen;
pub mod html;
pub mod jsonl;
pub mod junit;
mod left_out;
pub mod outcome;
pub mod pausing;
pub mod rebuild;
pub mod results;
pub mod run;
pub mod sending;
pub mod shown;
pub mod terminal;
mod text;

pub use budget::Budget;
pub use compare::Comparison;
pub use event::{
    CaseReport, EvidenceFile, Finished, LeftOut, RunEvent, Started, TableFile, Trials, Void, Wall,
};
pub use foreseen::foreseen;
pub use jsonl::JsonLines;
pub use outcome::{Exit, Outcome, Tally};
pub use pausing::{PausedClass, Pausing};
pub use results::{Results, Unreadable};
pub use run::Run;
pub use sending::{Errors, Floor, Sending};
pub use shown::{Paint, Shown, printable};
pub use terminal::{Colour, Progress, Style, Terminal};
