//! Ethernet frame check sequence (IEEE 802.3 clause 3.2.9): CRC-32 over the frame, least significant byte first.
//!
//! Captures and rings carry frames without it; it is here for fault rules and for links that show it.

/// Length of the FCS, in bytes.
pub const LEN: usize = 4;

/// The FCS of a frame from its destination address on, in wire order.
pub fn of(frame: &[u8]) -> [u8; LEN] {
    crc32fast::hash(frame).to_le_bytes()
}

/// Whether `frame`, its FCS included, arrived unharmed. False as well when it is shorter than an FCS.
pub fn holds(frame: &[u8]) -> bool {
    frame.split_last_chunk().is_some_and(|(frame, fcs)| of(frame) == *fcs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        // CRC-32/ISO-HDLC over "123456789" is 0xcbf43926 in every catalogue of CRCs.
        assert_eq!(of(b"123456789"), [0x26, 0x39, 0xf4, 0xcb]);
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut frame = b"123456789\x26\x39\xf4\xcb".to_vec();
        assert!(holds(&frame));
        frame[3] ^= 0x10;
        assert!(!holds(&frame));
        assert!(!holds(&[0, 0, 0]));
    }
}
