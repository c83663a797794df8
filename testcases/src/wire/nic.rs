//! What frames of connections, and datagrams, look like on the wire.
//!
//! Both ends of a connection use one number of queue pair and one UDP source port, which follow from the connection's index; who
//! sends follows from the addresses.

use super::{Q_KEY, dut_mac, nic_address, qpn, rig_address, rig_mac, tag_size, tagged, v6};
use crate::Verb;
use crate::roce::{CnpFault, Roce, RoceKind};
use rig_frames::ip::{Dscp, Ip};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::ext::Layout;
use rig_frames::roce::{
    Ext, Opcode, Qpn, aeth, atomic_ack_eth, atomic_eth, bth, deth, ieth, imm_dt, reth,
};
use rig_frames::{ethernet, icrc, ipv4, ipv6, udp, vlan};
use rig_lab::IpVersion;
use rig_units::Bytes;

/// Offset over IPv4 of the BTH's byte with MigReq, of its partition key, of its byte with FECN and BECN, of the last byte of its PSN, and of a CNP's first reserved byte.
const NOTICE: usize = ethernet::LEN + ipv4::LEN + udp::LEN + 4;
const PKEY: usize = NOTICE - 2;
const FLAGS: usize = NOTICE - 3;
const MIG_REQ: u8 = 0x40;
const PSN: usize = NOTICE + 7;
const RESERVED: usize = PSN + 1;

/// A CNP for the sender of a connection.
///
/// # Panics
/// On a connection of 16384 or more.
pub(super) fn cnp(path: Path, connection: u16) -> Vec<u8> {
    RoceFrame::cnp(path, queue_pair(connection)).emit()
}

fn queue_pair(connection: u16) -> Qpn {
    Qpn::new(qpn(connection)).expect("connections are few")
}

