//! Secure channel identifier (IEEE 802.1AE clauses 7.1.2 and 9.9): who sends on a secure channel.

use crate::MacAddr;
use core::fmt;

/// Length on the wire, in bytes.
pub(super) const LEN: usize = 8;

/// An address of the sender, and which of its ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sci {
    /// Address of the sending station.
    pub mac: MacAddr,
    /// Number of the port among those that share the address.
    pub port: u16,
}

impl Sci {
    /// The port of a station that has one only, and so may leave its SCI out of the tag (clause 9.5).
    pub const END_STATION: u16 = 1;

    /// Reads the eight bytes; any are sense.
    pub const fn from_bytes([a, b, c, d, e, f, high, low]: [u8; LEN]) -> Sci {
        Sci { mac: MacAddr([a, b, c, d, e, f]), port: u16::from_be_bytes([high, low]) }
    }

    /// The eight bytes as they stand in a tag.
    pub const fn to_bytes(self) -> [u8; LEN] {
        let MacAddr([a, b, c, d, e, f]) = self.mac;
        let [high, low] = self.port.to_be_bytes();
        [a, b, c, d, e, f, high, low]
    }
}

impl fmt::Display for Sci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.mac, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_both_ways() {
        let golden = [0x12, 0x15, 0x35, 0x24, 0xc0, 0x89, 0x5e, 0x81];
        let sci = Sci { mac: MacAddr([0x12, 0x15, 0x35, 0x24, 0xc0, 0x89]), port: 0x5e81 };
        assert_eq!(Sci::from_bytes(golden), sci);
        assert_eq!(sci.to_bytes(), golden);
        assert_eq!(sci.to_string(), "12:15:35:24:c0:89/24193");
    }
}
