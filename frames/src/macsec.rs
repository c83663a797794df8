//! MACsec (IEEE 802.1AE-2018): a SecTAG and an ICV around what an Ethernet frame carries, with real keys.
//!
//! A station holds an [`Sa`] for each secure association, [`Sa::protect`]s what it sends by it and [`Sa::open`]s what
//! it receives. The SecTAG alone is read by [`SecTag::parse`], which is how a receiver finds the association.
//!
//! Left out: confidentiality offsets of 30 and 50 bytes; tags in clear between the source address and
//! the SecTAG, which some networks put there but no clause does; the replay window, which is the receiver's own; key
//! agreement (MKA, IEEE 802.1X).

mod pn;
mod sa;
mod sci;
mod sectag;
mod suite;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub use pn::recover;
pub use sa::{BadKey, Opened, Sa, Seal};
pub use sci::Sci;
pub use sectag::{An, Channel, FIXED, Raw, SecTag, Sl, tci};
pub use suite::Suite;

/// Length of the ICV of every suite here, in bytes (clause 14).
pub const ICV: usize = 16;

/// By how many bytes a protected frame is longer: the SecTAG, 8 bytes or with an SCI 16, and the ICV.
pub const fn overhead(send_sci: bool) -> usize {
    FIXED + if send_sci { sci::LEN } else { 0 } + ICV
}
