//! SENDs of the rig to a peer that waits for one behind each of its own before it goes on, as `ib_send_lat` does: as long as what was taken, in packets of the
//! path MTU.
//!
//! Left out: sending one again. What the peer asks for again, or has no buffer for, does not come, and its program waits until its time is over.

use super::responder::back;
use super::{QpPair, ResponderCounts};
use rig_frames::packet::RoceFrame;
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, bth};

/// The rig's half of the talk on one connection.
#[derive(Debug)]
pub(super) struct Converse {
    ends: QpPair,
    /// Number of its next packet.
    next: Psn,
    /// What was taken when it sent last.
    taken: ResponderCounts,
}

impl Converse {
    /// One that has sent nothing.
    pub(super) fn new(ends: QpPair) -> Converse {
        Converse { ends, next: ends.own_psn, taken: ResponderCounts::default() }
    }

    /// What it sends behind `frame`, with which so much `is_taken`: a message for each that has become whole, back the way that it came. Messages that were taken
    /// before are none.
    pub(super) fn behind(
        &mut self,
        frame: &RoceFrame,
        is_taken: ResponderCounts,
    ) -> Vec<RoceFrame> {
        if is_taken.messages == self.taken.messages {
            return Vec::new();
        }
        let bytes = is_taken.bytes - self.taken.bytes;
        self.taken = is_taken;
        let mtu = u64::from(self.ends.mtu);
        let count = bytes.div_ceil(mtu).max(1);
        let each = (0..count).map(|packet| {
            let last = packet + 1 == count;
            let opcode = match (packet == 0, last) {
                (true, true) => Opcode::RcSendOnly,
                (true, false) => Opcode::RcSendFirst,
                (false, false) => Opcode::RcSendMiddle,
                (false, true) => Opcode::RcSendLast,
            };
            let left = (bytes - packet * mtu).min(mtu);
            let psn = self.next;
            self.next = psn.advance(1);
            let bth = bth::Repr { ack_req: last, ..bth::Repr::new(opcode, self.ends.peer, psn) };
            let payload_len = u16::try_from(left).unwrap_or(self.ends.mtu);
            RoceFrame { payload_len, ..RoceFrame::new(back(frame), bth, Ext::Plain) }
        });
        each.collect()
    }
}
