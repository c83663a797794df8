//! The version of IP that a frame goes over, as the model carries it: in the name of the host that it is from. The name of the one that it goes
//! to says nothing of it, so that frames find their way as ever.

use super::Packet;

/// In the name of a sender: its frame goes over IPv6.
const V6: u16 = 1 << 15;

impl Packet {
    /// How much longer than that of IPv4 the header of IPv6 is, in bytes.
    pub(crate) const V6_LONGER: u16 = 20;

    /// The same frame over IPv6, longer by that.
    #[must_use]
    pub const fn over_v6(mut self) -> Packet {
        if !self.is_v6() {
            self.size = self.size.saturating_add(Packet::V6_LONGER);
        }
        self.with_v6(true)
    }

    /// The same frame over IPv6, or over IPv4. Its size stays.
    #[must_use]
    pub const fn with_v6(mut self, is_v6: bool) -> Packet {
        self.src = address(self.sender(), is_v6);
        self
    }

    /// Whether it goes over IPv6.
    #[inline]
    pub const fn is_v6(&self) -> bool {
        self.src & V6 != 0
    }

    /// The host that sent it, at its address, whatever it goes over.
    #[inline]
    pub const fn sender(&self) -> u16 {
        self.src & !V6
    }
}

/// The address of a host of one version of IP: what a frame from there names as its sender.
pub(crate) const fn address(host: u16, is_v6: bool) -> u16 {
    if is_v6 { host | V6 } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::host;

    #[test]
    fn a_frame_over_ipv6_is_longer_and_its_answer_finds_the_way_back() {
        let plain = Packet::data(7, host::at(3, 99), 1, 3, 26, 1_024);
        assert_eq!((plain.is_v6(), plain.sender()), (false, plain.src));
        let v6 = plain.over_v6();
        assert_eq!((v6.is_v6(), v6.sender(), v6.size), (true, plain.src, 1_044));
        assert_eq!((v6.over_v6(), v6.with_v6(false).size), (v6, 1_044));
        assert_eq!((host::number(v6.src), address(plain.src, true)), (99, v6.src));
        assert_eq!(v6.ack(66), plain.ack(66));
    }
}
