//! A case on a device as values: what its trials follow from, which of them are asked for, and what is kept of those that were run.
//!
//! Invariant: nothing here runs a device. Who does hands over the observation of each trial.

pub mod ask;
pub mod cited;
pub mod context;
pub mod effort;
pub mod flow_time;
pub mod kept;
pub mod placer;
pub mod points;
pub mod seed;
pub mod table;
pub mod threshold_search;
pub mod trial;
pub mod values;
