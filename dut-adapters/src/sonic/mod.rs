//! A switch that runs SONiC, as its databases tell of it: from a file, or from its redis, through which it is steered, too
//! ([`control`]).
//!
//! Facts of tables, keys and defaults: sonic-swss-common `schema.h`, sonic-buildimage's YANG models and templates, sonic-swss
//! (docs/sonic.md says which where). Invariant: what is no setting that the rig reads, keys of MACsec and community strings among it, is not
//! kept and not shown (`kept.rs`).

mod alike;
mod asic;
mod buffers;
mod chips;
pub mod control;
mod copied;
mod kept;
mod lasting;
mod link;
mod live;
mod port_rows;
mod ports;
mod reader;
mod rules;
mod scheduled;
mod shell;
mod sized;
mod stated;
mod tables;
mod way;
mod wire;
pub(crate) mod write;
mod written;

pub use alike::{PortSet, alike};
pub use control::{Introduction, SonicControl};
pub use live::live;
pub use reader::read;
pub use rules::{FILE_RULES, FileFlaw, FileRule, flaws, is_of_file, of_the_bundled};
pub use tables::Tables;

#[cfg(test)]
mod tests;
