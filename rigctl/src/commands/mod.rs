//! One file per command.

pub mod analyze;
pub mod bench;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod dut;
pub mod explain;
pub(crate) mod figures;
pub mod generate;
pub mod guest;
mod hold;
pub mod input;
pub mod lint;
pub mod list;
pub(crate) mod machine;
pub mod mutants;
pub mod nic;
pub mod profile;
pub mod report;
pub mod restore;
pub mod run;
pub mod say;
pub mod schema;
pub mod size;
mod standing;
pub(crate) mod words;
