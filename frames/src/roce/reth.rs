//! RDMA extended transport header (IBTA Vol 1, 9.3): where a WRITE goes or a READ comes from.

use crate::bytes::plain_header;

plain_header! {
    "reth", 16 bytes:
    /// A piece of remote memory.
    struct Repr {
        /// Virtual address of its first byte.
        virtual_address: u64 = be64 at 0..8,
        /// Remote key.
        rkey: u32 = be32 at 8..12,
        /// Length of the whole message, in bytes.
        dma_len: u32 = be32 at 12..16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [1, 2, 3, 4, 5, 6, 7, 8, 0xa1, 0xa2, 0xa3, 0xa4, 0, 0, 4, 0];

    #[test]
    fn golden_bytes_both_ways() {
        let repr =
            Repr { virtual_address: 0x0102_0304_0506_0708, rkey: 0xa1a2_a3a4, dma_len: 1024 };
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("reth", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
    }
}
