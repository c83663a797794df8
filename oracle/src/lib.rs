//! What the device must do: `spec` in closed form, `model` by simulation, `judge` by comparing measurement with spec.
//! `lint` is what is wrong with a configuration by a formula; `sizing` what a switch needs for a speed, a cable and a load, by the forms of `spec`.
//! `measure` is what a case may ask for, one file a measure, and `trials` what such a case is run and judged by; nothing here runs it.
//!
//! `spec` and `model` share configuration types and constants of the standards, never behaviour: a device that is
//! simulated wrongly must not be predicted wrongly too. A test over the repository enforces it.
//!
//! Invariant: nothing here reads a clock or a file; chance comes in as a seed.

pub mod judge;
pub mod lint;
pub mod measure;
pub mod model;
pub mod prediction;
pub mod resolution;
pub mod sizing;
pub mod spec;
pub mod trials;
pub mod verdict;

pub use prediction::Prediction;
pub use resolution::{Alike, Resolution};
pub use verdict::{
    Answer, Curve, CurvePoint, Doubt, Finding, Judgement, Looked, NotApplicable, Taken, Verdict,
};
