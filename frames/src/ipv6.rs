//! IPv6 header (RFC 8200 section 3), traffic class split as RFC 2474 and RFC 3168 have it.
//!
//! Left out: extension headers; a packet that has one carries another protocol than UDP as far as the rig looks.

use crate::Malformed;
use crate::bits::bits;
use crate::ip::{Dscp, Ecn};
use crate::malformed::{cut, expect, short};
use core::net::Ipv6Addr;
use pnet_packet::ip::IpNextHeaderProtocol;
use pnet_packet::ipv6::Ipv6Packet;

/// Any field, unjudged.
pub use pnet_packet::ipv6::MutableIpv6Packet as Raw;

bits!(
    /// Flow label (RFC 6437).
    FlowLabel: 20 bits of u32
);

/// Length of the header, in bytes.
pub const LEN: usize = Ipv6Packet::minimum_packet_size();
const _: () = assert!(LEN == 40);
/// The longest payload one packet can announce.
pub const MAX_PAYLOAD: usize = 0xffff;

const VERSION: u8 = 6;

/// A header; its length follows from the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Source.
    pub src: Ipv6Addr,
    /// Destination.
    pub dst: Ipv6Addr,
    /// Class.
    pub dscp: Dscp,
    /// Congestion mark.
    pub ecn: Ecn,
    /// RFC 6437, 20 bits.
    pub flow_label: FlowLabel,
    /// Hops left.
    pub hop_limit: u8,
    /// Protocol of the payload.
    pub next_header: u8,
}

impl Repr {
    /// UDP from `src` to `dst` in class `dscp`, as a RoCE sender has it: ECN-capable, no flow label, 64 hops.
    pub const fn udp(src: Ipv6Addr, dst: Ipv6Addr, dscp: Dscp) -> Repr {
        let flow_label = FlowLabel::low(0);
        Repr {
            src,
            dst,
            dscp,
            ecn: Ecn::Ect0,
            flow_label,
            hop_limit: 64,
            next_header: crate::ip::UDP,
        }
    }

    /// Reads a header and returns it with its payload, cut to the length that the header announces.
    ///
    /// # Errors
    /// When the bytes end too early; on another version.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let header = Ipv6Packet::new(bytes).ok_or_else(|| short("ipv6", LEN, bytes.len()))?;
        expect("ipv6.version", 0, VERSION, header.get_version())?;
        let payload = cut(
            "ipv6.payload_length",
            4,
            0,
            usize::from(header.get_payload_length()),
            &bytes[LEN..],
        )?;
        let class = header.get_traffic_class();
        let repr = Repr {
            src: header.get_source(),
            dst: header.get_destination(),
            dscp: Dscp::low(class >> 2),
            ecn: Ecn::from_low_bits(class),
            flow_label: FlowLabel::low(header.get_flow_label()),
            hop_limit: header.get_hop_limit(),
            next_header: header.get_next_header().0,
        };
        Ok((repr, payload))
    }

    /// Writes the header in front of a payload of `payload_len` bytes; every byte is written.
    ///
    /// # Panics
    /// On a payload longer than [`MAX_PAYLOAD`].
    pub fn emit(&self, payload_len: usize) -> [u8; LEN] {
        let payload_len = u16::try_from(payload_len).expect("the payload fits one IPv6 packet");
        let mut bytes = [0; LEN];
        if let Some(mut header) = Raw::new(&mut bytes) {
            header.set_version(VERSION);
            header.set_traffic_class(self.dscp.get() << 2 | self.ecn.bits());
            header.set_flow_label(self.flow_label.get());
            header.set_payload_length(payload_len);
            header.set_next_header(IpNextHeaderProtocol(self.next_header));
            header.set_hop_limit(self.hop_limit);
            header.set_source(self.src);
            header.set_destination(self.dst);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class 26 and CE make the traffic class 0x6b; flow label 0xabcde; no payload; 64 hops; fd00::1 to fd00::2.
    const GOLDEN: [u8; LEN] = [
        0x66, 0xba, 0xbc, 0xde, 0x00, 0x00, 0x11, 0x40, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 1, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
    ];

    fn repr() -> Repr {
        let ends = (
            Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
        );
        let flow_label = FlowLabel::new(0xabcde).unwrap();
        Repr { ecn: Ecn::Ce, flow_label, ..Repr::udp(ends.0, ends.1, Dscp::new(26).unwrap()) }
    }

    #[test]
    fn golden_bytes_both_ways() {
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr(), &[][..])));
        assert_eq!(repr().emit(0), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("ipv6", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
        assert_eq!(Repr::parse(&repr().emit(1)).unwrap_err().field, "ipv6.payload_length");
    }

    #[test]
    fn another_version_is_refused() {
        let mut bytes = GOLDEN;
        Raw::new(&mut bytes).unwrap().set_version(4);
        assert_eq!(
            Repr::parse(&bytes).unwrap_err().to_string(),
            "ipv6.version at byte 0: want 0x6, got 0x4"
        );
    }

    #[test]
    fn every_single_bit_of_the_header_has_a_meaning() {
        for bit in 0..LEN * 8 {
            let mut bytes = GOLDEN;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Repr::parse(&bytes).map(|(read, _)| read), Ok(repr()), "bit {bit}");
        }
    }
}
