//! What the frames of a script look like on the wire. Generator and capture both hold on to it: one sends these bytes,
//! the other knows them again.
//!
//! Frames start at the destination MAC, have no FCS and are at least 60 bytes long. Every address follows from the
//! index of a rig port, the UDP source port and the queue pair from the stream, the sequence number from the frame.

use crate::{StreamKind, StreamSpec};
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use rig_frames::ip::{Dscp, Ecn, Ip};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, Qpn, bth, reth};
use rig_frames::{MacAddr, ethernet, ipv4, ipv6, mac_control, pfc, udp, vlan};
use rig_lab::IpVersion;
use rig_units::{Bytes, FCS, MIN_FRAME, Quanta};

pub mod macsec;
pub mod nic;

/// UDP source port of stream 0; the range that RoCEv2 senders use begins here (IBTA Annex A17).
pub const FIRST_UDP_PORT: u16 = 0xc000;
/// Queue pair of stream 0.
pub const FIRST_QPN: u32 = 0x100;
/// Q_Key of every queue that datagrams go to: that of perftest.
pub const Q_KEY: u32 = 0x1111_1111;
/// UDP destination port of plain UDP streams: discard (RFC 863).
pub const UDP_PORT: u16 = 9;
/// What the payload of a plain UDP stream begins with; the stream and the sequence number follow.
pub const UDP_MAGIC: [u8; 4] = *b"rig:";
/// Address of the rig's port: locally administered.
pub fn rig_mac(port: u16) -> MacAddr {
    let [hi, lo] = port.to_be_bytes();
    MacAddr([0x02, 0, 0, 0x01, hi, lo])
}

/// Address of the device's port behind the rig's.
pub fn dut_mac(port: u16) -> MacAddr {
    let [hi, lo] = port.to_be_bytes();
    MacAddr([0x02, 0, 0, 0x02, hi, lo])
}

/// IP address of the rig's port: `10.0.port.1`, from port 256 on in 10.1 and further.
pub fn rig_ip(port: u16) -> Ipv4Addr {
    let [hi, lo] = port.to_be_bytes();
    Ipv4Addr::new(10, hi, lo, 1)
}

/// Most addresses that the rig has at each port.
pub const ADDRESSES: u8 = 100;

/// One of the IP addresses of the rig's port: the usual one is number 0, the others are `10.0.port.10` and so on.
pub fn rig_address(port: u16, number: u8) -> Ipv4Addr {
    let [a, b, c, usual] = rig_ip(port).octets();
    let last = if number == 0 { usual } else { 9 + number };
    Ipv4Addr::new(a, b, c, last)
}

/// Which of the addresses of the rig's port this is.
pub fn address_number(port: u16, address: Ipv4Addr) -> Option<u8> {
    (0..ADDRESSES).find(|&number| rig_address(port, number) == address)
}

/// IP address of the NIC behind the rig's port: `10.0.port.2`, from port 256 on in 10.1 and further.
pub fn nic_ip(port: u16) -> Ipv4Addr {
    let [hi, lo] = port.to_be_bytes();
    Ipv4Addr::new(10, hi, lo, 2)
}

/// Most addresses that a NIC has at its port.
pub const GIDS: u8 = 16;

/// One of the IP addresses of the NIC behind the rig's port, each of which is a GID of it: the usual one is number 0, the others are
/// `10.0.port.111` and so on.
pub fn nic_address(port: u16, number: u8) -> Ipv4Addr {
    let [a, b, c, usual] = nic_ip(port).octets();
    let last = if number == 0 { usual } else { 110 + number };
    Ipv4Addr::new(a, b, c, last)
}

/// Which of the addresses of the NIC behind the rig's port this is.
pub fn gid_number(port: u16, address: Ipv4Addr) -> Option<u8> {
    (0..GIDS).find(|&number| nic_address(port, number) == address)
}

/// The IPv6 address of who has this one: its 32 bits are the last of it. Unique local (RFC 4193).
pub fn v6(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from(PREFIX | u128::from(u32::from(address)))
}

