//! Measurement against prediction: findings, and the statistics that decide how many trials a conclusion needs.
//!
//! Invariant: nothing here reads a clock; chance comes in as a seed; floating point never decides the order of events.

pub mod detection;
#[cfg(test)]
mod fixture;
mod grid;
pub mod restoration;
mod seen;

pub use grid::{Grid, Phase, Poll};
pub use seen::{Fired, Seen, Sighting, Subject};
