//! Invariant CRC of RoCEv2 (IBTA Vol 1, 7.8.1; Annex A17): CRC-32 of Ethernet over all that no switch may change, least
//! significant byte first on the wire.
//!
//! Eight bytes of ones stand for the InfiniBand header that RoCE lacks. Ones replace what switches rewrite: IPv4 ToS,
//! TTL and header checksum; IPv6 traffic class, flow label and hop limit; the UDP checksum; FECN, BECN and the six bits
//! beside them in the BTH.
//!
//! Left out: the variants for RoCEv1 and InfiniBand, whose frames carry other headers.

use crate::ethernet::{self, ethertype};
use crate::malformed::{cut, expect, not_one_of, short};
use crate::roce::bth;
use crate::{Malformed, ipv4, ipv6, udp, vlan};
use core::ops::Range;

mod field;
pub use field::Field;

/// Length of the ICRC, in bytes.
pub const LEN: usize = 4;

const ONES: usize = 8;
const MAX_MASKED: usize = ONES + ipv6::LEN + udp::LEN + bth::LEN;

/// The ICRC, in wire order, of `packet`: from the IP header to the end of the payload and its pad, the ICRC itself not
/// included. Apart from the IP version and IPv4 header length, nothing in it is judged.
///
/// # Errors
/// When the bytes end before the end of the BTH; on another IP version; on IPv4 options.
pub fn of(packet: &[u8]) -> Result<[u8; LEN], Malformed> {
    let first = *packet.first().ok_or_else(|| short("ip", 1, 0))?;
    let (ip_len, masked): (usize, &[usize]) = match first >> 4 {
        4 => {
            expect("ipv4.ihl", 0, 5, first & 0x0f)?;
            (ipv4::LEN, &[1, 8, 10, 11])
        }
        6 => (ipv6::LEN, &[1, 2, 3, 7]),
        got => return Err(not_one_of("ip.version", 0, "4 or 6", got)),
    };
    let (udp_at, bth_at) = (ip_len, ip_len + udp::LEN);
    let head = bth_at + bth::LEN;
    let Some((headers, rest)) = packet.split_at_checked(head) else {
        return Err(short("bth", bth::LEN, packet.len().saturating_sub(bth_at)));
    };
    let mut copy = [0xff; MAX_MASKED];
    let (copy, _) = copy.split_at_mut(ONES + head);
    let (_ones, fields) = copy.split_at_mut(ONES);
    fields.copy_from_slice(headers);
    for &at in masked {
        fields[at] = 0xff;
    }
    if ip_len == ipv6::LEN {
        // The traffic class begins in the version's byte.
        fields[0] |= 0x0f;
    }
    fields[udp_at + 6..udp_at + 8].fill(0xff);
    fields[bth_at + 4] = 0xff;
    let mut crc = crc32fast::Hasher::new();
    crc.update(copy);
    crc.update(rest);
    Ok(crc.finalize().to_le_bytes())
}

/// Writes the right ICRC into a whole RoCEv2 `frame`, for use after its bytes were changed. Only what finds the place
/// of the ICRC is judged: Ethernet type, tag, IP version and length.
///
/// # Errors
/// When no ICRC can be found: not an IP frame, or one that ends too early.
pub fn seal(frame: &mut [u8]) -> Result<(), Malformed> {
    let packet = packet_in(frame)?;
    let end = packet.end - LEN;
    let icrc = of(&frame[packet.start..end])?;
    frame[end..packet.end].copy_from_slice(&icrc);
    Ok(())
}

/// Whether the ICRC of a whole RoCEv2 `frame` is right.
///
/// # Errors
/// As [`seal`].
pub fn holds(frame: &[u8]) -> Result<bool, Malformed> {
    let packet = packet_in(frame)?;
    let end = packet.end - LEN;
    Ok(of(&frame[packet.start..end])? == frame[end..packet.end])
}

/// Where the IP packet lies in a frame, its ICRC included. It is at least as long as an ICRC.
fn packet_in(frame: &[u8]) -> Result<Range<usize>, Malformed> {
    let (header, rest) = ethernet::Repr::parse(frame)?;
    let (kind, rest) = match header.ethertype {
        ethertype::VLAN => {
            let (_tag, inner, rest) = vlan::Repr::parse(rest)?;
            (inner, rest)
        }
        kind => (kind, rest),
    };
    let len_at = |at: usize| {
        rest.get(at..at + 2).map(|len| usize::from(u16::from_be_bytes([len[0], len[1]])))
    };
    let packet = match kind {
        ethertype::IPV4 => {
            let total = len_at(2).ok_or_else(|| short("ipv4", ipv4::LEN, rest.len()))?;
            cut("ipv4.total_length", 2, ipv4::LEN, total, rest)?
        }
        ethertype::IPV6 => {
            let payload = len_at(4).ok_or_else(|| short("ipv6", ipv6::LEN, rest.len()))?;
            cut("ipv6.payload_length", 4, 0, ipv6::LEN + payload, rest)?
        }
        got => return Err(not_one_of("ethernet.type", 12, "IPv4 (0x800) or IPv6 (0x86dd)", got)),
    };
    let start = frame.len() - rest.len();
    Ok(start..start + packet.len())
}
