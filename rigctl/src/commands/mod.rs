//! One file per command.

pub mod analyze;
pub mod bench;
pub mod check;
pub mod compare;
pub mod dut;
pub mod explain;
pub mod input;
pub mod list;
pub mod mutants;
pub mod run;
pub mod schema;
