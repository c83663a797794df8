//! All headers of a packet of blue-rdma, and where its payload is.

use super::ext::Layout;
use super::{BLOCK, Ext, ack, bth};
use crate::Malformed;
use crate::malformed::{Want, expect, short};
use crate::roce::Opcode;

/// Who wrote a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Author {
    /// The NIC: its headers take 54 bytes, whatever they are.
    Hardware,
    /// The driver, which writes acknowledgements alone: 48 bytes, and nothing behind.
    Driver,
}

/// The headers of a packet behind UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    /// What it is.
    pub bth: bth::Repr,
    /// What the opcode asks for.
    pub ext: Ext,
    /// Whose it is.
    pub author: Author,
}

impl Header {
    /// Reads what a datagram holds and returns its headers with the payload, which has no pad behind. Reserved bits, and what stands
    /// in the unused part of the headers and in front of the payload, are ignored.
    ///
    /// # Errors
    /// When the bytes end too early; on an opcode or a version that the dialect does not have; on a payload of another length than the
    /// RETH says (of a first packet: no less than it says), or where none may be.
    pub fn parse(datagram: &[u8]) -> Result<(Header, &[u8]), Malformed> {
        let (bth, rest) = bth::Repr::parse(datagram)?;
        let layout = Layout::of(bth.opcode).unwrap_or(Layout::None);
        let author = match layout {
            Layout::Ack if rest.len() == ack::LEN => Author::Driver,
            _ => Author::Hardware,
        };
        let behind = match author {
            Author::Driver => &[],
            Author::Hardware => datagram
                .get(BLOCK..)
                .ok_or_else(|| short("blue_rdma.headers", BLOCK, datagram.len()))?,
        };
        let header = Header { bth, ext: Ext::parse(layout, rest)?, author };
        Ok((header, header.payload(behind)?))
    }

    /// Writes the headers; every byte is written, what is reserved or unused as zero.
    ///
    /// # Panics
    /// Where the extended headers are not those of the opcode, or the driver's are not an acknowledgement's.
    pub fn emit(&self) -> Vec<u8> {
        let Header { bth, ext, author } = self;
        let layout = ext.layout();
        assert_eq!(Layout::of(bth.opcode), Some(layout), "{:?} has other headers", bth.opcode);
        let mut out = Vec::with_capacity(BLOCK);
        out.extend_from_slice(&bth.emit());
        ext.emit(&mut out);
        match author {
            Author::Hardware => out.resize(BLOCK, 0),
            Author::Driver => {
                assert_eq!(layout, Layout::Ack, "a driver acknowledges, nothing else");
            }
        }
        out
    }

    /// The bytes in front of a payload that is not empty: it begins as far behind a multiple of four as in the receiver's memory.
    pub fn shift(&self) -> usize {
        self.ext.placed().map_or(0, |reth| usize::from(reth.virtual_address.to_be_bytes()[7] & 3))
    }

    /// What of the bytes behind the headers is the payload.
    fn payload<'a>(&self, behind: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let Some(reth) = self.ext.placed() else {
            let none = Want::AtMost(0);
            let got = behind.len() as u64;
            let wrong = Malformed { field: "blue_rdma.payload", offset: BLOCK, want: none, got };
            return if behind.is_empty() { Ok(behind) } else { Err(wrong) };
        };
        if behind.is_empty() {
            // The length that hardware writes then is whatever was there before.
            return Ok(behind);
        }
        let payload = behind
            .get(self.shift()..)
            .ok_or_else(|| short("blue_rdma.payload", self.shift(), behind.len()))?;
        let (said, got) = (u64::from(reth.dma_len), payload.len() as u64);
        match self.bth.opcode {
            Opcode::RcSendFirst | Opcode::RcWriteFirst | Opcode::RcReadResponseFirst
                if got < said => {}
            _ => expect("blue_rdma.reth.dma_len", bth::LEN + 12, got, said)?,
        }
        Ok(payload)
    }
}

#[cfg(test)]
mod tests;
