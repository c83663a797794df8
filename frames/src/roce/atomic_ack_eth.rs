//! Atomic ACK extended transport header (IBTA Vol 1, 9.3): what the memory held before the operation.

use crate::bytes::plain_header;

plain_header! {
    "atomic_ack_eth", 8 bytes:
    /// The answer to an atomic operation.
    struct Repr {
        /// What the eight bytes held before.
        original: u64 = be64 at 0..8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_both_ways() {
        let golden = [1, 2, 3, 4, 5, 6, 7, 8];
        let repr = Repr { original: 0x0102_0304_0506_0708 };
        assert_eq!(Repr::parse(&golden), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), golden);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("atomic_ack_eth", &[0; LEN], |bytes| {
            Repr::parse(bytes).err()
        });
    }
}
