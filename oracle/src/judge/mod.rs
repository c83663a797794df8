//! Measurement against prediction: findings, and the statistics that decide how many trials a conclusion needs.
//!
//! Invariant: nothing here reads a clock; chance comes in as a seed; floating point never decides the order of events.

pub mod answers;
pub mod batches;
pub mod conclude;
pub mod detection;
pub mod fired;
#[cfg(test)]
mod fixture;
mod grid;
pub mod jain;
mod latency;
pub mod likelihood;
pub mod marking_fit;
pub mod moved;
pub mod nic;
pub mod pairs;
pub mod place;
pub mod quantile;
pub mod ramp;
pub mod restoration;
pub mod search;
pub mod stats;
mod storm_trial;
pub mod tally;

pub use grid::{Grid, Phase, Poll};
pub use place::{Ask, Place, Planner, Setup};
pub use search::{Found, Search};
pub use storm_trial::{Fired, Sighting, StormTrial, Subject};
