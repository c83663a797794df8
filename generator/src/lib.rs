//! Streams and storms of a script, worked out for the ports they leave by.
//!
//! Invariant: nothing here reads a clock; a program says when frames are due, an executor sends them.

pub mod program;
pub mod storm;

pub use program::{Impossible, PacedStream, PortProgram, Program};
pub use storm::{PacedStorm, Unholdable};
