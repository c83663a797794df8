//! One trait over every device under test: configure, read back, read counters, hear events.
//!
//! Invariant: an adapter offers what it can really do and says so; it judges nothing.

pub mod control;
pub mod dut;
pub mod emulated;
pub mod emulated_wire;
pub mod journal;
pub mod roce;
pub mod serve;

pub use dut::{Dut, Refused};
pub use emulated::Emulated;
pub use emulated_wire::EmulatedWire;
pub use journal::Journal;
