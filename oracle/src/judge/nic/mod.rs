//! What a NIC was seen to do against what it must: each rule is judged locally, so that one fault is told once.

pub mod bursts;
pub mod cut;
#[cfg(test)]
mod fixture;
pub mod header;
pub mod np;
pub mod rc;
pub mod rp;
pub mod shares;