/// The IPv4 address of who has this one; `None` of one that is nobody's here.
pub fn v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let low = u32::try_from(u128::from(address) ^ PREFIX).ok()?;
    Some(Ipv4Addr::from(low))
}

/// What the IPv6 addresses of the rig and of its NICs begin with: fd00:7269:6700::/48.
const PREFIX: u128 = 0xfd00_7269_6700 << 80;

/// What a version of IP adds to a frame over IPv4.
pub fn longer(over: IpVersion) -> Bytes {
    match over {
        IpVersion::V4 => Bytes(0),
        IpVersion::V6 => Bytes((ipv6::LEN - ipv4::LEN) as u64),
    }
}

/// Where a stream goes: to a port of the rig, or to one of the addresses of the NIC behind the port that it leaves by.
pub fn destination(spec: &StreamSpec) -> (MacAddr, Ipv4Addr) {
    match spec.is_to_nic() {
        true => (dut_mac(spec.to), nic_address(spec.to, spec.gid)),
        false => (rig_mac(spec.to), rig_ip(spec.to)),
    }
}

/// UDP source port of a stream.
pub const fn udp_port(stream: u16) -> u16 {
    FIRST_UDP_PORT | stream
}

/// Queue pair of a stream.
pub fn qpn(stream: u16) -> u32 {
    FIRST_QPN + u32::from(stream)
}

/// The smallest frame, FCS counted, that a stream of this kind can have. A SEND could be shorter, but in a message below
/// 16 bytes Wireshark looks for protocols that it then finds malformed.
pub fn least_size(kind: StreamKind) -> Bytes {
    match kind {
        StreamKind::RoceWrite | StreamKind::RoceSend | StreamKind::Cnp => Bytes(78),
        StreamKind::Udp => MIN_FRAME,
    }
}

/// What a tag adds to a frame.
pub fn tag_size(vlan: Option<vlan::Repr>) -> Bytes {
    Bytes(if vlan.is_some() { vlan::LEN as u64 } else { 0 })
}

/// Where the packet sequence number of an untagged RoCEv2 frame over IPv4 stands.
pub const PSN: Range<usize> = 51..54;
/// Where the number of an untagged frame of a plain UDP stream over IPv4 stands, behind the magic.
pub const UDP_NUMBER: Range<usize> = 46..50;

/// Where the frames of a stream say their number; `None`: they say none.
pub fn number(spec: &StreamSpec) -> Option<Range<usize>> {
    let untagged = match spec.kind {
        StreamKind::RoceWrite | StreamKind::RoceSend => PSN,
        StreamKind::Udp => UDP_NUMBER,
        StreamKind::Cnp => return None,
    };
    let more = tag_size(spec.vlan) + longer(spec.over);
    let more = usize::try_from(more.0).unwrap_or(0);
    Some(untagged.start + more..untagged.end + more)
}

/// Frame `seq` of a stream as it is sent, `size` long where its kind allows it.
///
/// # Panics
/// On a stream of 16384 or more.
pub fn sent(spec: &StreamSpec, stream: u16, seq: u32, size: Bytes) -> Vec<u8> {
    data(spec, stream, seq, size, spec.ecn == Ecn::Ce)
}

