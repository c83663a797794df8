//! What frames between two NICs ask for beside what is told of every frame: how many bytes a READ wants, and what an atomic operation compares with.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::packet::{self, RoceFrame};
use rig_frames::roce::{Ext, Opcode, bth};
use rig_frames::{icrc, ipv4, ipv6, udp, vlan};
use rig_oracle::model::{Packet, PacketKind};

/// Behind the BTH: where a READ request says its length, and an atomic operation what it compares with.
const LENGTH: usize = 12;
const COMPARE: usize = 20;

/// The frame of the engine with what its bytes ask for.
pub(super) fn taken(packet: Packet, bytes: &[u8]) -> Packet {
    let Ok(packet::Packet::Roce { frame: RoceFrame { bth, ext, .. }, .. }) = packet::parse(bytes)
    else {
        return packet;
    };
    match (bth.opcode, ext) {
        (Opcode::RcReadRequest, Ext::Reth(reth)) => packet.wanting(reth.dma_len),
        (Opcode::RcFetchAdd, _) => packet.with_atomic(None),
        (Opcode::RcCompareSwap, Ext::Atomic(eth)) => {
            // What is compared has 24 bits in the engine.
            packet.with_atomic(Some(u32::try_from(eth.compare & 0xff_ffff).unwrap_or(0)))
        }
        _ => packet,
    }
}

/// The bytes with what the frame of the engine asks for.
pub(super) fn given(packet: &Packet, mut bytes: Vec<u8>) -> Vec<u8> {
    let wanted;
    let compare;
    let (at, operand): (usize, &[u8]) = match (packet.kind, packet.atomic()) {
        (PacketKind::ReadRequest, _) => {
            wanted = packet.wanted().to_be_bytes();
            (LENGTH, &wanted)
        }
        (_, Some(Some(with))) => {
            compare = u64::from(with).to_be_bytes();
            (COMPARE, &compare)
        }
        _ => return bytes,
    };
    let from = behind_bth(&bytes) + at;
    let fits = icrc::holds(&bytes) == Ok(true);
    if let Some(place) = bytes.get_mut(from..from + operand.len()) {
        place.copy_from_slice(operand);
    }
    if fits {
        icrc::seal(&mut bytes).expect("it has an ICRC");
    }
    bytes
}

/// Where in a frame of RoCEv2 the BTH has ended.
fn behind_bth(bytes: &[u8]) -> usize {
    let is = |at: usize, kind: u16| bytes.get(at..at + 2) == Some(&kind.to_be_bytes()[..]);
    let kind = ethernet::LEN - 2;
    let tag = if is(kind, ethertype::VLAN) { vlan::LEN } else { 0 };
    let ip = if is(kind + tag, ethertype::IPV6) { ipv6::LEN } else { ipv4::LEN };
    ethernet::LEN + tag + ip + udp::LEN + bth::LEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roce;
    use rig_lab::IpVersion;
    use rig_testcases::{Roce, RoceKind, Verb, wire};

    #[test]
    fn what_is_asked_for_passes_through_the_bytes_and_the_icrc_fits() {
        let data = RoceKind::Data { first: true, last: true, response: false };
        let asks = |verb: Verb, packet: Packet| match verb {
            Verb::Read => packet.wanting(0x12_3456),
            Verb::FetchAdd => packet.with_atomic(None),
            _ => packet.with_atomic(Some(0x65_4321)),
        };
        let kinds = [
            (Verb::Read, RoceKind::ReadRequest),
            (Verb::FetchAdd, data),
            (Verb::CompareSwap, data),
        ];
        for (verb, kind) in kinds {
            for (over, corrupt) in
                [(IpVersion::V4, false), (IpVersion::V6, false), (IpVersion::V4, true)]
            {
                let said = Roce { over, corrupt, ..Roce::of(3, kind, 9, 78) };
                let plain = roce::packet(&said, 3, (0, 1), 3);
                let bytes = wire::nic::frame(verb, 0, false, &said);
                let bytes = given(&asks(verb, plain), bytes);
                assert_eq!(taken(plain, &bytes), asks(verb, plain), "{verb:?} over {over:?}");
                assert_eq!(icrc::holds(&bytes), Ok(!corrupt), "{verb:?} over {over:?}");
            }
        }
    }
}
