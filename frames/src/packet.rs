//! Whole frames, built from meaning and read back in one call.
//!
//! Left out: what the rig has no use for, reported as [`Packet::Other`]: frames with several tags, IP options and
//! fragments, IPv6 extension headers, any UDP but port 4791.

mod path;
mod roce;
#[cfg(test)]
mod tests;

pub use path::Path;
pub use roce::RoceFrame;

use crate::ethernet::{self, MIN_FRAME, ethertype};
use crate::mac_control::{self, Control};
use crate::malformed::short;
use crate::{MacAddr, Malformed, arp, ip, ipv4, ipv6, pause, pfc, udp, vlan};
use pnet_packet::ipv4::Ipv4Packet;
use pnet_packet::ipv6::Ipv6Packet;

/// A whole frame, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packet {
    /// PFC.
    Pfc {
        /// Who sent it.
        src: MacAddr,
        /// What it asks for.
        repr: pfc::Repr,
    },
    /// 802.3x PAUSE.
    Pause {
        /// Who sent it.
        src: MacAddr,
        /// What it asks for.
        repr: pause::Repr,
    },
    /// RoCEv2: data, acknowledgements and CNPs.
    Roce {
        /// All of it but the payload's bytes.
        frame: RoceFrame,
        /// Whether the ICRC is right. A wrong one is what a fault rule makes, so the rest is still read.
        icrc_ok: bool,
    },
    /// ARP.
    Arp {
        /// Who sent the frame, by its Ethernet header.
        src: MacAddr,
        /// To whom.
        dst: MacAddr,
        /// The tag, if there is one.
        vlan: Option<vlan::Repr>,
        /// Question or answer.
        repr: arp::Repr,
    },
    /// Something else; it was not looked into.
    Other {
        /// Who sent it.
        src: MacAddr,
        /// To whom.
        dst: MacAddr,
        /// Type of the payload, that of the inner one if there is a tag.
        ethertype: u16,
    },
}

impl Packet {
    /// Writes the frame, at least 60 bytes without FCS; `None` for [`Packet::Other`]. A RoCE frame gets the right ICRC.
    ///
    /// # Panics
    /// As [`RoceFrame::emit`].
    pub fn emit(&self) -> Option<Vec<u8>> {
        Some(match self {
            Packet::Pfc { src, repr } => mac_control::frame_pfc(*src, repr),
            Packet::Pause { src, repr } => mac_control::frame_pause(*src, repr),
            Packet::Roce { frame, .. } => frame.emit(),
            Packet::Arp { src, dst, vlan, repr } => {
                let mut frame = Vec::with_capacity(MIN_FRAME);
                path::put_link(&mut frame, *src, *dst, *vlan, ethertype::ARP);
                frame.extend_from_slice(&repr.emit());
                frame.resize(frame.len().max(MIN_FRAME), 0);
                frame
            }
            Packet::Other { .. } => return None,
        })
    }
}

/// Reads a frame from its destination address on, without FCS. Bytes behind what a length field announces are padding.
///
/// # Errors
/// When a frame of a kind that the rig knows breaks that kind's rules, or ends too early.
pub fn parse(frame: &[u8]) -> Result<Packet, Malformed> {
    let (ethernet::Repr { dst, src, ethertype: outer }, rest) = ethernet::Repr::parse(frame)?;
    let (vlan, kind, rest) = if outer == ethertype::VLAN {
        let (tag, inner, rest) = vlan::Repr::parse(rest)?;
        (Some(tag), inner, rest)
    } else {
        (None, outer, rest)
    };
    let other = Packet::Other { src, dst, ethertype: kind };
    Ok(match kind {
        ethertype::MAC_CONTROL if vlan.is_none() => match mac_control::parse(dst, rest)? {
            Some(Control::Pfc(repr)) => Packet::Pfc { src, repr },
            Some(Control::Pause(repr)) => Packet::Pause { src, repr },
            None => other,
        },
        ethertype::ARP => Packet::Arp { src, dst, vlan, repr: arp::Repr::parse(rest)? },
        ethertype::IPV4 | ethertype::IPV6 if goes_to_roce(kind, rest)? => {
            let (frame, icrc_ok) = roce::parse(src, dst, vlan, kind, frame.len(), rest)?;
            Packet::Roce { frame, icrc_ok }
        }
        _ => other,
    })
}

/// Whether an IP packet is a plain UDP datagram to the port of RoCEv2. Looks only at what decides it: a packet of
/// another kind may have any checksum, since a capture on its sender sees it before the NIC fills it in.
fn goes_to_roce(kind: u16, packet: &[u8]) -> Result<bool, Malformed> {
    let (protocol, datagram) = if kind == ethertype::IPV4 {
        let header =
            Ipv4Packet::new(packet).ok_or_else(|| short("ipv4", ipv4::LEN, packet.len()))?;
        let fragment = header.get_fragment_offset() != 0 || header.get_flags() & 0b001 != 0;
        if fragment || header.get_header_length() != 5 {
            return Ok(false);
        }
        (header.get_next_level_protocol().0, &packet[ipv4::LEN..])
    } else {
        let header =
            Ipv6Packet::new(packet).ok_or_else(|| short("ipv6", ipv6::LEN, packet.len()))?;
        (header.get_next_header().0, &packet[ipv6::LEN..])
    };
    if protocol != ip::UDP {
        return Ok(false);
    }
    let header = datagram
        .first_chunk::<{ udp::LEN }>()
        .ok_or_else(|| short("udp", udp::LEN, datagram.len()))?;
    Ok(u16::from_be_bytes([header[2], header[3]]) == udp::ROCE_PORT)
}
