//! What a NIC was seen to do against what it must: each rule is judged locally, so that one fault is told once.

pub mod app;
pub mod asked;
pub mod checksums;
pub mod completions;
pub mod explained;
pub mod fence;
#[cfg(test)]
mod fixture;
pub mod growth;
pub mod np;
pub mod pause;
pub mod rc;
pub mod receives;
pub mod rp;
pub mod shares;
pub mod stream;
pub mod turned_away;
