//! The extended headers that follow a BTH, as one value: the opcode fixes which they are.

use super::{aeth, atomic_ack_eth, atomic_eth, cnp_reserved, deth, ieth, imm_dt, reth};
use crate::Malformed;

/// Which extended headers a packet has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// None.
    Plain,
    /// ImmDt.
    Imm,
    /// IETH.
    Ieth,
    /// RETH.
    Reth,
    /// RETH, then ImmDt.
    RethImm,
    /// AETH.
    Aeth,
    /// AETH, then AtomicAckETH.
    AethAtomicAck,
    /// AtomicETH.
    Atomic,
    /// DETH.
    Deth,
    /// DETH, then ImmDt.
    DethImm,
    /// The reserved bytes of a CNP.
    Cnp,
}

impl Layout {
    /// Length of the headers together, in bytes.
    pub const fn len(self) -> usize {
        match self {
            Layout::Plain => 0,
            Layout::Imm => imm_dt::LEN,
            Layout::Ieth => ieth::LEN,
            Layout::Reth => reth::LEN,
            Layout::RethImm => reth::LEN + imm_dt::LEN,
            Layout::Aeth => aeth::LEN,
            Layout::AethAtomicAck => aeth::LEN + atomic_ack_eth::LEN,
            Layout::Atomic => atomic_eth::LEN,
            Layout::Deth => deth::LEN,
            Layout::DethImm => deth::LEN + imm_dt::LEN,
            Layout::Cnp => cnp_reserved::LEN,
        }
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Extended headers and what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ext {
    /// None.
    Plain,
    /// Immediate data.
    Imm(imm_dt::Repr),
    /// A key to revoke.
    Ieth(ieth::Repr),
    /// Remote memory.
    Reth(reth::Repr),
    /// Remote memory and immediate data.
    RethImm(reth::Repr, imm_dt::Repr),
    /// An acknowledgement.
    Aeth(aeth::Repr),
    /// An acknowledgement of an atomic operation.
    AethAtomicAck(aeth::Repr, atomic_ack_eth::Repr),
    /// An atomic operation.
    Atomic(atomic_eth::Repr),
    /// A datagram's sender.
    Deth(deth::Repr),
    /// A datagram's sender and immediate data.
    DethImm(deth::Repr, imm_dt::Repr),
    /// The reserved bytes of a CNP, sent as zero and ignored when read.
    Cnp,
}

impl Ext {
    /// Which headers these are.
    pub const fn layout(&self) -> Layout {
        match self {
            Ext::Plain => Layout::Plain,
            Ext::Imm(_) => Layout::Imm,
            Ext::Ieth(_) => Layout::Ieth,
            Ext::Reth(_) => Layout::Reth,
            Ext::RethImm(..) => Layout::RethImm,
            Ext::Aeth(_) => Layout::Aeth,
            Ext::AethAtomicAck(..) => Layout::AethAtomicAck,
            Ext::Atomic(_) => Layout::Atomic,
            Ext::Deth(_) => Layout::Deth,
            Ext::DethImm(..) => Layout::DethImm,
            Ext::Cnp => Layout::Cnp,
        }
    }

    /// The acknowledgement in it, if there is one.
    pub const fn aeth(&self) -> Option<&aeth::Repr> {
        match self {
            Ext::Aeth(aeth) | Ext::AethAtomicAck(aeth, _) => Some(aeth),
            Ext::Plain
            | Ext::Imm(_)
            | Ext::Ieth(_)
            | Ext::Reth(_)
            | Ext::RethImm(..)
            | Ext::Atomic(_)
            | Ext::Deth(_)
            | Ext::DethImm(..)
            | Ext::Cnp => None,
        }
    }

    /// Reads the headers of `layout` and returns them with the bytes behind.
    ///
    /// # Errors
    /// As the parser of each header.
    pub fn parse(layout: Layout, bytes: &[u8]) -> Result<(Ext, &[u8]), Malformed> {
        Ok(match layout {
            Layout::Plain => (Ext::Plain, bytes),
            Layout::Imm => {
                let (imm, rest) = imm_dt::Repr::parse(bytes)?;
                (Ext::Imm(imm), rest)
            }
            Layout::Ieth => {
                let (ieth, rest) = ieth::Repr::parse(bytes)?;
                (Ext::Ieth(ieth), rest)
            }
            Layout::Reth => {
                let (reth, rest) = reth::Repr::parse(bytes)?;
                (Ext::Reth(reth), rest)
            }
            Layout::RethImm => {
                let (reth, rest) = reth::Repr::parse(bytes)?;
                let (imm, rest) = imm_dt::Repr::parse(rest)?;
                (Ext::RethImm(reth, imm), rest)
            }
            Layout::Aeth => {
                let (aeth, rest) = aeth::Repr::parse(bytes)?;
                (Ext::Aeth(aeth), rest)
            }
            Layout::AethAtomicAck => {
                let (aeth, rest) = aeth::Repr::parse(bytes)?;
                let (atomic, rest) = atomic_ack_eth::Repr::parse(rest)?;
                (Ext::AethAtomicAck(aeth, atomic), rest)
            }
            Layout::Atomic => {
                let (atomic, rest) = atomic_eth::Repr::parse(bytes)?;
                (Ext::Atomic(atomic), rest)
            }
            Layout::Deth => {
                let (deth, rest) = deth::Repr::parse(bytes)?;
                (Ext::Deth(deth), rest)
            }
            Layout::DethImm => {
                let (deth, rest) = deth::Repr::parse(bytes)?;
                let (imm, rest) = imm_dt::Repr::parse(rest)?;
                (Ext::DethImm(deth, imm), rest)
            }
            Layout::Cnp => (Ext::Cnp, cnp_reserved::skip(bytes)?),
        })
    }

    /// Appends the headers to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Ext::Plain => {}
            Ext::Imm(imm) => out.extend_from_slice(&imm.emit()),
            Ext::Ieth(ieth) => out.extend_from_slice(&ieth.emit()),
            Ext::Reth(reth) => out.extend_from_slice(&reth.emit()),
            Ext::RethImm(reth, imm) => {
                out.extend_from_slice(&reth.emit());
                out.extend_from_slice(&imm.emit());
            }
            Ext::Aeth(aeth) => out.extend_from_slice(&aeth.emit()),
            Ext::AethAtomicAck(aeth, atomic) => {
                out.extend_from_slice(&aeth.emit());
                out.extend_from_slice(&atomic.emit());
            }
            Ext::Atomic(atomic) => out.extend_from_slice(&atomic.emit()),
            Ext::Deth(deth) => out.extend_from_slice(&deth.emit()),
            Ext::DethImm(deth, imm) => {
                out.extend_from_slice(&deth.emit());
                out.extend_from_slice(&imm.emit());
            }
            Ext::Cnp => out.extend_from_slice(&[0; cnp_reserved::LEN]),
        }
    }
}
