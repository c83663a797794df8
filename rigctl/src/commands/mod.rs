//! One file per command.

pub mod check;
pub mod input;
pub mod list;
pub mod mutants;
pub mod run;
