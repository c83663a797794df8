//! Bytes of a RoCEv2 frame that change from one frame to the next, with the ICRC kept right at the cost of a look-up a
//! byte instead of a pass over the frame.
//!
//! A CRC is linear: flipping a bit flips the same bits of the CRC whatever the other bits are. What each value of a
//! byte flips is worked out once, with [`icrc::of`](super::of) itself, so bytes that the ICRC leaves out flip nothing.
//!
//! Left out: checksums of IP and UDP, which the caller sees to where the field counts in them.

use super::{LEN, of, packet_in};
use crate::Malformed;
use core::ops::Range;

/// One field of the frames that were made from one template: its place, and how the ICRC follows it.
#[derive(Debug, Clone)]
pub struct Field {
    at: usize,
    icrc_at: usize,
    /// For each byte of the field, what each difference in it flips.
    flips: Vec<[u32; 256]>,
}

impl Field {
    /// The bytes `at` of frames like `frame`. Length and layout of these frames stay as they are.
    ///
    /// # Errors
    /// When no ICRC can be found in the frame, or the field decides where it lies (IP version or header length).
    ///
    /// # Panics
    /// When the field reaches beyond the frame or into its ICRC.
    pub fn new(frame: &[u8], at: Range<usize>) -> Result<Field, Malformed> {
        let Range { start, end } = packet_in(frame)?;
        let icrc_at = end - LEN;
        assert!(at.end <= icrc_at || at.start >= end, "a field ends before the ICRC");
        let mut packet = frame[start..icrc_at].to_vec();
        let before = u32::from_le_bytes(of(&packet)?);
        let mut flips = Vec::new();
        for byte in at.clone() {
            let mut table = [0; 256];
            // What is not in the packet, such as addresses of Ethernet, is not in the ICRC.
            if let Some(inside) = byte.checked_sub(start).filter(|&inside| inside < packet.len()) {
                let mut bits = [0; 8];
                for (bit, flips) in bits.iter_mut().enumerate() {
                    packet[inside] ^= 1 << bit;
                    *flips = u32::from_le_bytes(of(&packet)?) ^ before;
                    packet[inside] ^= 1 << bit;
                }
                for (difference, flips) in table.iter_mut().enumerate() {
                    let set = bits.iter().enumerate().filter(|(bit, _)| difference >> bit & 1 == 1);
                    *flips = set.fold(0, |all, (_, bit)| all ^ bit);
                }
            }
            flips.push(table);
        }
        Ok(Field { at: at.start, icrc_at, flips })
    }

    /// Writes the field and what follows for the ICRC. The ICRC stays as right, or as wrong, as it was.
    ///
    /// # Panics
    /// When `value` is not as long as the field, or `frame` shorter than the template.
    #[inline]
    pub fn set(&self, frame: &mut [u8], value: &[u8]) {
        assert!(value.len() == self.flips.len(), "a value as long as its field");
        let icrc: [u8; LEN] = frame[self.icrc_at..self.icrc_at + LEN].try_into().expect("four");
        let mut crc = u32::from_le_bytes(icrc);
        let bytes = frame[self.at..].iter_mut().zip(value).zip(&self.flips);
        for ((byte, &value), flips) in bytes {
            crc ^= flips[usize::from(*byte ^ value)];
            *byte = value;
        }
        frame[self.icrc_at..self.icrc_at + LEN].copy_from_slice(&crc.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icrc;
    use crate::ip::{Dscp, Ip};
    use crate::packet::{Path, RoceFrame};
    use crate::psn::Psn;
    use crate::roce::{Ext, Opcode, Qpn, bth};
    use crate::{MacAddr, ipv4, ipv6};
    use core::net::Ipv4Addr;
    use proptest::prelude::*;
    use rig_units::Bytes;

    fn frame(size: u64, v6: bool) -> Vec<u8> {
        let dscp = Dscp::new(3).expect("six bits");
        let (src, dst) = (Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 2, 1));
        let (a, b) = (MacAddr([2, 0, 0, 1, 0, 1]), MacAddr([2, 0, 0, 1, 0, 2]));
        let path = if v6 {
            let (src, dst) = (src.to_ipv6_mapped(), dst.to_ipv6_mapped());
            let v4 =
                Path::v4(a, b, ipv4::Repr::udp(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, dscp));
            Path { ip: Ip::V6(ipv6::Repr::udp(src, dst, dscp)), ..v4 }
        } else {
            Path::v4(a, b, ipv4::Repr::udp(src, dst, dscp))
        };
        let qpn = Qpn::new(0x100).expect("24 bits");
        let bth = bth::Repr::new(Opcode::RcSendOnly, qpn, Psn::new(0));
        RoceFrame::new(path, bth, Ext::Plain).sized(Bytes(size)).expect("a size").emit()
    }

    proptest! {
        #[test]
        fn whatever_is_written_where_the_icrc_holds(
            size in 98_u64..2_000, v6: bool, at in 0_usize..90, len in 1_usize..12,
            values: [u64; 3],
        ) {
            let mut bytes = frame(size, v6);
            let packet = packet_in(&bytes).expect("RoCE");
            // Version, header length and total length say where the ICRC is, the Ethernet type whether there is one.
            let layout = 12..packet.start + 6;
            let at = at..(at + len).min(packet.end - LEN);
            prop_assume!(at.start < at.end && (at.end <= layout.start || at.start >= layout.end));
            let field = Field::new(&bytes, at.clone()).expect("a field");
            for value in values {
                let value = &value.to_le_bytes().repeat(2)[..at.len()];
                field.set(&mut bytes, value);
                prop_assert_eq!(&bytes[at.clone()], value);
                prop_assert_eq!(icrc::holds(&bytes), Ok(true));
            }
        }
    }

    #[test]
    fn an_icrc_that_was_wrong_stays_wrong() {
        let mut bytes = frame(1_022, false);
        let field = Field::new(&bytes, 50..53).expect("a field");
        let last = bytes.len() - 1;
        bytes[last] ^= 0x40;
        field.set(&mut bytes, &[1, 2, 3]);
        assert_eq!(icrc::holds(&bytes), Ok(false));
        bytes[last] ^= 0x40;
        assert_eq!(icrc::holds(&bytes), Ok(true));
    }

    #[test]
    fn bytes_that_switches_rewrite_flip_nothing() {
        let bytes = frame(256, false);
        let tos = Field::new(&bytes, 15..16).expect("a field");
        assert_eq!(tos.flips, [[0; 256]]);
    }

    #[test]
    fn the_ip_version_cannot_be_a_field() {
        let error = Field::new(&frame(256, false), 14..15).expect_err("it decides the layout");
        assert!(error.to_string().contains("ip"), "{error}");
    }
}
