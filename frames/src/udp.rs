//! UDP header (RFC 768), its checksum as RoCEv2 uses it: left at zero (IBTA Annex A17), verified when it is not.

use crate::Malformed;
use crate::ip::Ip;
use crate::malformed::{cut, expect, short};
use pnet_packet::udp::{UdpPacket, ipv4_checksum, ipv6_checksum};

/// Any field, unjudged.
pub use pnet_packet::udp::MutableUdpPacket as Raw;

/// Length of the header, in bytes.
pub const LEN: usize = UdpPacket::minimum_packet_size();
const _: () = assert!(LEN == 8);
/// Destination port of RoCEv2 (IANA).
pub const ROCE_PORT: u16 = 4791;

/// What stands in the checksum field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Checksum {
    /// Zero: the receiver does not check. The ICRC protects a RoCE frame better.
    #[default]
    Zero,
    /// The checksum of the datagram.
    Filled,
}

/// A header; its length and checksum follow from it and the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Source port; for RoCE the entropy that switches hash on.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Whether the checksum is filled in.
    pub checksum: Checksum,
}

impl Repr {
    /// Reads the header of a datagram inside `ip` and returns it with its payload, cut to the announced length.
    ///
    /// # Errors
    /// When the bytes end too early; on a length below 8; on a checksum that is neither zero nor right.
    pub fn parse<'a>(ip: &Ip, bytes: &'a [u8]) -> Result<(Repr, &'a [u8]), Malformed> {
        let header = UdpPacket::new(bytes).ok_or_else(|| short("udp", LEN, bytes.len()))?;
        let datagram = cut("udp.length", 4, LEN, usize::from(header.get_length()), bytes)?;
        let checksum = match header.get_checksum() {
            0 => Checksum::Zero,
            got => {
                expect("udp.checksum", 6, checksum_of(ip, datagram), got)?;
                Checksum::Filled
            }
        };
        let repr =
            Repr { src_port: header.get_source(), dst_port: header.get_destination(), checksum };
        Ok((repr, &datagram[LEN..]))
    }

    /// Writes the header in front of a payload of `payload_len` bytes, the checksum as zero; every byte is written.
    /// [`fill_checksum`] sets it once the payload is known.
    ///
    /// # Panics
    /// On a payload longer than 65527 bytes.
    pub fn emit(&self, payload_len: usize) -> [u8; LEN] {
        let len = u16::try_from(LEN + payload_len).expect("the payload fits one datagram");
        let mut bytes = [0; LEN];
        if let Some(mut header) = Raw::new(&mut bytes) {
            header.set_source(self.src_port);
            header.set_destination(self.dst_port);
            header.set_length(len);
        }
        bytes
    }
}

/// Writes the checksum of a whole `datagram` inside `ip` into it. Nothing happens to fewer than 8 bytes.
pub fn fill_checksum(ip: &Ip, datagram: &mut [u8]) {
    let sum = checksum_of(ip, datagram);
    if let Some(mut header) = Raw::new(datagram) {
        header.set_checksum(sum);
    }
}

/// The checksum with the pseudo header of `ip`. Zero means "none" on the wire, so a sum of zero is sent as its other
/// ones' complement form, 0xffff (RFC 768).
fn checksum_of(ip: &Ip, datagram: &[u8]) -> u16 {
    let sum = match (UdpPacket::new(datagram), ip) {
        (None, _) => 0,
        (Some(udp), Ip::V4(ip)) => ipv4_checksum(&udp, &ip.src, &ip.dst),
        (Some(udp), Ip::V6(ip)) => ipv6_checksum(&udp, &ip.src, &ip.dst),
    };
    if sum == 0 { 0xffff } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::Dscp;
    use crate::{ipv4, ipv6};
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;

    const HEADER: [u8; LEN] = [0xc0, 0x00, 0x12, 0xb7, 0x00, 0x08, 0x00, 0x00];

    fn v4() -> Ip {
        let ends = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        Ip::V4(ipv4::Repr::udp(ends.0, ends.1, Dscp::default()))
    }

    fn v6() -> Ip {
        Ip::V6(ipv6::Repr::udp(Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED, Dscp::default()))
    }

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr { src_port: 0xc000, dst_port: ROCE_PORT, checksum: Checksum::Zero };
        assert_eq!(Repr::parse(&v4(), &HEADER), Ok((repr, &[][..])));
        assert_eq!(repr.emit(0), HEADER);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("udp", &HEADER[..LEN], |bytes| {
            Repr::parse(&v4(), bytes).err()
        });
    }

    #[test]
    fn a_length_that_lies_is_refused() {
        for len in [0, 7, 9, 0xffff] {
            let mut bytes = HEADER;
            Raw::new(&mut bytes).unwrap().set_length(len);
            assert_eq!(Repr::parse(&v4(), &bytes).unwrap_err().field, "udp.length");
        }
    }

    #[test]
    fn the_checksum_worked_by_hand() {
        // 0a00+0001+0a00+0002 addresses, 0011 protocol, 0008 length, c000+12b7+0008 header: 0xe6db, complement 0x1924.
        let mut bytes = HEADER;
        fill_checksum(&v4(), &mut bytes);
        assert_eq!(bytes[6..], [0x19, 0x24]);
    }

    proptest! {
        #[test]
        fn a_filled_checksum_verifies_and_a_flipped_bit_does_not(
            payload in prop::collection::vec(any::<u8>(), 0..64), bit in 0_usize..64, six in any::<bool>(),
        ) {
            let ip = if six { v6() } else { v4() };
            let repr = Repr { src_port: 7, dst_port: ROCE_PORT, checksum: Checksum::Filled };
            let mut bytes = repr.emit(payload.len()).to_vec();
            bytes.extend_from_slice(&payload);
            fill_checksum(&ip, &mut bytes);
            prop_assert_eq!(Repr::parse(&ip, &bytes), Ok((repr, &payload[..])));
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            // A bit that clears the whole checksum switches checking off; the frame then reads, but as another one.
            prop_assert_ne!(Repr::parse(&ip, &bytes), Ok((repr, &payload[..])));
        }
    }
}
