//! IEEE 802.1Q tag, from the tag control information on (clause 9.6); the type 0x8100 before it belongs to Ethernet.

use crate::Malformed;
use crate::bits::bits;
use crate::malformed::short;
use pnet_packet::ethernet::EtherType;
use pnet_packet::vlan::{ClassOfService, VlanPacket};

/// Any field, unjudged.
pub use pnet_packet::vlan::MutableVlanPacket as Raw;

bits!(
    /// Priority code point: the class of a tagged frame.
    Pcp: 3 bits of u8
);
bits!(
    /// VLAN identifier. Zero carries a priority only; 4095 is reserved and left to the caller.
    Vid: 12 bits of u16
);

/// Length of the tag control information and the inner type, in bytes.
pub const LEN: usize = VlanPacket::minimum_packet_size();
const _: () = assert!(LEN == 4);

/// A tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repr {
    /// Priority.
    pub pcp: Pcp,
    /// Drop eligible.
    pub dei: bool,
    /// VLAN.
    pub vid: Vid,
}

impl Repr {
    /// Reads a tag and returns it with the type of what it wraps and the bytes behind.
    ///
    /// # Errors
    /// When the bytes end too early.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, u16, &[u8]), Malformed> {
        let tag = VlanPacket::new(bytes).ok_or_else(|| short("vlan", LEN, bytes.len()))?;
        let repr = Repr {
            pcp: Pcp::low(tag.get_priority_code_point().0),
            dei: tag.get_drop_eligible_indicator() == 1,
            vid: Vid::low(tag.get_vlan_identifier()),
        };
        Ok((repr, tag.get_ethertype().0, &bytes[LEN..]))
    }

    /// Writes the tag in front of a payload of type `inner`; every byte is written.
    pub fn emit(&self, inner: u16) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        if let Some(mut tag) = Raw::new(&mut bytes) {
            tag.set_priority_code_point(ClassOfService(self.pcp.get()));
            tag.set_drop_eligible_indicator(u8::from(self.dei));
            tag.set_vlan_identifier(self.vid.get());
            tag.set_ethertype(EtherType(inner));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_both_ways() {
        // Priority 3 = 0b011, drop eligible, VLAN 0x123; an IPv4 packet inside.
        let golden = [0x71, 0x23, 0x08, 0x00];
        let repr = Repr { pcp: Pcp::new(3).unwrap(), dei: true, vid: Vid::new(0x123).unwrap() };
        assert_eq!(Repr::parse(&golden), Ok((repr, 0x0800, &[][..])));
        assert_eq!(repr.emit(0x0800), golden);
    }

    #[test]
    fn every_tag_round_trips() {
        for tci in 0..=u16::MAX {
            let [high, low] = tci.to_be_bytes();
            let bytes = [high, low, 0x86, 0xdd];
            let (repr, inner, _) = Repr::parse(&bytes).unwrap();
            assert_eq!(repr.emit(inner), bytes);
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("vlan", &[0; LEN], |bytes| Repr::parse(bytes).err());
    }

    #[test]
    fn values_wider_than_the_field_cannot_be_made() {
        assert_eq!((Pcp::new(7), Pcp::new(8)), (Some(Pcp::MAX), None));
        assert_eq!((Vid::new(4095), Vid::new(4096)), (Some(Vid::MAX), None));
    }
}
