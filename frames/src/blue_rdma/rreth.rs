//! The second address of a READ request of blue-rdma (`PacketGenAndParse`): where the requester wants the answer. How much it wants
//! stands in the RETH before.

use crate::bytes::plain_header;

plain_header! {
    "blue_rdma.rreth", 12 bytes:
    /// A piece of the requester's memory.
    struct Repr {
        /// Virtual address of its first byte.
        virtual_address: u64 = be64 at 0..8,
        /// Local key.
        lkey: u32 = be32 at 8..12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [1, 2, 3, 4, 5, 6, 7, 8, 0xa1, 0xa2, 0xa3, 0xa4];

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr { virtual_address: 0x0102_0304_0506_0708, lkey: 0xa1a2_a3a4 };
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("blue_rdma.rreth", &GOLDEN, |bytes| {
            Repr::parse(bytes).err()
        });
    }
}
