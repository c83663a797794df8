//! The bytes of a frame that goes on from a port of the rig to the NIC behind another one, and what is done to them on the way.

use core::net::Ipv4Addr;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Ecn;
use rig_frames::{icrc, ipv4, ipv6, udp, vlan};
use rig_testcases::wire;

/// Behind its IP header: where a frame of RoCEv2 has its partition key, and a datagram its Q_Key.
const PKEY: usize = udp::LEN + 2;
const Q_KEY: usize = udp::LEN + rig_frames::roce::bth::LEN;

/// What is done to the bytes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It is marked: congestion experienced.
    Marked,
    /// Its ICRC is wrong.
    Spoilt,
    /// Its Q_Key is another, and its ICRC right.
    OtherKey,
}

/// The same frame from a port of the rig to the NIC behind it, which came `from` another: from who sent it, by its number there, and with an ICRC that fits
/// where it had one. `None` of what is not IP: it is for the port itself.
pub(super) fn readdressed(
    frame: &[u8],
    (from, to): (u16, u16),
    change: Option<Change>,
) -> Option<Vec<u8>> {
    let (link, rest) = ethernet::Repr::parse(frame).ok()?;
    let (kind, rest) = match link.ethertype {
        ethertype::VLAN => {
            let (_, inner, rest) = vlan::Repr::parse(rest).ok()?;
            (inner, rest)
        }
        kind => (kind, rest),
    };
    let link = ethernet::Repr { src: wire::rig_mac(to), dst: wire::dut_mac(to), ..link };
    let mut out = link.emit().to_vec();
    // A tag stays as it is.
    out.extend(&frame[ethernet::LEN..frame.len() - rest.len()]);
    let marks = change == Some(Change::Marked);
    let header = match kind {
        ethertype::IPV4 => {
            let (ip, payload) = ipv4::Repr::parse(rest).ok()?;
            let (src, dst) = across((from, to), (ip.src, ip.dst));
            let ecn = if marks { Ecn::Ce } else { ip.ecn };
            out.extend(ipv4::Repr { src, dst, ecn, ..ip }.emit(payload.len()));
            ipv4::LEN
        }
        ethertype::IPV6 => {
            let (ip, payload) = ipv6::Repr::parse(rest).ok()?;
            let (src, dst) = across((from, to), (wire::v4(ip.src)?, wire::v4(ip.dst)?));
            let (src, dst) = (wire::v6(src), wire::v6(dst));
            let ecn = if marks { Ecn::Ce } else { ip.ecn };
            out.extend(ipv6::Repr { src, dst, ecn, ..ip }.emit(payload.len()));
            ipv6::LEN
        }
        _ => return None,
    };
    let behind = out.len();
    // Bytes that only fill the frame among them.
    out.extend(rest.get(header..)?);
    if change == Some(Change::OtherKey)
        && let Some(key) = out.get_mut(behind + Q_KEY..behind + Q_KEY + 4)
    {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
    // The ICRC covers addresses. One that did not fit does not fit afterwards either.
    if icrc::holds(frame) == Ok(true) {
        icrc::seal(&mut out).ok()?;
    }
    if change == Some(Change::Spoilt)
        && let Some(byte) = out.get_mut(behind + PKEY)
    {
        // What the ICRC covers, and nothing that anybody reads.
        *byte ^= 0x40;
    }
    Some(out)
}

/// Who a frame is from and for behind the rig that came so: a host keeps its number.
fn across((from, to): (u16, u16), (src, dst): (Ipv4Addr, Ipv4Addr)) -> (Ipv4Addr, Ipv4Addr) {
    let own = wire::gid_number(from, src).unwrap_or(0);
    let other = wire::address_number(from, dst).unwrap_or(0);
    (wire::rig_address(to, own), wire::nic_address(to, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::blue_rdma::{Frame, MEMORY, OVERHEAD, Says};
    use rig_capture::decode::to_nic;
    use rig_frames::vlan::{Pcp, Vid};
    use rig_lab::IpVersion;
    use rig_testcases::{Roce, RoceKind, Verb};

    #[test]
    fn a_frame_says_the_same_behind_the_rig_and_is_for_the_other_nic() {
        let says = Says::Data { first: false, last: true, address: MEMORY, length: 64 };
        let frame = Frame {
            connection: 2,
            psn: 9,
            msn: 1,
            size: OVERHEAD + 64,
            is_retry: false,
            ce: false,
            is_send: false,
            immediate: None,
            says,
        };
        let passed = readdressed(&frame.bytes(0, false), (0, 1), None).expect("it is IPv4");
        assert_eq!(passed, frame.bytes(1, true));
        assert_eq!(Frame::read(1, true, &passed), Some(frame));
    }

    #[test]
    fn a_frame_of_rocev2_passes_whole_over_either_version_of_ip_and_behind_a_tag() {
        let kind = RoceKind::Data { first: true, last: false, response: false };
        let id = Vid::new(100).expect("twelve bits");
        let tag = vlan::Repr { pcp: Pcp::new(3).expect("three bits"), dei: false, vid: id };
        for (over, tag) in
            [IpVersion::V4, IpVersion::V6].map(|over| [(over, None), (over, Some(tag))]).concat()
        {
            let one = Roce { over, gid: 2, address: 5, dscp: 26, ..Roce::of(7, kind, 90, 600) };
            let bytes = |port, to_nic, one: &Roce| {
                wire::nic::frame_behind(tag, Verb::Write, (port, to_nic), one)
            };
            let sent = bytes(0, false, &one);
            let there = Roce { gid: 5, address: 2, ..one };
            let pass = |change| readdressed(&sent, (0, 1), change).expect("it is IP");
            assert_eq!(pass(None), bytes(1, true, &there));
            let heard = |change| to_nic(1, &pass(change)).expect("a frame to the NIC");
            assert_eq!(heard(Some(Change::Marked)), Roce { ecn: Ecn::Ce, ..heard(None) });
            assert_eq!(heard(Some(Change::Spoilt)), Roce { corrupt: true, ..heard(None) });
            // One that was spoilt before stays so.
            let spoilt = bytes(0, false, &Roce { corrupt: true, ..one });
            let passed = readdressed(&spoilt, (0, 1), None).expect("it is IP");
            assert!(to_nic(1, &passed).expect("a frame to the NIC").corrupt);
        }
    }

    #[test]
    fn a_datagram_gets_another_key_and_an_icrc_that_fits() {
        let kind = RoceKind::Data { first: true, last: true, response: false };
        let sent = wire::nic::frame(Verb::Datagram, 0, false, &Roce::of(7, kind, 90, 600));
        let passed = readdressed(&sent, (0, 1), Some(Change::OtherKey)).expect("it is IP");
        let heard = to_nic(1, &passed).expect("a frame to the NIC");
        assert!(heard.other_key && !heard.corrupt, "{heard:?}");
    }

    #[test]
    fn what_is_for_the_port_itself_goes_nowhere() {
        let mut pause = frame_of(0x8808);
        assert_eq!(readdressed(&pause, (0, 1), None), None);
        pause.truncate(10);
        assert_eq!(readdressed(&pause, (0, 1), None), None);
    }

    fn frame_of(kind: u16) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&kind.to_be_bytes());
        frame
    }
}
