//! How large the buffers and thresholds of a switch have to be for what hangs on it: the forms of `spec` with numbers put in.
//!
//! Invariant: no form is written here a second time; what is not in `spec` is a sum of what is.

mod demand;
mod figures;

pub use demand::Demand;
pub(crate) use figures::committed;
pub use figures::{Extent, Figure, figures};
