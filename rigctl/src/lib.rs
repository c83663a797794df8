//! The runner that walks the flow from a test case to a report, and the command line around it.
//!
//! A library, so that tests run the catalogue in-process. Only [`wall`] reads a clock.

pub mod cli;
pub mod commands;
pub mod doctor;
pub mod executor;
pub mod fence;
pub mod folder;
pub mod interrupt;
pub mod mutation;
pub mod outdir;
pub mod report_files;
pub mod rights;
pub mod runner;
pub mod secrecy;
pub mod state;
pub mod stderr;
pub mod stdout;
pub mod stop;
pub mod to_disk;
pub mod wall;
