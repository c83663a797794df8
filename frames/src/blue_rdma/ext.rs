//! The extended headers of blue-rdma, by opcode (`PacketGenAndParse`).
//!
//! Each packet that places something has a RETH: its own address, and how long it is. Of the first packet of a message the length is
//! that of the message, of an only packet both are the same.
//!
//! | opcodes | headers |
//! | --- | --- |
//! | SEND, WRITE, READ response: first, middle, last, only | RETH |
//! | SEND, WRITE: last, only with immediate | RETH, ImmDt |
//! | SEND: last, only with invalidate | RETH, IETH |
//! | READ request | RETH of the memory to read, RRETH |
//! | acknowledge | AETH of 36 bytes |
//! | CNP | none |

use super::{ack, rreth};
use crate::Malformed;
use crate::roce::{Opcode, ieth, imm_dt, reth};

/// Which extended headers a packet has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Layout {
    Reth,
    RethImm,
    RethIeth,
    RethRreth,
    Ack,
    None,
}

impl Layout {
    /// That of an opcode; `None` for one that the dialect does not have.
    pub(super) const fn of(opcode: Opcode) -> Option<Layout> {
        Some(match opcode {
            Opcode::RcSendFirst
            | Opcode::RcSendMiddle
            | Opcode::RcSendLast
            | Opcode::RcSendOnly
            | Opcode::RcWriteFirst
            | Opcode::RcWriteMiddle
            | Opcode::RcWriteLast
            | Opcode::RcWriteOnly
            | Opcode::RcReadResponseFirst
            | Opcode::RcReadResponseMiddle
            | Opcode::RcReadResponseLast
            | Opcode::RcReadResponseOnly => Layout::Reth,
            Opcode::RcSendLastImm
            | Opcode::RcSendOnlyImm
            | Opcode::RcWriteLastImm
            | Opcode::RcWriteOnlyImm => Layout::RethImm,
            Opcode::RcSendLastInvalidate | Opcode::RcSendOnlyInvalidate => Layout::RethIeth,
            Opcode::RcReadRequest => Layout::RethRreth,
            Opcode::RcAcknowledge => Layout::Ack,
            Opcode::Cnp => Layout::None,
            _ => return None,
        })
    }
}

/// Extended headers and what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ext {
    /// Where the payload goes.
    Reth(reth::Repr),
    /// Where the payload goes, and immediate data.
    RethImm(reth::Repr, imm_dt::Repr),
    /// Where the payload goes, and a key to revoke.
    RethIeth(reth::Repr, ieth::Repr),
    /// What is to be read, and where the answer goes.
    RethRreth(reth::Repr, rreth::Repr),
    /// An acknowledgement.
    Ack(ack::Repr),
    /// None.
    None,
}

impl Ext {
    pub(super) const fn layout(&self) -> Layout {
        match self {
            Ext::Reth(_) => Layout::Reth,
            Ext::RethImm(..) => Layout::RethImm,
            Ext::RethIeth(..) => Layout::RethIeth,
            Ext::RethRreth(..) => Layout::RethRreth,
            Ext::Ack(_) => Layout::Ack,
            Ext::None => Layout::None,
        }
    }

    /// Where the payload goes, of a packet that may have one.
    pub const fn placed(&self) -> Option<&reth::Repr> {
        match self {
            Ext::Reth(reth) | Ext::RethImm(reth, _) | Ext::RethIeth(reth, _) => Some(reth),
            Ext::RethRreth(..) | Ext::Ack(_) | Ext::None => None,
        }
    }

    /// Reads the headers of `layout`.
    ///
    /// # Errors
    /// When the bytes end too early.
    pub(super) fn parse(layout: Layout, bytes: &[u8]) -> Result<Ext, Malformed> {
        Ok(match layout {
            Layout::Reth => Ext::Reth(reth::Repr::parse(bytes)?.0),
            Layout::RethImm => {
                let (reth, rest) = reth::Repr::parse(bytes)?;
                Ext::RethImm(reth, imm_dt::Repr::parse(rest)?.0)
            }
            Layout::RethIeth => {
                let (reth, rest) = reth::Repr::parse(bytes)?;
                Ext::RethIeth(reth, ieth::Repr::parse(rest)?.0)
            }
            Layout::RethRreth => {
                let (reth, rest) = reth::Repr::parse(bytes)?;
                Ext::RethRreth(reth, rreth::Repr::parse(rest)?.0)
            }
            Layout::Ack => Ext::Ack(ack::Repr::parse(bytes)?.0),
            Layout::None => Ext::None,
        })
    }

    /// Appends the headers to `out`.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        if let Some(reth) = self.placed() {
            out.extend_from_slice(&reth.emit());
        }
        match self {
            Ext::RethImm(_, imm) => out.extend_from_slice(&imm.emit()),
            Ext::RethIeth(_, ieth) => out.extend_from_slice(&ieth.emit()),
            Ext::RethRreth(reth, rreth) => {
                out.extend_from_slice(&reth.emit());
                out.extend_from_slice(&rreth.emit());
            }
            Ext::Ack(ack) => out.extend_from_slice(&ack.emit()),
            Ext::Reth(_) | Ext::None => {}
        }
    }
}