/// Frame `seq` of a stream, `size` long where its kind allows it; `ce` is whether it is marked. Of a stream that is sent marked
/// one without a mark is ECN-capable.
///
/// # Panics
/// On a stream of 16384 or more.
pub fn data(spec: &StreamSpec, stream: u16, seq: u32, size: Bytes, ce: bool) -> Vec<u8> {
    let dscp = Dscp::new(spec.dscp).expect("a DSCP has six bits");
    let ecn = match (ce, spec.ecn) {
        (true, _) => Ecn::Ce,
        (false, Ecn::Ce) => Ecn::Ect0,
        (false, sent) => sent,
    };
    let (dst, dst_ip) = destination(spec);
    let src_ip = rig_address(spec.from, spec.address);
    let ipv4 = ipv4::Repr { ecn, ..ipv4::Repr::udp(src_ip, dst_ip, dscp) };
    let ipv6 = || ipv6::Repr { ecn, ..ipv6::Repr::udp(v6(src_ip), v6(dst_ip), dscp) };
    let ip = match spec.over {
        IpVersion::V4 => Ip::V4(ipv4),
        IpVersion::V6 => Ip::V6(ipv6()),
    };
    let src = rig_mac(spec.from);
    let size = size.max(least_size(spec.kind) + tag_size(spec.vlan) + longer(spec.over));
    let opcode = match spec.kind {
        StreamKind::RoceWrite => Opcode::RcWriteOnly,
        StreamKind::RoceSend => Opcode::RcSendOnly,
        StreamKind::Udp => {
            return tagged(
                plain(src, dst, &ip, (stream, seq), size - tag_size(spec.vlan)),
                spec.vlan,
            );
        }
        StreamKind::Cnp => {
            let of = spec.of.unwrap_or(stream);
            let path = Path { ip, udp_src: udp_port(of), ..Path::v4(src, dst, ipv4) };
            return nic::cnp(path, of);
        }
    };
    let qpn = Qpn::new(qpn(stream)).expect("streams are few");
    let bth = bth::Repr::new(opcode, qpn, Psn::new(spec.psn.wrapping_add(seq)));
    let plain = Path::v4(src, dst, ipv4);
    let path = Path { vlan: spec.vlan, ip, udp_src: udp_port(stream), ..plain };
    let reth = |dma_len| reth::Repr { virtual_address: 0x1000, rkey: qpn.get(), dma_len };
    let ext = |dma_len| match spec.kind {
        StreamKind::RoceWrite => Ext::Reth(reth(dma_len)),
        StreamKind::RoceSend | StreamKind::Udp | StreamKind::Cnp => Ext::Plain,
    };
    let frame = RoceFrame::new(path, bth, ext(0)).sized(size).expect("a size that IP can have");
    RoceFrame { ext: ext(frame.payload_len.into()), ..frame }.emit()
}

/// A frame of a plain UDP stream.
fn plain(src: MacAddr, dst: MacAddr, ip: &Ip, (stream, seq): (u16, u32), size: Bytes) -> Vec<u8> {
    let headers = Bytes((ethernet::LEN + ip.header_len() + udp::LEN) as u64) + FCS;
    let payload = usize::try_from((size - headers).0).expect("a frame fits in memory");
    let link = ethernet::Repr { dst, src, ethertype: ip.ethertype() };
    let udp =
        udp::Repr { src_port: udp_port(stream), dst_port: UDP_PORT, checksum: udp::Checksum::Zero };
    let mut frame = link.emit().to_vec();
    match ip {
        Ip::V4(ip) => frame.extend_from_slice(&ip.emit(udp::LEN + payload)),
        Ip::V6(ip) => frame.extend_from_slice(&ip.emit(udp::LEN + payload)),
    }
    frame.extend_from_slice(&udp.emit(payload));
    frame.extend_from_slice(&UDP_MAGIC);
    frame.extend_from_slice(&seq.to_be_bytes());
    filled(frame, size)
}

/// The frame behind a tag, which stands between its addresses and its type (IEEE 802.1Q 9.3).
pub(crate) fn tagged(mut frame: Vec<u8>, vlan: Option<vlan::Repr>) -> Vec<u8> {
    let Some(tag) = vlan else { return frame };
    let (kind, payload) = (ethernet::LEN - 2, ethernet::LEN);
    let inner = u16::from_be_bytes([frame[kind], frame[kind + 1]]);
    frame.splice(
        kind..payload,
        ethernet::ethertype::VLAN.to_be_bytes().into_iter().chain(tag.emit(inner)),
    );
    frame
}

/// A PFC frame with a time for every class, enabled or not.
pub fn pfc(src: MacAddr, enable: u8, quanta: [Quanta; 8]) -> Vec<u8> {
    let mut frame = mac_control::frame_pfc(src, &pfc::Repr::default());
    let control =
        frame[ethernet::LEN..].first_chunk_mut().expect("a MAC Control frame has 60 bytes");
    let mut raw = pfc::Raw(control);
    raw.set_enable(enable.into());
    for (class, quanta) in quanta.iter().enumerate() {
        raw.set_quanta(class, quanta.0);
    }
    frame
}

