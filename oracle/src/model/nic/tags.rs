//! The 802.1Q tags of what a NIC answers with: those of what it answers, but for a CNP's priority.

use super::Config;
use crate::model::packet::{Packet, PacketKind};

/// An answer to `packet`, with the tag that belongs to it.
#[inline(always)]
pub(super) fn like(packet: &Packet, config: &Config, answer: Packet) -> Packet {
    match packet.pcp() {
        None => answer,
        Some(pcp) => with(pcp, config, answer),
    }
}

#[cold]
#[inline(never)]
fn with(pcp: u8, config: &Config, answer: Packet) -> Packet {
    let (rc, np) = (&config.faults.rc, &config.faults.np);
    let pcp = match answer.kind {
        PacketKind::Ack if rc.ack_untagged => return answer,
        PacketKind::Nak | PacketKind::NotReady if rc.nak_pcp_zero => 0,
        PacketKind::Cnp if np.cnp_pcp_of_data => pcp,
        PacketKind::Cnp => config.np.pcp.unwrap_or(pcp),
        _ => pcp,
    };
    answer.tagged(pcp)
}
