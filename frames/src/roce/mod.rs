//! RoCEv2: the InfiniBand transport inside UDP port 4791 (IBTA Vol 1 chapter 9, Annex A17).
//!
//! Left out: RD and XRC (no RoCE NIC offers RD; XRC shares RC's headers and adds one), the FLUSH and ATOMIC WRITE
//! opcodes of IBTA 1.5 and later, and RoCEv1 (Ethernet type 0x8915).

pub mod aeth;
pub mod atomic_ack_eth;
pub mod atomic_eth;
pub mod bth;
pub mod cnp_reserved;
pub mod deth;
pub mod ext;
pub mod ieth;
pub mod imm_dt;
pub mod opcode;
pub mod reth;

pub use ext::Ext;
pub use opcode::Opcode;

use crate::bits::bits;

bits!(
    /// A queue pair number. Zero and one are management queue pairs.
    Qpn: 24 bits of u32
);
