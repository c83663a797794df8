//! ARP for IPv4 on Ethernet (RFC 826).

use crate::malformed::{expect, not_one_of, short};
use crate::{MacAddr, Malformed};
use core::net::Ipv4Addr;
use pnet_packet::arp::{ArpHardwareType, ArpOperation, ArpPacket};
use pnet_packet::ethernet::EtherType;

/// Any field, unjudged.
pub use pnet_packet::arp::MutableArpPacket as Raw;

/// Length of the packet, in bytes.
pub const LEN: usize = ArpPacket::minimum_packet_size();
const _: () = assert!(LEN == 28);

const ETHERNET: u16 = 1;
const IPV4: u16 = crate::ethernet::ethertype::IPV4;

/// What an ARP packet asks or tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Who has the target's IP address? 1.
    Request,
    /// The sender has its IP address. 2.
    Reply,
}

/// An ARP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Question or answer.
    pub operation: Operation,
    /// Ethernet address of the sender.
    pub sender_mac: MacAddr,
    /// IP address of the sender.
    pub sender_ip: Ipv4Addr,
    /// Ethernet address of the target; zero in a question.
    pub target_mac: MacAddr,
    /// IP address of the target.
    pub target_ip: Ipv4Addr,
}

impl Repr {
    /// Reads a packet; Ethernet padding behind it is ignored.
    ///
    /// # Errors
    /// When the bytes end too early; on anything but a request or reply about IPv4 on Ethernet.
    pub fn parse(bytes: &[u8]) -> Result<Repr, Malformed> {
        let arp = ArpPacket::new(bytes).ok_or_else(|| short("arp", LEN, bytes.len()))?;
        expect("arp.hardware_type", 0, ETHERNET, arp.get_hardware_type().0)?;
        expect("arp.protocol_type", 2, IPV4, arp.get_protocol_type().0)?;
        expect("arp.hardware_len", 4, 6, arp.get_hw_addr_len())?;
        expect("arp.protocol_len", 5, 4, arp.get_proto_addr_len())?;
        let operation = match arp.get_operation().0 {
            1 => Operation::Request,
            2 => Operation::Reply,
            got => return Err(not_one_of("arp.operation", 6, "1 (request) or 2 (reply)", got)),
        };
        Ok(Repr {
            operation,
            sender_mac: MacAddr(arp.get_sender_hw_addr().octets()),
            sender_ip: arp.get_sender_proto_addr(),
            target_mac: MacAddr(arp.get_target_hw_addr().octets()),
            target_ip: arp.get_target_proto_addr(),
        })
    }

    /// Writes the packet; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        if let Some(mut arp) = Raw::new(&mut bytes) {
            arp.set_hardware_type(ArpHardwareType(ETHERNET));
            arp.set_protocol_type(EtherType(IPV4));
            arp.set_hw_addr_len(6);
            arp.set_proto_addr_len(4);
            arp.set_operation(ArpOperation(match self.operation {
                Operation::Request => 1,
                Operation::Reply => 2,
            }));
            arp.set_sender_hw_addr(self.sender_mac.0.into());
            arp.set_sender_proto_addr(self.sender_ip);
            arp.set_target_hw_addr(self.target_mac.0.into());
            arp.set_target_proto_addr(self.target_ip);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: [u8; LEN] = [
        0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 0x0a, 10, 0, 0, 1, 2, 0, 0, 0, 0, 0x0b, 10, 0, 0, 2,
    ];

    #[test]
    fn golden_bytes_both_ways() {
        let repr = Repr {
            operation: Operation::Reply,
            sender_mac: MacAddr([2, 0, 0, 0, 0, 0x0a]),
            sender_ip: Ipv4Addr::new(10, 0, 0, 1),
            target_mac: MacAddr([2, 0, 0, 0, 0, 0x0b]),
            target_ip: Ipv4Addr::new(10, 0, 0, 2),
        };
        assert_eq!(Repr::parse(&GOLDEN), Ok(repr));
        assert_eq!(repr.emit(), GOLDEN);
        let asks = Repr { operation: Operation::Request, ..repr };
        assert_eq!(Repr::parse(&asks.emit()), Ok(asks));
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("arp", &GOLDEN[..LEN], |bytes| Repr::parse(bytes).err());
    }

    #[test]
    fn each_rule_names_its_field() {
        let fields = [
            (0, "arp.hardware_type"),
            (2, "arp.protocol_type"),
            (4, "arp.hardware_len"),
            (5, "arp.protocol_len"),
            (6, "arp.operation"),
        ];
        for (at, field) in fields {
            let mut bytes = GOLDEN;
            bytes[at] ^= 0x80;
            assert_eq!(Repr::parse(&bytes).unwrap_err().field, field);
        }
    }
}
