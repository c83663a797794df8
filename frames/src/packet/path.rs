//! Where a RoCE frame comes from and goes to: all that stands in front of its BTH.

use crate::ethernet::{self, ethertype};
use crate::ip::Ip;
use crate::{MacAddr, ipv4, udp, vlan};

/// The way of a stream's frames through the network; the same for all of them but for congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Path {
    /// Ethernet source.
    pub src: MacAddr,
    /// Ethernet destination.
    pub dst: MacAddr,
    /// The tag, if there is one.
    pub vlan: Option<vlan::Repr>,
    /// IP header.
    pub ip: Ip,
    /// UDP source port: the entropy that switches hash on.
    pub udp_src: u16,
    /// UDP checksum: zero as Annex A17 has it, or filled in as some senders do.
    pub checksum: udp::Checksum,
}

impl Path {
    /// An untagged path over IPv4, UDP source port 0xc000 and no UDP checksum.
    pub const fn v4(src: MacAddr, dst: MacAddr, ip: ipv4::Repr) -> Path {
        Path {
            src,
            dst,
            vlan: None,
            ip: Ip::V4(ip),
            udp_src: 0xc000,
            checksum: udp::Checksum::Zero,
        }
    }

    /// Length of Ethernet header, tag, IP and UDP header together, in bytes.
    pub(super) const fn len(&self) -> usize {
        let tag = if self.vlan.is_some() { vlan::LEN } else { 0 };
        ethernet::LEN + tag + self.ip.header_len() + udp::LEN
    }

    /// Appends the headers for a datagram that carries `payload_len` bytes.
    pub(super) fn put(&self, out: &mut Vec<u8>, payload_len: usize) {
        put_link(out, self.src, self.dst, self.vlan, self.ip.ethertype());
        let udp_len = udp::LEN + payload_len;
        match &self.ip {
            Ip::V4(ip) => out.extend_from_slice(&ip.emit(udp_len)),
            Ip::V6(ip) => out.extend_from_slice(&ip.emit(udp_len)),
        }
        let udp =
            udp::Repr { src_port: self.udp_src, dst_port: udp::ROCE_PORT, checksum: self.checksum };
        out.extend_from_slice(&udp.emit(payload_len));
    }
}

/// Appends an Ethernet header and the tag, if any, in front of a payload of type `kind`.
pub(super) fn put_link(
    out: &mut Vec<u8>,
    src: MacAddr,
    dst: MacAddr,
    vlan: Option<vlan::Repr>,
    kind: u16,
) {
    let outer = if vlan.is_some() { ethertype::VLAN } else { kind };
    out.extend_from_slice(&ethernet::Repr { dst, src, ethertype: outer }.emit());
    if let Some(tag) = vlan {
        out.extend_from_slice(&tag.emit(kind));
    }
}
