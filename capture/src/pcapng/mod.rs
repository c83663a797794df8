//! Capture files: evidence out, captures of anyone in.
//!
//! Evidence has one interface for each rig port, nanosecond timestamps that start with the trial, a direction on each
//! frame and a comment on each that a finding cites. Frames are without FCS, from the destination MAC on. Timestamps
//! are cut to the nanosecond: a file can say picoseconds, but tshark 4.0 overflows on them after 18 ms.

mod evidence;
mod frame_file;
mod infer;
mod kept;
mod loads;
mod raw;
mod read;
mod select;
mod snap;
mod spool;
mod storms;
mod zip;

pub use evidence::{Evidence, Written};
pub(crate) use evidence::{LEFT_OUT, NANOSECONDS, direction, io_error, put};
pub use frame_file::FrameFile;
pub use read::{Assume, Capture, Fault, Kept, bytes, parse, read};
pub use spool::{Onto, Spool, Spooled};
pub use zip::Zip;

#[cfg(test)]
mod tests;
