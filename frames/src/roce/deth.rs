//! Datagram extended transport header (IBTA Vol 1, 9.3): who sends a datagram, and the key that lets it in.

use super::Qpn;
use crate::Malformed;
use crate::bytes::{be24, be32, put, raw};
use crate::malformed::split;

mod field {
    use core::ops::Range;

    pub(super) const QKEY: Range<usize> = 0..4;
    pub(super) const RESERVED: Range<usize> = 4..5;
    pub(super) const SRC_QP: Range<usize> = 5..8;
}

/// Length of the header, in bytes.
pub const LEN: usize = field::SRC_QP.end;
const _: () = assert!(LEN == 8);

/// A datagram's sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Queue key.
    pub qkey: u32,
    /// Source queue pair.
    pub src_qp: Qpn,
}

impl Repr {
    /// Reads the header and returns it with the bytes behind it; the reserved byte is ignored, as a receiver must.
    ///
    /// # Errors
    /// When the bytes end too early.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let (header, rest) = split::<LEN>("deth", bytes)?;
        Ok((
            Repr { qkey: be32(header, field::QKEY), src_qp: Qpn::low(be24(header, field::SRC_QP)) },
            rest,
        ))
    }

    /// Writes the header; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        put(&mut bytes, field::QKEY, self.qkey);
        put(&mut bytes, field::SRC_QP, self.src_qp);
        bytes
    }
}

raw! { LEN;
    /// Sets the queue key.
    set_qkey: u32 = field::QKEY;
    /// Sets the reserved byte.
    set_reserved: u8 = field::RESERVED;
    /// Sets the source queue pair: the low 24 bits.
    set_src_qp: u32 = field::SRC_QP;
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [0x80, 0x01, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56];

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr { qkey: 0x8001_0000, src_qp: Qpn::new(0x12_3456).unwrap() };
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), GOLDEN);
    }

    #[test]
    fn the_reserved_byte_changes_nothing() {
        let mut bytes = GOLDEN;
        let mut raw = Raw(&mut bytes);
        raw.set_reserved(0xff);
        assert_eq!(Repr::parse(&bytes), Repr::parse(&GOLDEN));
        Raw(&mut bytes).set_src_qp(1);
        Raw(&mut bytes).set_qkey(2);
        assert_eq!(bytes, [0, 0, 0, 2, 0xff, 0, 0, 1]);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("deth", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
    }
}
