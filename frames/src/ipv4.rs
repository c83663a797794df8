//! IPv4 header without options (RFC 791; RFC 2474 and 3168 for the former ToS byte).
//!
//! Left out: options and fragments. No RoCE sender makes them; a header that has them is refused here and counted as
//! another kind of packet by [`crate::packet::parse`].

use crate::Malformed;
use crate::ip::{Dscp, Ecn};
use crate::malformed::{cut, expect, short};
use core::net::Ipv4Addr;
use pnet_packet::ip::IpNextHeaderProtocol;
use pnet_packet::ipv4::Ipv4Packet;

/// Any field, unjudged.
pub use pnet_packet::ipv4::MutableIpv4Packet as Raw;
/// The checksum that a header should have, to be set after `Raw` changed it.
pub use pnet_packet::ipv4::checksum;

/// Length of the header, in bytes.
pub const LEN: usize = Ipv4Packet::minimum_packet_size();
const _: () = assert!(LEN == 20);
/// The longest payload one packet can announce.
pub const MAX_PAYLOAD: usize = 0xffff - LEN;

const VERSION: u8 = 4;
const WORDS: u8 = 5;
const DONT_FRAGMENT: u8 = 0b010;

/// A header; its lengths and checksum follow from it and the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Source.
    pub src: Ipv4Addr,
    /// Destination.
    pub dst: Ipv4Addr,
    /// Class.
    pub dscp: Dscp,
    /// Congestion mark.
    pub ecn: Ecn,
    /// Identification; the ICRC covers it.
    pub identification: u16,
    /// Do not fragment.
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
}

impl Repr {
    /// UDP from `src` to `dst` in class `dscp`, as a RoCE sender has it: ECN-capable, not to be fragmented, 64 hops.
    pub const fn udp(src: Ipv4Addr, dst: Ipv4Addr, dscp: Dscp) -> Repr {
        Repr {
            src,
            dst,
            dscp,
            ecn: Ecn::Ect0,
            identification: 0,
            dont_fragment: true,
            ttl: 64,
            protocol: crate::ip::UDP,
        }
    }

    /// Reads a header and returns it with its payload, cut to the length that the header announces.
    ///
    /// # Errors
    /// When the bytes end too early; on another version, options, fragments, the reserved flag, a wrong checksum.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let header = Ipv4Packet::new(bytes).ok_or_else(|| short("ipv4", LEN, bytes.len()))?;
        expect("ipv4.version", 0, VERSION, header.get_version())?;
        expect("ipv4.ihl", 0, WORDS, header.get_header_length())?;
        expect("ipv4.flags", 6, 0, header.get_flags() & !DONT_FRAGMENT)?;
        expect("ipv4.fragment_offset", 6, 0, header.get_fragment_offset())?;
        expect("ipv4.checksum", 10, checksum(&header), header.get_checksum())?;
        let packet =
            cut("ipv4.total_length", 2, LEN, usize::from(header.get_total_length()), bytes)?;
        let repr = Repr {
            src: header.get_source(),
            dst: header.get_destination(),
            dscp: Dscp::low(header.get_dscp()),
            ecn: Ecn::from_low_bits(header.get_ecn()),
            identification: header.get_identification(),
            dont_fragment: header.get_flags() & DONT_FRAGMENT != 0,
            ttl: header.get_ttl(),
            protocol: header.get_next_level_protocol().0,
        };
        Ok((repr, &packet[LEN..]))
    }

    /// Writes the header in front of a payload of `payload_len` bytes; every byte is written, the checksum last.
    ///
    /// # Panics
    /// On a payload longer than [`MAX_PAYLOAD`].
    pub fn emit(&self, payload_len: usize) -> [u8; LEN] {
        let total = u16::try_from(LEN + payload_len).expect("the payload fits one IPv4 packet");
        let mut bytes = [0; LEN];
        if let Some(mut header) = Raw::new(&mut bytes) {
            header.set_version(VERSION);
            header.set_header_length(WORDS);
            header.set_dscp(self.dscp.get());
            header.set_ecn(self.ecn.bits());
            header.set_total_length(total);
            header.set_identification(self.identification);
            header.set_flags(if self.dont_fragment { DONT_FRAGMENT } else { 0 });
            header.set_ttl(self.ttl);
            header.set_next_level_protocol(IpNextHeaderProtocol(self.protocol));
            header.set_source(self.src);
            header.set_destination(self.dst);
            let sum = checksum(&header.to_immutable());
            header.set_checksum(sum);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Class 26 and ECT(0) make the byte 0x6a. The 16-bit words without the checksum add up to 0xebc6 in ones'
    /// complement (RFC 1071); the checksum is its complement, 0x1439.
    const GOLDEN: [u8; LEN] = [
        0x45, 0x6a, 0x00, 0x14, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x39, 0x0a, 0x00, 0x00,
        0x01, 0x0a, 0x00, 0x00, 0x02,
    ];

    fn repr() -> Repr {
        let dscp = Dscp::new(26).unwrap();
        let ends = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        Repr { identification: 0x1234, ..Repr::udp(ends.0, ends.1, dscp) }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr(), &[][..])));
        assert_eq!(repr().emit(0), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("ipv4", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
        let longer = repr().emit(1);
        assert_eq!(Repr::parse(&longer).unwrap_err().field, "ipv4.total_length");
    }

    #[test]
    fn each_rule_names_its_field() {
        type Break = fn(&mut Raw<'_>);
        let broken: [(&str, Break); 7] = [
            ("ipv4.version", |raw| raw.set_version(5)),
            ("ipv4.ihl", |raw| raw.set_header_length(6)),
            ("ipv4.flags", |raw| raw.set_flags(0b001)),
            ("ipv4.flags", |raw| raw.set_flags(0b100)),
            ("ipv4.fragment_offset", |raw| raw.set_fragment_offset(1)),
            ("ipv4.total_length", |raw| {
                raw.set_total_length(19);
                let sum = checksum(&raw.to_immutable());
                raw.set_checksum(sum);
            }),
            ("ipv4.checksum", |raw| raw.set_ttl(63)),
        ];
        for (field, breaks) in broken {
            let mut bytes = GOLDEN;
            breaks(&mut Raw::new(&mut bytes).unwrap());
            assert_eq!(Repr::parse(&bytes).unwrap_err().field, field);
        }
    }

    proptest! {
        #[test]
        fn every_single_bit_error_is_noticed(bit in 0..LEN * 8) {
            let mut bytes = GOLDEN;
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Repr::parse(&bytes).is_err());
        }

        #[test]
        fn the_payload_ends_where_the_length_says(len in 0_usize..100, padding in 0_usize..10) {
            let mut bytes = repr().emit(len).to_vec();
            bytes.resize(LEN + len + padding, 0);
            let (read, payload) = Repr::parse(&bytes).unwrap();
            prop_assert_eq!((read, payload.len()), (repr(), len));
        }
    }
}
