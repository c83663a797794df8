//! What IPv4 and IPv6 share: differentiated services, congestion marks, protocol numbers, and one value for either.

use crate::bits::bits;
use crate::ethernet::ethertype;
use crate::malformed::not_one_of;
use crate::{Malformed, ipv4, ipv6};

bits!(
    /// Differentiated services code point (RFC 2474): the class of an untagged frame.
    Dscp: 6 bits of u8
);

/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// Explicit congestion notification (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Ecn {
    /// The sender does not understand marks: a congested switch drops instead. 0b00.
    #[default]
    NotEct,
    /// ECN-capable, 0b01.
    Ect1,
    /// ECN-capable, 0b10: what RoCE senders use.
    Ect0,
    /// Congestion experienced, 0b11.
    Ce,
}

impl Ecn {
    /// The two low bits of a ToS or traffic class byte.
    pub const fn from_low_bits(byte: u8) -> Ecn {
        match byte & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits on the wire.
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

/// An IP header of either version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ip {
    /// IPv4.
    V4(ipv4::Repr),
    /// IPv6.
    V6(ipv6::Repr),
}

impl Ip {
    /// Reads a packet of the version that `kind`, an Ethernet type, announces, and returns it with its payload.
    ///
    /// # Errors
    /// On another type; as the version's own parser.
    pub fn parse(kind: u16, bytes: &[u8]) -> Result<(Ip, &[u8]), Malformed> {
        match kind {
            ethertype::IPV4 => {
                ipv4::Repr::parse(bytes).map(|(repr, payload)| (Ip::V4(repr), payload))
            }
            ethertype::IPV6 => {
                ipv6::Repr::parse(bytes).map(|(repr, payload)| (Ip::V6(repr), payload))
            }
            got => Err(not_one_of("ethernet.type", 12, "IPv4 (0x800) or IPv6 (0x86dd)", got)),
        }
    }

    /// Type that the Ethernet header in front carries.
    pub const fn ethertype(&self) -> u16 {
        match self {
            Ip::V4(_) => ethertype::IPV4,
            Ip::V6(_) => ethertype::IPV6,
        }
    }

    /// Length of the header, in bytes.
    pub const fn header_len(&self) -> usize {
        match self {
            Ip::V4(_) => ipv4::LEN,
            Ip::V6(_) => ipv6::LEN,
        }
    }

    /// Differentiated services code point.
    pub const fn dscp(&self) -> Dscp {
        match self {
            Ip::V4(ip) => ip.dscp,
            Ip::V6(ip) => ip.dscp,
        }
    }

    /// Congestion mark.
    pub const fn ecn(&self) -> Ecn {
        match self {
            Ip::V4(ip) => ip.ecn,
            Ip::V6(ip) => ip.ecn,
        }
    }

    /// Protocol of the payload.
    pub const fn protocol(&self) -> u8 {
        match self {
            Ip::V4(ip) => ip.protocol,
            Ip::V6(ip) => ip.next_header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_the_numbers_of_rfc_3168() {
        let marks = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (bits, mark) in (0..).zip(marks) {
            assert_eq!((mark.bits(), Ecn::from_low_bits(0xfc | bits)), (bits, mark));
        }
    }
}
