//! What frames of reliable connections look like on the wire.
//!
//! Both ends of a connection use one number of queue pair and one UDP source port, which follow from the connection's index; who
//! sends follows from the addresses.

use super::{dut_mac, nic_ip, qpn, rig_address, rig_mac, udp_port};
use crate::Verb;
use crate::roce::{CnpFault, Roce, RoceKind};
use rig_frames::ip::Dscp;
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, Qpn, aeth, bth, reth};
use rig_frames::{ethernet, icrc, ipv4, udp};
use rig_units::Bytes;

/// Offset of the BTH's partition key, of its byte with FECN and BECN, of the last byte of its PSN, and of a CNP's first reserved byte.
const NOTICE: usize = ethernet::LEN + ipv4::LEN + udp::LEN + 4;
const PKEY: usize = NOTICE - 2;
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
    let nic = (dut_mac(port), nic_ip(port));
    let ((src, src_ip), (dst, dst_ip)) = if to_nic { (rig, nic) } else { (nic, rig) };
    let dscp = Dscp::new(roce.dscp).expect("a DSCP has six bits");
    let ip = ipv4::Repr { ecn: roce.ecn, ..ipv4::Repr::udp(src_ip, dst_ip, dscp) };
    let path = Path { udp_src: udp_port(roce.connection), ..Path::v4(src, dst, ip) };
    let qp = queue_pair(roce.connection);
    let psn = Psn::new(roce.psn);
    let aeth = |syndrome| aeth::Repr { syndrome, msn: aeth::Msn::default() };
    let sized = |frame: RoceFrame| {
        let frame = frame.sized(Bytes(roce.size.into())).unwrap_or(frame);
        match frame.ext {
            Ext::Reth(header) if frame.payload_len > 0 => {
                let dma_len = u32::from(frame.payload_len);
                RoceFrame { ext: Ext::Reth(reth::Repr { dma_len, ..header }), ..frame }
            }
            _ => frame,
        }
    };
    let mut bytes = match roce.kind {
        RoceKind::Cnp { fault } => {
            let mut frame = cnp(path, roce.connection);
            match fault {
                None => {}
                Some(CnpFault::Becn) => frame[NOTICE] &= !0x40,
                Some(CnpFault::Fecn) => frame[NOTICE] |= 0x80,
                Some(CnpFault::Psn) => frame[PSN] = 1,
                Some(CnpFault::Reserved) => frame[RESERVED] = 1,
            }
            // What sends a wrong CNP covers it with an ICRC as any other.
            icrc::seal(&mut frame).expect("it is a frame with an ICRC");
            frame
        }
        RoceKind::Ack => RoceFrame::ack(path, qp, psn, aeth(aeth::Syndrome::ACK)).emit(),
        RoceKind::Nak => {
            let syndrome = aeth::Syndrome::Nak(aeth::Nak::PsnSequenceError);
            RoceFrame::ack(path, qp, psn, aeth(syndrome)).emit()
        }
        RoceKind::NotReady(timer) => {
            RoceFrame::ack(path, qp, psn, aeth(aeth::Syndrome::RnrNak(timer))).emit()
        }
        RoceKind::ReadRequest => {
            let reth = reth::Repr { virtual_address: 0x1000, rkey: qp.get(), dma_len: 0 };
            let bth = bth::Repr::new(Opcode::RcReadRequest, qp, psn);
            RoceFrame::new(path, bth, Ext::Reth(reth)).emit()
        }
        RoceKind::Data { first, last, response } => {
            let opcode = opcode(verb, first, last, response);
            let ext = if opcode.layout() == Ext::Plain.layout() {
                Ext::Plain
            } else if response {
                Ext::Aeth(aeth(aeth::Syndrome::ACK))
            } else {
                Ext::Reth(reth::Repr { virtual_address: 0x1000, rkey: qp.get(), dma_len: 0 })
            };
            let bth = bth::Repr { ack_req: last && !response, ..bth::Repr::new(opcode, qp, psn) };
            sized(RoceFrame::new(path, bth, ext)).emit()
        }
    };
    if roce.corrupt {
        // What the ICRC covers, and nothing that anybody reads: the first byte of the partition key.
        bytes[PKEY] ^= 0x40;
    }
    bytes
}

/// The opcode of a packet with payload.
fn opcode(verb: Verb, first: bool, last: bool, response: bool) -> Opcode {
    match (response, verb, first, last) {
        (true, _, true, true) => Opcode::RcReadResponseOnly,
        (true, _, true, false) => Opcode::RcReadResponseFirst,
        (true, _, false, true) => Opcode::RcReadResponseLast,
        (true, _, false, false) => Opcode::RcReadResponseMiddle,
        (false, Verb::Send, true, true) => Opcode::RcSendOnly,
        (false, Verb::Send, true, false) => Opcode::RcSendFirst,
        (false, Verb::Send, false, true) => Opcode::RcSendLast,
        (false, Verb::Send, false, false) => Opcode::RcSendMiddle,
        (false, _, true, true) => Opcode::RcWriteOnly,
        (false, _, true, false) => Opcode::RcWriteFirst,
        (false, _, false, true) => Opcode::RcWriteLast,
        (false, _, false, false) => Opcode::RcWriteMiddle,
    }
}

/// The same bytes with BECN set, which the ICRC does not cover.
pub fn with_becn(mut frame: Vec<u8>) -> Vec<u8> {
    if let Some(notice) = frame.get_mut(NOTICE) {
        *notice |= 0x40;
    }
    frame
}

/// What is wrong with the bytes of a CNP, FCS not among them.
pub fn fault(frame: &[u8]) -> Option<CnpFault> {
    let byte = |at: usize| frame.get(at).copied().unwrap_or(0);
    let zero = |from: usize, len: usize| (from..from + len).all(|at| byte(at) == 0);
    match byte(NOTICE) {
        notice if notice & 0x40 == 0 => Some(CnpFault::Becn),
        notice if notice & 0x80 != 0 => Some(CnpFault::Fecn),
        _ if !zero(PSN - 2, 3) => Some(CnpFault::Psn),
        _ if !zero(RESERVED, rig_frames::roce::cnp_reserved::LEN) => Some(CnpFault::Reserved),
        _ => None,
    }
}
