//! Packet numbers: the tag carries 32 bits, an XPN suite counts in 64 (IEEE 802.1AE clause 10.6.2).

/// The whole packet number of a frame whose tag shows `low`, when `lowest` is the lowest one still acceptable.
///
/// The high half is that of `lowest`, or the next one when the low half must have wrapped: `lowest` is in the upper half
/// of its 32 bits and `low` in the lower. A late frame of the high half before is therefore taken for one to come, and
/// its ICV is wrong.
pub const fn recover(low: u32, lowest: u64) -> u64 {
    const TOP: u32 = 1 << 31;
    let high = lowest >> 32;
    let wrapped = low_half(lowest) & TOP != 0 && low & TOP == 0;
    let high = if wrapped { high.wrapping_add(1) } else { high };
    (high << 32) | low as u64
}

/// What a tag shows of a packet number.
pub(super) const fn low_half(pn: u64) -> u32 {
    let [_, _, _, _, a, b, c, d] = pn.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_high_half_is_that_of_the_lowest_acceptable_number() {
        assert_eq!(recover(1, 1), 1);
        assert_eq!(recover(0x7fff_ffff, 0x5_0000_0001), 0x5_7fff_ffff);
        assert_eq!(recover(0x8000_0000, 0x5_8000_0000), 0x5_8000_0000);
        assert_eq!(recover(0xffff_ffff, 0x5_0000_0001), 0x5_ffff_ffff);
    }

    #[test]
    fn a_low_half_that_wrapped_carries_into_the_high_half() {
        assert_eq!(recover(0, 0x5_ffff_ffff), 0x6_0000_0000);
        assert_eq!(recover(0x7fff_ffff, 0x5_8000_0000), 0x6_7fff_ffff);
        // One step before either bound nothing wraps.
        assert_eq!(recover(0x7fff_ffff, 0x5_7fff_ffff), 0x5_7fff_ffff);
        assert_eq!(recover(0x8000_0000, 0x5_ffff_ffff), 0x5_8000_0000);
    }

    #[test]
    fn the_last_number_of_all_wraps_to_zero() {
        assert_eq!(recover(0, u64::MAX), 0);
    }

    proptest! {
        #[test]
        fn a_number_less_than_half_a_wrap_ahead_is_recovered(lowest in 0..u64::MAX / 2, ahead in 0..1_u64 << 31) {
            let pn = lowest + ahead;
            prop_assert_eq!(recover(low_half(pn), lowest), pn);
        }
    }
}
