//! What a switch may do to the 802.1Q tags of frames, all of it wrong: one that is set to nothing passes them on as they came.

use crate::model::packet::Packet;
use rig_lab::SchedulerFaults;

/// How the tags of frames that leave differ from those that came.
#[derive(Debug, Clone, Copy)]
pub(super) enum Retags {
    /// They have this priority.
    Rewrites(u8),
    /// There is none.
    Strips,
}

impl Retags {
    /// Nothing, of a switch that does right. What is taken off has no priority.
    pub(super) fn of(faults: &SchedulerFaults) -> Option<Retags> {
        if faults.tag_stripped {
            return Some(Retags::Strips);
        }
        let pcp = faults.pcp_rewritten?;
        Some(Retags::Rewrites(u8::try_from(pcp).unwrap_or(u8::MAX)))
    }

    /// A frame as it leaves a queue. One that came without a tag has none.
    pub(super) fn applied(self, packet: Packet) -> Packet {
        match (self, packet.pcp()) {
            (Retags::Rewrites(pcp), Some(_)) => packet.with_pcp(Some(pcp)),
            (Retags::Strips, Some(_)) => packet.untagged(),
            (Retags::Rewrites(_) | Retags::Strips, None) => packet,
        }
    }
}
