//! What NICs of blue-rdma send: the opcodes and the UDP port of RoCEv2 with other headers, and no ICRC.
//!
//! From the released sources, as what is sent there: the RTL github.com/open-rdma/open-rdma-rtl (`RdmaHeaders`, `PacketGenAndParse`,
//! `AutoAckGenerator`, `CnpPacketGen`, `PsnContinousChecker`) and the driver in Rust beside it (`ack_responder`, `meta_report`).
//!
//! | bytes of the datagram | what |
//! | --- | --- |
//! | 0 to 11 | BTH, with the MSN where the P_Key stands and isRetry where MigReq does |
//! | 12 to 53 | extended headers by the opcode, the rest zero: hardware always sends 42 bytes |
//! | 54 on | of a packet with a payload as many bytes as its address is behind a multiple of four, then the payload |
//!
//! Acknowledgements that the driver writes end with their extended header, 48 bytes in all.
//!
//! Left out: older versions of the RTL, whose headers are of the length that the opcode asks for; atomics, UC, UD, XRC and
//! raw packets, which the driver does not do; IPv6, which the RTL has not.

pub mod ack;
pub mod bth;
mod datagram;
pub mod ext;
mod header;
pub mod rreth;

pub use datagram::Datagram;
pub use ext::Ext;
pub use header::{Author, Header};

/// Length of BTH and extended headers of what hardware sends, in bytes.
pub(crate) const BLOCK: usize = 54;
