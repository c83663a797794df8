//! Immediate data (IBTA Vol 1, 9.3): four bytes handed to the receiver's application.

use crate::bytes::plain_header;

plain_header! {
    "imm_dt", 4 bytes:
    /// Immediate data.
    struct Repr {
        /// The four bytes, as a big-endian number.
        data: u32 = be32 at 0..4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_both_ways() {
        let golden = [0xde, 0xad, 0xbe, 0xef];
        let repr = Repr { data: 0xdead_beef };
        assert_eq!(Repr::parse(&golden), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), golden);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("imm_dt", &[0; LEN], |bytes| Repr::parse(bytes).err());
    }
}
