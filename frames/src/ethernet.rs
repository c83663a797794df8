//! Ethernet II header (IEEE 802.3 clause 3.1.1, type interpretation).
//!
//! Left out: 802.3 length interpretation with LLC; such a frame has a type below 0x600 and is no business of the rig.

use crate::malformed::short;
use crate::{MacAddr, Malformed};
use pnet_packet::ethernet::EthernetPacket;

/// Any field, unjudged.
pub use pnet_packet::ethernet::MutableEthernetPacket as Raw;

/// Length of the header, in bytes.
pub const LEN: usize = EthernetPacket::minimum_packet_size();
const _: () = assert!(LEN == 14);
/// The shortest frame as a capture shows it, without FCS (IEEE 802.3 clause 4.4.2: 64 bytes with it).
pub const MIN_FRAME: usize = 60;

/// Types of what an Ethernet frame carries.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// An 802.1Q tag follows.
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// MAC Control: PAUSE and PFC.
    pub const MAC_CONTROL: u16 = 0x8808;
    /// MACsec: a SecTAG begins with it.
    pub const MACSEC: u16 = 0x88e5;
    /// IEEE 802.1AB-2016, clause 7.4.
    pub const LLDP: u16 = 0x88cc;
}

/// Who sends what kind of payload to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Destination.
    pub dst: MacAddr,
    /// Source.
    pub src: MacAddr,
    /// Type of the payload, see [`ethertype`].
    pub ethertype: u16,
}

impl Repr {
    /// Reads the header and returns it with the bytes behind it, padding included.
    ///
    /// # Errors
    /// When the bytes end too early.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let header =
            EthernetPacket::new(bytes).ok_or_else(|| short("ethernet", LEN, bytes.len()))?;
        let repr = Repr {
            dst: MacAddr(header.get_destination().octets()),
            src: MacAddr(header.get_source().octets()),
            ethertype: header.get_ethertype().0,
        };
        Ok((repr, &bytes[LEN..]))
    }

    /// Writes the header; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        if let Some(mut header) = Raw::new(&mut bytes) {
            header.set_destination(self.dst.0.into());
            header.set_source(self.src.0.into());
            header.set_ethertype(pnet_packet::ethernet::EtherType(self.ethertype));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a, 0x08, 0x00];

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr {
            dst: MacAddr([2, 0, 0, 0, 0, 0x0b]),
            src: MacAddr([2, 0, 0, 0, 0, 0x0a]),
            ethertype: ethertype::IPV4,
        };
        assert_eq!(Repr::parse(&GOLDEN), Ok((repr, &[][..])));
        assert_eq!(repr.emit(), GOLDEN);
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("ethernet", &GOLDEN[..LEN], |bytes| {
            Repr::parse(bytes).err()
        });
    }
}
