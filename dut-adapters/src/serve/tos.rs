//! DSCP and congestion mark of a frame, read and written where they stand, whatever follows behind them.
//!
//! A switch looks at these bits of any IP packet, also of one whose options or payload the rig does not understand.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Ecn;

/// Length of an 802.1Q tag.
const TAG: usize = 4;
/// Offset of the header checksum in an IPv4 header.
const CHECKSUM: usize = 10;

/// Where the IP header of a frame begins, and which version it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    V4(usize),
    V6(usize),
}

/// The type of service, which IPv6 calls traffic class (RFC 2474): DSCP and congestion mark. `None` without IP.
pub(super) fn read(frame: &[u8]) -> Option<(u8, Ecn)> {
    let byte = match place(frame)? {
        Place::V4(at) => frame[at + 1],
        Place::V6(at) => frame[at] << 4 | frame[at + 1] >> 4,
    };
    Some((byte >> 2, Ecn::from_low_bits(byte)))
}

/// Whether it goes over IPv6.
pub(super) fn is_v6(frame: &[u8]) -> bool {
    matches!(place(frame), Some(Place::V6(_)))
}

/// Marks that the frame met congestion.
pub(super) fn mark(frame: &mut [u8]) {
    set(frame, Ecn::Ce);
}

/// Takes the mark off a frame that has one: it is ECN-capable and nothing else, as if it had met no congestion.
pub(super) fn unmark(frame: &mut [u8]) {
    if read(frame).is_some_and(|(_, ecn)| ecn == Ecn::Ce) {
        set(frame, Ecn::Ect0);
    }
}

/// Writes the congestion bits. The header checksum of IPv4 follows by what changed (RFC 1624 equation 3), so that a wrong one
/// stays wrong; the ICRC leaves these bits out.
fn set(frame: &mut [u8], ecn: Ecn) {
    match place(frame) {
        Some(Place::V4(at)) => {
            let before = word(frame, at);
            frame[at + 1] = frame[at + 1] & !Ecn::Ce.bits() | ecn.bits();
            let (sum, after) = (word(frame, at + CHECKSUM), word(frame, at));
            let sum = u32::from(!sum) + u32::from(!before) + u32::from(after);
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            let checksum = !u16::try_from(folded).unwrap_or(0);
            frame[at + CHECKSUM..][..2].copy_from_slice(&checksum.to_be_bytes());
        }
        Some(Place::V6(at)) => {
            frame[at + 1] = frame[at + 1] & !(Ecn::Ce.bits() << 4) | ecn.bits() << 4;
        }
        None => {}
    }
}

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// The IP header of a frame with at most one tag, if it is there as far as the checksum of IPv4.
fn place(frame: &[u8]) -> Option<Place> {
    let kind = |end: usize| Some(u16::from_be_bytes([*frame.get(end - 2)?, *frame.get(end - 1)?]));
    let tagged = kind(ethernet::LEN)? == ethertype::VLAN;
    let at = ethernet::LEN + if tagged { TAG } else { 0 };
    let version = frame.get(at)? >> 4;
    let whole = frame.len() >= at + CHECKSUM + 2;
    match (kind(at)?, version) {
        (ethertype::IPV4, 4) if whole => Some(Place::V4(at)),
        (ethertype::IPV6, 6) if whole => Some(Place::V6(at)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use rig_frames::ip::{Dscp, Ip};
    use rig_frames::packet::{self, Packet, Path, RoceFrame};
    use rig_frames::psn::Psn;
    use rig_frames::roce::{Ext, Opcode, Qpn, bth};
    use rig_frames::{MacAddr, ipv4, ipv6, vlan};

    fn frames() -> [(&'static str, Vec<u8>); 3] {
        let (mac, dscp) = (MacAddr([2, 0, 0, 1, 0, 0]), Dscp::new(26).unwrap());
        let v4 = ipv4::Repr::udp(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 1), dscp);
        let v6 = ipv6::Repr::udp(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, dscp);
        let plain = Path::v4(mac, mac, v4);
        let tagged = Path { vlan: Some(vlan::Repr { ..tag() }), ..plain };
        let six = Path { ip: Ip::V6(v6), ..plain };
        let bth = bth::Repr::new(Opcode::RcSendOnly, Qpn::new(1).unwrap(), Psn::new(0));
        let bytes = |path| RoceFrame::new(path, bth, Ext::Plain).emit();
        [("plain", bytes(plain)), ("tagged", bytes(tagged)), ("IPv6", bytes(six))]
    }

    fn tag() -> vlan::Repr {
        vlan::Repr::parse(&[0x60, 5, 8, 0]).unwrap().0
    }

    #[test]
    fn the_code_point_is_read_through_a_tag_and_from_either_version() {
        for (name, frame) in frames() {
            assert_eq!(read(&frame), Some((26, Ecn::Ect0)), "{name}");
        }
    }

    #[test]
    fn a_marked_frame_is_marked_and_whole_in_every_other_way() {
        for (name, mut frame) in frames() {
            let Ok(Packet::Roce { frame: before, .. }) = packet::parse(&frame) else { panic!() };
            mark(&mut frame);
            // The parser refuses a wrong header checksum and judges the ICRC.
            let Ok(Packet::Roce { frame: after, icrc_ok: true }) = packet::parse(&frame) else {
                panic!("{name}: {:?}", packet::parse(&frame))
            };
            let mut ip = before.path.ip;
            match &mut ip {
                Ip::V4(ip) => ip.ecn = Ecn::Ce,
                Ip::V6(ip) => ip.ecn = Ecn::Ce,
            }
            let path = Path { ip, ..before.path };
            assert_eq!(after, RoceFrame { path, ..before }, "{name}");
            let again = frame.clone();
            mark(&mut frame);
            assert_eq!(frame, again, "a second mark changes nothing");
        }
    }

    #[test]
    fn a_mark_that_is_taken_off_leaves_the_frame_as_it_was() {
        for (name, mut frame) in frames() {
            let before = frame.clone();
            unmark(&mut frame);
            assert_eq!(frame, before, "{name}: there is none to take off");
            mark(&mut frame);
            unmark(&mut frame);
            assert_eq!(frame, before, "{name}");
        }
    }

    #[test]
    fn a_wrong_header_checksum_stays_as_wrong_as_it_was() {
        let [(_, mut frame), ..] = frames();
        frame[ethernet::LEN + CHECKSUM] ^= 0x10;
        mark(&mut frame);
        assert!(packet::parse(&frame).is_err());
        frame[ethernet::LEN + CHECKSUM] ^= 0x10;
        assert!(packet::parse(&frame).is_ok());
    }

    #[test]
    fn what_is_not_ip_or_cut_short_is_left_alone() {
        let [(_, whole), ..] = frames();
        for len in 0..ethernet::LEN + CHECKSUM + 2 {
            let mut cut = whole[..len].to_vec();
            assert_eq!(read(&cut), None, "{len}");
            mark(&mut cut);
            assert_eq!(cut, whole[..len]);
        }
        let mut arp = whole;
        arp[13] = 6;
        assert_eq!(read(&arp), None);
    }
}
