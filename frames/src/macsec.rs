//! MACsec (IEEE 802.1AE-2018): a SecTAG and an ICV around what an Ethernet frame carries.

mod sci;
mod sectag;

pub use sci::Sci;
pub use sectag::{An, Channel, FIXED, Raw, SecTag, Sl, tci};

/// Length of the ICV of every suite here, in bytes (clause 14).
pub const ICV: usize = 16;