/// The bytes of a frame that passes a rig port, towards the NIC behind it or from there; `verb` is what its message does.
///
/// # Panics
/// On a connection of 16384 or more.
pub fn frame(verb: Verb, port: u16, to_nic: bool, roce: &Roce) -> Vec<u8> {
    let rig = (rig_mac(port), rig_address(port, roce.address));
    let nic = (dut_mac(port), nic_address(port, roce.gid));
    let ((src, src_ip), (dst, dst_ip)) = if to_nic { (rig, nic) } else { (nic, rig) };
    let dscp = Dscp::new(roce.dscp).expect("a DSCP has six bits");
    let ipv4 = ipv4::Repr { ecn: roce.ecn, ..ipv4::Repr::udp(src_ip, dst_ip, dscp) };
    let ipv6 = || ipv6::Repr { ecn: roce.ecn, ..ipv6::Repr::udp(v6(src_ip), v6(dst_ip), dscp) };
    let plain = Path { udp_src: roce.udp_src, ..Path::v4(src, dst, ipv4) };
    let path = match roce.over {
        IpVersion::V4 => plain,
        IpVersion::V6 => Path { ip: Ip::V6(ipv6()), ..plain },
    };
    let qp = queue_pair(roce.connection);
    let psn = Psn::new(roce.psn);
    let aeth = |syndrome| aeth::Repr { syndrome, msn: aeth::Msn::default() };
    let sized = |frame: RoceFrame| {
        let frame = frame.sized(Bytes(roce.size.into())).unwrap_or(frame);
        let dma_len = u32::from(frame.payload_len);
        let ext = match frame.ext {
            Ext::Reth(header) => Ext::Reth(reth::Repr { dma_len, ..header }),
            Ext::RethImm(header, imm) => Ext::RethImm(reth::Repr { dma_len, ..header }, imm),
            other => other,
        };
        RoceFrame { ext, ..frame }
    };
    let mut bytes = match roce.kind {
        RoceKind::Cnp { fault } => {
            let mut frame = cnp(path, roce.connection);
            let further = behind_v4(&frame);
            match fault {
                None => {}
                Some(CnpFault::Becn) => frame[NOTICE + further] &= !0x40,
                Some(CnpFault::Fecn) => frame[NOTICE + further] |= 0x80,
                Some(CnpFault::Psn) => frame[PSN + further] = 1,
                Some(CnpFault::Reserved) => frame[RESERVED + further] = 1,
            }
            // What sends a wrong CNP covers it with an ICRC as any other.
            icrc::seal(&mut frame).expect("it is a frame with an ICRC");
            frame
        }
        RoceKind::Ack => {
            let ack = RoceFrame::ack(path, qp, psn, aeth(aeth::Syndrome::ACK));
            let atomic = |original: u32| {
                let found = atomic_ack_eth::Repr { original: original.into() };
                let bth = bth::Repr::new(Opcode::RcAtomicAcknowledge, qp, psn);
                RoceFrame::new(path, bth, Ext::AethAtomicAck(aeth(aeth::Syndrome::ACK), found))
            };
            roce.found.map_or(ack, atomic).emit()
        }
        RoceKind::Nak => {
            let syndrome = aeth::Syndrome::Nak(aeth::Nak::PsnSequenceError);
            RoceFrame::ack(path, qp, psn, aeth(syndrome)).emit()
        }
        RoceKind::NotReady(timer) => {
            RoceFrame::ack(path, qp, psn, aeth(aeth::Syndrome::RnrNak(timer))).emit()
        }
        RoceKind::Denied => {
            let syndrome = aeth::Syndrome::Nak(aeth::Nak::RemoteAccessError);
            RoceFrame::ack(path, qp, psn, aeth(syndrome)).emit()
        }
        RoceKind::ReadRequest => {
            let rkey = rkey(qp, roce.key);
            let reth = reth::Repr { virtual_address: 0x1000, rkey, dma_len: 0 };
            let bth = bth::Repr::new(Opcode::RcReadRequest, qp, psn);
            RoceFrame::new(path, bth, Ext::Reth(reth)).emit()
        }
        RoceKind::Data { response: false, .. } if verb.is_atomic() => {
            let code =
                if verb == Verb::FetchAdd { Opcode::RcFetchAdd } else { Opcode::RcCompareSwap };
            let (virtual_address, rkey) = (0x1000, qp.get());
            // What it compares with is not said of it.
            let eth = atomic_eth::Repr { virtual_address, rkey, swap_or_add: 1, compare: 0 };
            let bth = bth::Repr { ack_req: true, ..bth::Repr::new(code, qp, psn) };
            RoceFrame::new(path, bth, Ext::Atomic(eth)).emit()
        }
        RoceKind::Data { first, last, response } => {
            let opcode = opcode(verb, (first, last), response, roce.tail);
            let rkey = rkey(qp, roce.key);
            let remote = reth::Repr { virtual_address: 0x1000, rkey, dma_len: 0 };
            let imm = imm_dt::Repr { data: psn.get() };
            let ext = match opcode.layout() {
                Layout::Reth => Ext::Reth(remote),
                Layout::RethImm => Ext::RethImm(remote, imm),
                Layout::Imm => Ext::Imm(imm),
                Layout::Ieth => Ext::Ieth(ieth::Repr { rkey }),
                Layout::Aeth => Ext::Aeth(aeth(aeth::Syndrome::ACK)),
                Layout::Deth => {
                    let qkey = if roce.other_key { !Q_KEY } else { Q_KEY };
                    Ext::Deth(deth::Repr { qkey, src_qp: qp })
                }
                _ => Ext::Plain,
            };
            let ack_req = last && !response && !verb.is_unreliable();
            let bth = bth::Repr { ack_req, ..bth::Repr::new(opcode, qp, psn) };
            sized(RoceFrame::new(path, bth, ext)).emit()
        }
    };
    let further = behind_v4(&bytes);
    if !roce.mig_req {
        bytes[FLAGS + further] &= !MIG_REQ;
        icrc::seal(&mut bytes).expect("it is a frame with an ICRC");
    }
    if roce.corrupt {
        // What the ICRC covers, and nothing that anybody reads: the first byte of the partition key.
        bytes[PKEY + further] ^= 0x40;
    }
    bytes
}

/// The same behind a tag, which its size counts.
///
/// # Panics
/// On a connection of 16384 or more.
pub fn frame_behind(
    tag: Option<vlan::Repr>,
    verb: Verb,
    (port, to_nic): (u16, bool),
    roce: &Roce,
) -> Vec<u8> {
    let more = u16::try_from(tag_size(tag).0).unwrap_or(0);
    let plain = Roce { size: roce.size.saturating_sub(more), ..*roce };
    tagged(frame(verb, port, to_nic, &plain), tag)
}

/// The R_Key that a frame names: the number of its queue pair, or that and what its owner puts behind it.
const fn rkey(qp: Qpn, key: u8) -> u32 {
    match key {
        0 => qp.get(),
        key => qp.get() << 8 | key as u32,
    }
}

/// The last byte of an R_Key that is made so; 0 of any other.
pub fn key_of(qp: Qpn, rkey: u32) -> u8 {
    let byte = u8::try_from(rkey & 0xff).unwrap_or(0);
    if rkey >> 8 == qp.get() { byte } else { 0 }
}

