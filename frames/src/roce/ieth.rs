//! Invalidate extended transport header (IBTA Vol 1, 9.3): which key the receiver shall revoke.

use crate::bytes::plain_header;

plain_header! {
    "ieth", 4 bytes:
    /// A key to revoke.
    struct Repr {
        /// Remote key.
        rkey: u32 = be32 at 0..4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_both_ways() {
        let golden = [0xa1, 0xa2, 0xa3, 0xa4];
        let repr = Repr { rkey: 0xa1a2_a3a4 };
        assert_eq!(Repr::parse(&golden), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), golden);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("ieth", &[0; LEN], |bytes| Repr::parse(bytes).err());
    }
}
