//! Frames between a port of the rig and the NIC behind it, but for the data of the rig's own streams.

use super::on_wire;
use core::net::Ipv4Addr;
use rig_frames::Malformed;
use rig_frames::ip::Ip;
use rig_frames::packet::{self, Packet, RoceFrame};
use rig_frames::roce::Ext;
use rig_frames::roce::aeth::{Nak, Syndrome};
use rig_frames::roce::opcode::{Opcode, Payload};
use rig_testcases::wire::{self, address_number, gid_number};
use rig_testcases::{CnpFault, IpVersion, Roce, RoceKind};

/// What a frame says to the NIC behind rig port `port`; `None` where it says nothing to it.
pub fn to_nic(port: u16, bytes: &[u8]) -> Option<Roce> {
    let Ok(Packet::Roce { frame, icrc_ok }) = read(bytes) else { return None };
    let (_, dst) = ends(&frame)?;
    let size = u16::try_from(on_wire(bytes.len()).0).ok()?;
    let heard = roce(port, &frame, size, bytes).filter(|_| gid_number(port, dst).is_some());
    heard.map(|roce| Roce { corrupt: !icrc_ok, ..roce })
}

/// A frame, and one that is a CNP but for its BECN as if it were one: what is wrong with it is told later.
pub(super) fn read(bytes: &[u8]) -> Result<Packet, Malformed> {
    packet::parse(bytes).or_else(|bad| match bad.field {
        "cnp.becn" => packet::parse(&wire::nic::with_becn(bytes.to_vec())),
        _ => Err(bad),
    })
}

/// What a frame was that passed rig port `port`; `None` where it is not between the rig and the NIC there, or nothing that a
/// NIC sends. `bytes` are those of the frame.
pub(super) fn roce(port: u16, frame: &RoceFrame, size: u16, bytes: &[u8]) -> Option<Roce> {
    let (src, dst) = ends(frame)?;
    let (gid, address) = match (gid_number(port, src), gid_number(port, dst)) {
        (Some(gid), None) => (gid, address_number(port, dst)?),
        (None, Some(gid)) => (gid, address_number(port, src)?),
        _ => return None,
    };
    let connection = frame.bth.dest_qp.get().checked_sub(wire::FIRST_QPN)?;
    let connection = u16::try_from(connection).ok()?;
    let fault = (frame.bth.opcode == Opcode::Cnp).then(|| wire::nic::fault(bytes)).flatten();
    let kind = roce_kind(frame, fault)?;
    let (psn, rest) = (frame.bth.psn.get(), roce_of(frame, kind, size));
    Some(Roce { connection, psn, address, gid, ..rest })
}

/// Who it is from and for, by the IPv4 address that each of them has, too; `None` where one has none.
fn ends(frame: &RoceFrame) -> Option<(Ipv4Addr, Ipv4Addr)> {
    match frame.path.ip {
        Ip::V4(ip) => Some((ip.src, ip.dst)),
        Ip::V6(ip) => Some((wire::v4(ip.src)?, wire::v4(ip.dst)?)),
    }
}

/// What a frame says beside its connection and its number.
pub fn roce_of(frame: &RoceFrame, kind: RoceKind, size: u16) -> Roce {
    let (bth, ip) = (&frame.bth, &frame.path.ip);
    let found = match &frame.ext {
        // The lower half.
        Ext::AethAtomicAck(_, found) => u32::try_from(found.original & 0xffff_ffff).ok(),
        _ => None,
    };
    Roce {
        over: match ip {
            Ip::V4(_) => IpVersion::V4,
            Ip::V6(_) => IpVersion::V6,
        },
        ecn: ip.ecn(),
        dscp: ip.dscp().get(),
        udp_src: frame.path.udp_src,
        mig_req: bth.mig_req || matches!(kind, RoceKind::Cnp { .. }),
        tail: matches!(frame.ext, Ext::Imm(_) | Ext::RethImm(..) | Ext::Ieth(_)),
        key: match &frame.ext {
            Ext::Reth(reth) | Ext::RethImm(reth, _) => wire::nic::key_of(bth.dest_qp, reth.rkey),
            Ext::Ieth(ieth) => wire::nic::key_of(bth.dest_qp, ieth.rkey),
            _ => 0,
        },
        other_key: matches!(&frame.ext, Ext::Deth(deth) if deth.qkey != wire::Q_KEY),
        found,
        ..Roce::of(0, kind, 0, size)
    }
}

/// What a frame of a reliable connection is; `None` of what the rig makes nothing of. `fault`: what is wrong with it, of a CNP.
pub fn roce_kind(frame: &RoceFrame, fault: Option<CnpFault>) -> Option<RoceKind> {
    let opcode = frame.bth.opcode;
    Some(match opcode {
        Opcode::Cnp => RoceKind::Cnp { fault },
        Opcode::RcAcknowledge => match frame.ext.aeth()?.syndrome {
            Syndrome::Ack(_) => RoceKind::Ack,
            Syndrome::Nak(Nak::PsnSequenceError) => RoceKind::Nak,
            Syndrome::Nak(Nak::RemoteAccessError) => RoceKind::Denied,
            Syndrome::RnrNak(timer) => RoceKind::NotReady(timer),
            Syndrome::Nak(_) => return None,
        },
        Opcode::RcReadRequest => RoceKind::ReadRequest,
        Opcode::RcAtomicAcknowledge => RoceKind::Ack,
        Opcode::RcFetchAdd | Opcode::RcCompareSwap => {
            RoceKind::Data { first: true, last: true, response: false }
        }
        _ if opcode.payload() == Payload::None => return None,
        _ => {
            let name = opcode.name();
            let only = name.contains("only");
            let (first, last) = (name.contains("first"), name.contains("last"));
            let response = name.contains("response");
            RoceKind::Data { first: first || only, last: last || only, response }
        }
    })
}
