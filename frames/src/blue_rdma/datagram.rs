//! A UDP datagram to the port of RoCEv2 in a frame, as far as blue-rdma needs it.

use crate::ethernet::{self, ethertype};
use crate::ip::{self, Ecn};
use crate::{ipv4, udp, vlan};
use core::net::Ipv4Addr;
use pnet_packet::ipv4::{Ipv4Packet, checksum};
use pnet_packet::udp::UdpPacket;

/// A datagram over IPv4 to the port of RoCEv2. Its checksums are not judged: the driver leaves that of IPv4 zero in what it writes, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Source.
    pub src: Ipv4Addr,
    /// Destination.
    pub dst: Ipv4Addr,
    /// Congestion mark.
    pub ecn: Ecn,
    /// UDP source port: of data the low 16 bits of the sender's queue pair.
    pub src_port: u16,
    /// Whether the IPv4 header has the checksum that it should have: a router drops the packet where it has not.
    pub sound: bool,
    /// What it carries, the ICRC where there is one.
    pub bytes: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// That in a `frame`, from the destination address on, with a tag or without; `None` where there is none, or where it is cut short.
    pub fn of(frame: &'a [u8]) -> Option<Datagram<'a>> {
        let (outer, rest) = ethernet::Repr::parse(frame).ok()?;
        let (kind, packet) = match outer.ethertype {
            ethertype::VLAN => vlan::Repr::parse(rest).ok().map(|(_, kind, rest)| (kind, rest))?,
            kind => (kind, rest),
        };
        let header = Ipv4Packet::new(packet).filter(|_| kind == ethertype::IPV4)?;
        let whole = header.get_fragment_offset() == 0 && header.get_flags() & 0b001 == 0;
        let plain = header.get_version() == 4 && header.get_header_length() == 5 && whole;
        if !plain || header.get_next_level_protocol().0 != ip::UDP {
            return None;
        }
        let payload = packet.get(ipv4::LEN..usize::from(header.get_total_length()))?;
        let datagram =
            UdpPacket::new(payload).filter(|of| of.get_destination() == udp::ROCE_PORT)?;
        let bytes = payload.get(udp::LEN..usize::from(datagram.get_length()))?;
        Some(Datagram {
            src: header.get_source(),
            dst: header.get_destination(),
            ecn: Ecn::from_low_bits(header.get_ecn()),
            src_port: datagram.get_source(),
            sound: header.get_checksum() == checksum(&header),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MacAddr;
    use crate::ip::Dscp;

    /// A frame around `bytes`.
    fn frame(tagged: bool, bytes: &[u8]) -> Vec<u8> {
        let ends = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let kind = if tagged { ethertype::VLAN } else { ethertype::IPV4 };
        let link = ethernet::Repr { dst: MacAddr([2; 6]), src: MacAddr([4; 6]), ethertype: kind };
        let mut frame = link.emit().to_vec();
        if tagged {
            frame.extend([0x60, 0x05, 0x08, 0x00]);
        }
        let ip = ipv4::Repr::udp(ends.0, ends.1, Dscp::default());
        frame.extend(ip.emit(udp::LEN + bytes.len()));
        let udp =
            udp::Repr { src_port: 17, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
        frame.extend(udp.emit(bytes.len()));
        frame.extend(bytes);
        frame.resize(frame.len().max(60), 0);
        frame
    }

    #[test]
    fn what_udp_carries_is_found_behind_a_tag_and_before_the_padding() {
        for tagged in [false, true] {
            let frame = frame(tagged, &[7; 9]);
            let found = Datagram::of(&frame).expect("a datagram");
            assert_eq!((found.bytes, found.src_port, found.sound), (&[7; 9][..], 17, true));
            assert_eq!((found.src, found.dst), ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
        }
    }

    #[test]
    fn a_checksum_that_nobody_filled_in_is_told_and_not_refused() {
        let mut unsummed = frame(false, &[7; 9]);
        unsummed[24..26].fill(0);
        assert!(!Datagram::of(&unsummed).expect("a datagram").sound);
    }

    #[test]
    fn other_ports_fragments_and_truncations_are_none() {
        let whole = frame(false, &[7; 40]);
        for (at, value) in [(37, 0), (20, 0x20), (14, 0x46), (23, 6), (12, 0x86)] {
            let mut other = whole.clone();
            other[at] = value;
            assert_eq!(Datagram::of(&other), None, "byte {at}");
        }
        for len in 0..whole.len() {
            assert_eq!(Datagram::of(&whole[..len]), None, "{len} bytes");
        }
    }
}
