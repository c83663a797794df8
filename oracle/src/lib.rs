//! What the device must do: `spec` in closed form, `model` by simulation, `judge` by comparing measurement with spec.
//!
//! `spec` and `model` share configuration types and constants of the standards, never behaviour: a device that is
//! simulated wrongly must not be predicted wrongly too. A test over the repository enforces it.
//!
//! Invariant: nothing here reads a clock or a file; chance comes in as a seed.

pub mod judge;
pub mod model;
pub mod prediction;
pub mod spec;
pub mod verdict;

pub use prediction::Prediction;
pub use verdict::{
    Answer, Curve, CurvePoint, Doubt, Finding, Judgement, Looked, NotApplicable, Taken, Verdict,
};
