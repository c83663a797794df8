//! Quantities with the unit in the type: what the rest of the rig computes with and what its YAML files say.
//!
//! Invariant: nothing here reads a clock, a file or a source of randomness, and nothing computes in floating point.

mod apart;
mod budget;
mod length;
pub mod limits;
mod parse;
mod pick;
mod rate;
mod schema;
mod size;
mod time;
mod within;

pub use apart::Apart;
pub use budget::PFC_BUDGETS;
pub use length::Length;
pub use parse::BadQuantity;
pub use pick::{Ppm, Quanta};
pub use rate::{L1Rate, L2Rate, Pace, Percent, PortSpeed, Rate};
pub use size::Bytes;
pub use time::{Dur, Time};
pub use within::Within;

/// Preamble, start delimiter and the shortest inter-frame gap: what layer 1 adds to every frame.
pub const L1_OVERHEAD: Bytes = Bytes(20);
/// The frame check sequence; every frame size in this rig counts it.
pub const FCS: Bytes = Bytes(4);
/// The shortest frame, FCS counted (IEEE 802.3 clause 4.4.2).
pub const MIN_FRAME: Bytes = Bytes(64);