/// `frame` with zeros up to `size`, which counts the FCS.
pub fn filled(mut frame: Vec<u8>, size: Bytes) -> Vec<u8> {
    let len = usize::try_from((size.max(MIN_FRAME) - FCS).0).expect("a frame fits in memory");
    frame.resize(len.max(frame.len()), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamRate;
    use rig_units::Dur;

    /// VLAN 100 is 0x064, priority 5 is 0b101 above it.
    const TAG: [u8; 4] = [0x81, 0x00, 0xa0, 0x64];

    #[test]
    fn a_tag_stands_behind_the_addresses_and_the_size_counts_it() {
        let (pcp, vid) = (vlan::Pcp::new(5).unwrap(), vlan::Vid::new(100).unwrap());
        let vlan = Some(vlan::Repr { pcp, dei: false, vid });
        for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
            let plain = StreamSpec { kind, size: Bytes(200), ..StreamSpec::probe(0, 1) };
            let spec = StreamSpec { vlan, size: Bytes(204), ..plain.clone() };
            let bytes = sent(&spec, 0, 0x0102_0304, spec.size);
            let untagged = sent(&plain, 0, 0x0102_0304, plain.size);
            assert_eq!(bytes, [&untagged[..12], &TAG, &untagged[12..]].concat(), "{kind:?}");
            let number = &bytes[number(&spec).unwrap()];
            assert!([1, 2, 3, 4].ends_with(number), "{kind:?}: {number:?}");
            // The smallest frame grows by the tag.
            assert_eq!(sent(&spec, 0, 0, Bytes(0)).len(), sent(&plain, 0, 0, Bytes(0)).len() + 4);
        }
    }

    #[test]
    fn a_frame_over_ipv6_says_the_same_behind_a_longer_header() {
        for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
            let plain = StreamSpec { kind, dscp: 26, ..StreamSpec::probe(0, 1) };
            let spec = StreamSpec { over: IpVersion::V6, size: Bytes(274), ..plain.clone() };
            let (bytes, v4) =
                (sent(&spec, 3, 0x0102_0304, spec.size), sent(&plain, 3, 0x0102_0304, plain.size));
            assert_eq!(bytes.len(), v4.len() + 20, "{kind:?}");
            // The first byte of the traffic class: version 6, DSCP 26 and ECT(0) are 0x6 and 0x6a.
            assert_eq!(bytes[12..16], [0x86, 0xdd, 0x66, 0xa0], "{kind:?}");
            assert!([1, 2, 3, 4].ends_with(&bytes[number(&spec).unwrap()]), "{kind:?}");
            let (udp, udp_v4) = (&bytes[54..58], &v4[34..38]);
            assert_eq!(udp, udp_v4, "{kind:?}");
            if kind != StreamKind::Udp {
                assert_eq!(rig_frames::icrc::holds(&bytes), Ok(true), "{kind:?}");
            }
        }
        for address in [rig_address(0, 0), rig_address(300, 99), nic_address(1, 15)] {
            assert_eq!(v4(v6(address)), Some(address));
        }
        assert_eq!(v4("fe80::1".parse().unwrap()), None);
    }

    #[test]
    fn a_frame_says_of_congestion_what_its_stream_says_and_what_it_met() {
        for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let spec = StreamSpec {
                    name: "a".to_owned(),
                    kind,
                    ecn,
                    size: Bytes(200),
                    rate: StreamRate::Every(Dur::us(1)),
                    ..StreamSpec::probe(0, 1)
                };
                // The second byte of the IPv4 header: DSCP above ECN.
                let bits = |frame: Vec<u8>| Ecn::from_low_bits(frame[ethernet::LEN + 1]);
                assert_eq!(bits(sent(&spec, 0, 5, spec.size)), ecn);
                assert_eq!(bits(data(&spec, 0, 5, spec.size, true)), Ecn::Ce);
                let unmarked = if ecn == Ecn::Ce { Ecn::Ect0 } else { ecn };
                assert_eq!(bits(data(&spec, 0, 5, spec.size, false)), unmarked);
            }
        }
    }
}