/// The opcode of a packet with payload, at its place in its message; `tail`: something comes with it.
fn opcode(verb: Verb, (first, last): (bool, bool), response: bool, tail: bool) -> Opcode {
    let sends = verb.takes_buffer();
    if verb == Verb::Datagram {
        return Opcode::UdSendOnly;
    }
    if verb.is_unreliable() {
        return match (sends, first, last) {
            (true, true, true) => Opcode::UcSendOnly,
            (true, true, false) => Opcode::UcSendFirst,
            (true, false, true) => Opcode::UcSendLast,
            (true, false, false) => Opcode::UcSendMiddle,
            (false, true, true) => Opcode::UcWriteOnly,
            (false, true, false) => Opcode::UcWriteFirst,
            (false, false, true) => Opcode::UcWriteLast,
            (false, false, false) => Opcode::UcWriteMiddle,
        };
    }
    if tail && last && !response {
        return match (verb, first) {
            (Verb::SendInvalidate, true) => Opcode::RcSendOnlyInvalidate,
            (Verb::SendInvalidate, false) => Opcode::RcSendLastInvalidate,
            (_, true) if sends => Opcode::RcSendOnlyImm,
            (_, false) if sends => Opcode::RcSendLastImm,
            (_, true) => Opcode::RcWriteOnlyImm,
            (_, false) => Opcode::RcWriteLastImm,
        };
    }
    match (response, sends, first, last) {
        (true, _, true, true) => Opcode::RcReadResponseOnly,
        (true, _, true, false) => Opcode::RcReadResponseFirst,
        (true, _, false, true) => Opcode::RcReadResponseLast,
        (true, _, false, false) => Opcode::RcReadResponseMiddle,
        (false, true, true, true) => Opcode::RcSendOnly,
        (false, true, true, false) => Opcode::RcSendFirst,
        (false, true, false, true) => Opcode::RcSendLast,
        (false, true, false, false) => Opcode::RcSendMiddle,
        (false, false, true, true) => Opcode::RcWriteOnly,
        (false, false, true, false) => Opcode::RcWriteFirst,
        (false, false, false, true) => Opcode::RcWriteLast,
        (false, false, false, false) => Opcode::RcWriteMiddle,
    }
}

/// How much further back the BTH begins than over IPv4 without a tag: by the tag, and over IPv6 by what its header is longer.
fn behind_v4(frame: &[u8]) -> usize {
    let is = |at: usize, kind: u16| frame.get(at..at + 2) == Some(&kind.to_be_bytes()[..]);
    let (kind, tag) = (ethernet::LEN - 2, ethernet::ethertype::VLAN);
    let tag = if is(kind, tag) { vlan::LEN } else { 0 };
    let longer = ipv6::LEN - ipv4::LEN;
    tag + if is(kind + tag, ethernet::ethertype::IPV6) { longer } else { 0 }
}

/// The same bytes with BECN set, which the ICRC does not cover.
pub fn with_becn(mut frame: Vec<u8>) -> Vec<u8> {
    let at = NOTICE + behind_v4(&frame);
    if let Some(notice) = frame.get_mut(at) {
        *notice |= 0x40;
    }
    frame
}

/// What is wrong with the bytes of a CNP, FCS not among them.
pub fn fault(frame: &[u8]) -> Option<CnpFault> {
    let further = behind_v4(frame);
    let byte = |at: usize| frame.get(at + further).copied().unwrap_or(0);
    let zero = |from: usize, len: usize| (from..from + len).all(|at| byte(at) == 0);
    match byte(NOTICE) {
        notice if notice & 0x40 == 0 => Some(CnpFault::Becn),
        notice if notice & 0x80 != 0 => Some(CnpFault::Fecn),
        _ if !zero(PSN - 2, 3) => Some(CnpFault::Psn),
        _ if !zero(RESERVED, rig_frames::roce::cnp_reserved::LEN) => Some(CnpFault::Reserved),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_frames::MacAddr;

    #[test]
    fn a_fault_of_a_cnp_is_told_over_either_version_of_ip_and_none_of_a_right_one() {
        let dscp = Dscp::new(48).expect("six bits");
        let [own, nic] = ["192.168.7.1", "192.168.7.2"].map(|ip| ip.parse().expect("an address"));
        let ip = ipv4::Repr::udp(own, nic, dscp);
        let v4 = Path::v4(MacAddr([2; 6]), MacAddr([4; 6]), ip);
        let [own, nic] = ["fd00:7::1", "fd00:7::2"].map(|ip| ip.parse().expect("an address"));
        let v6 = Path { ip: Ip::V6(ipv6::Repr::udp(own, nic, dscp)), ..v4 };
        for (path, further) in [(v4, 0), (v6, 20)] {
            let right = cnp(path, 7);
            assert_eq!(fault(&right), None);
            let told = |at: usize, to: u8| {
                let mut bytes = right.clone();
                bytes[at + further] = to;
                (fault(&bytes), bytes)
            };
            let (wrong, bytes) = told(NOTICE, 0);
            assert_eq!((wrong, fault(&with_becn(bytes))), (Some(CnpFault::Becn), None));
            assert_eq!(told(NOTICE, 0xc0).0, Some(CnpFault::Fecn));
            assert_eq!(told(PSN, 1).0, Some(CnpFault::Psn));
            assert_eq!(told(RESERVED, 1).0, Some(CnpFault::Reserved));
        }
    }
}
