//! Atomic extended transport header (IBTA Vol 1, 9.3): what to compare, swap or add, and where.

use crate::bytes::plain_header;

plain_header! {
    "atomic_eth", 28 bytes:
    /// An operation on eight bytes of remote memory.
    struct Repr {
        /// Virtual address of the eight bytes.
        virtual_address: u64 = be64 at 0..8,
        /// Remote key.
        rkey: u32 = be32 at 8..12,
        /// What to swap in, or to add.
        swap_or_add: u64 = be64 at 12..20,
        /// What to compare with, unused by an addition.
        compare: u64 = be64 at 20..28,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [
        1, 2, 3, 4, 5, 6, 7, 8, 0xa1, 0xa2, 0xa3, 0xa4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
        0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    ];

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr {
            virtual_address: 0x0102_0304_0506_0708,
            rkey: 0xa1a2_a3a4,
            swap_or_add: 0x1112_1314_1516_1718,
            compare: 0x2122_2324_2526_2728,
        };
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("atomic_eth", &GOLDEN[..LEN], |bytes| {
            Repr::parse(bytes).err()
        });
    }
}
