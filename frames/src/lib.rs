//! Wire formats: bytes to meaning and back.
//!
//! Each format has two faces. `Repr` holds only what makes sense: it is read with located errors ([`Malformed`]) and
//! writes every byte. `Raw` sets any bits, for negative tests and fault rules; after it, [`icrc::seal`] repairs the
//! ICRC of a RoCE frame. [`packet`] reads and writes whole frames in one call.
//!
//! A frame here is what a capture shows: from the destination MAC on, without the FCS, at least 60 bytes long. Frame
//! *sizes*, given as `rig_units::Bytes`, count the FCS.
//!
//! Invariant: nothing here reads a clock, a file or a source of randomness, and no input makes a parser panic.

pub mod arp;
mod bits;
pub mod blue_rdma;
mod bytes;
pub mod cnp;
pub mod ethernet;
pub mod fcs;
pub mod icrc;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod lldp;
mod mac_addr;
pub mod mac_control;
pub mod macsec;
mod malformed;
pub mod packet;
pub mod pause;
pub mod pfc;
pub mod psn;
pub mod roce;
pub mod udp;
pub mod vlan;

pub use mac_addr::{BadMacAddr, MacAddr};
pub use malformed::{Malformed, Want};
