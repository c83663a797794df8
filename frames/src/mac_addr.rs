//! Ethernet addresses.

use core::fmt;
use core::str::FromStr;

/// An Ethernet address, in wire order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// All stations.
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);
    /// Where MAC Control frames go; bridges do not forward it (IEEE 802.3 Annex 31B.1, IEEE 802.1Q table 8-1).
    pub const MAC_CONTROL: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

    /// Whether this names a group of stations rather than one.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Text that is not an Ethernet address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadMacAddr(pub String);

impl fmt::Display for BadMacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an Ethernet address: want six pairs of hex digits such as 02:00:00:00:00:01, got {:?}",
            self.0
        )
    }
}

impl core::error::Error for BadMacAddr {}

impl FromStr for MacAddr {
    type Err = BadMacAddr;
    fn from_str(text: &str) -> Result<MacAddr, BadMacAddr> {
        let bad = || BadMacAddr(text.to_owned());
        let mut octets = [0; 6];
        let mut parts = text.split(':');
        for octet in &mut octets {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(bad)?;
            // `from_str_radix` takes a sign, which no address has.
            let digits = part.bytes().all(|byte| byte.is_ascii_hexdigit());
            *octet = u8::from_str_radix(part, 16).ok().filter(|_| digits).ok_or_else(bad)?;
        }
        if parts.next().is_some() { Err(bad()) } else { Ok(MacAddr(octets)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_it_prints() {
        let text = "01:80:c2:00:00:01";
        assert_eq!(text.parse(), Ok(MacAddr::MAC_CONTROL));
        assert_eq!(MacAddr::MAC_CONTROL.to_string(), text);
        assert!(MacAddr::MAC_CONTROL.is_group());
        assert!(!MacAddr([2, 0, 0, 0, 0, 1]).is_group());
    }

    #[test]
    fn anything_but_six_pairs_is_refused() {
        for text in [
            "",
            "01:80:c2:00:00",
            "01:80:c2:00:00:01:02",
            "1:80:c2:00:00:01",
            "+1:80:c2:00:00:01",
            "01-80",
        ] {
            assert_eq!(text.parse::<MacAddr>(), Err(BadMacAddr(text.to_owned())), "{text}");
        }
    }
}
