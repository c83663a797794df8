//! Messages of the rig to a peer that waits for one behind each of its own before it goes on, as `ib_send_lat` and `ib_write_lat` do: as long as what was taken, in packets
//! of the path MTU.
//!
//! Left out: sending one again. What the peer asks for again, or has no buffer for, does not come, and its program waits until its time is over.

use super::responder::back;
use super::{QpPair, ResponderCounts};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, bth, reth};
use rig_frames::{icrc, udp};

/// What the peer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TalkBack {
    /// A SEND.
    Sends,
    /// A WRITE to this memory of its own. Nobody tells the program of one: it looks at the last byte until that is the count of messages.
    Writes {
        /// Where its memory begins.
        memory: u64,
        /// The key to it.
        rkey: u32,
    },
}

/// A frame of the rig on its way to the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaving {
    pub(super) frame: RoceFrame,
    /// What the last byte of its payload is in place of the pattern's.
    pub(super) last: Option<u8>,
}

impl From<RoceFrame> for Leaving {
    fn from(frame: RoceFrame) -> Leaving {
        Leaving { frame, last: None }
    }
}

impl Leaving {
    /// Writes the frame into `out` in place of what was there, without FCS.
    pub(super) fn emit_into(&self, out: &mut Vec<u8>) {
        self.frame.emit_into(out);
        let Some(last) = self.last else { return };
        // A frame with payload is long enough by itself: nothing but pad and ICRC is behind that.
        let behind = icrc::LEN + bth::pad(self.frame.payload_len);
        let at = out.len() - behind - 1;
        out[at] = last;
        icrc::seal(out).expect("a RoCE frame was just written");
    }
}

/// The rig's half of the talk on one connection.
#[derive(Debug)]
pub(super) struct Converse {
    ends: QpPair,
    by: TalkBack,
    /// Number of its next packet.
    next: Psn,
    /// What was taken when it sent last.
    taken: ResponderCounts,
}

impl Converse {
    /// One that has sent nothing.
    pub(super) fn new(ends: QpPair, by: TalkBack) -> Converse {
        Converse { ends, by, next: ends.own_psn, taken: ResponderCounts::default() }
    }

    /// What it sends behind `frame`, with which so much `is_taken`: a message for each that has become whole, back the way that it came. Messages that were taken
    /// before are none.
    pub(super) fn behind(&mut self, frame: &RoceFrame, is_taken: ResponderCounts) -> Vec<Leaving> {
        if is_taken.messages == self.taken.messages {
            return Vec::new();
        }
        let bytes = is_taken.bytes - self.taken.bytes;
        self.taken = is_taken;
        let mtu = u64::from(self.ends.mtu);
        let count = bytes.div_ceil(mtu).max(1);
        // With a checksum of UDP the count could not be put in behind it; the ICRC covers both.
        let path = Path { checksum: udp::Checksum::Zero, ..back(frame) };
        let each = (0..count).map(|packet| {
            let (first, last) = (packet == 0, packet + 1 == count);
            let left = (bytes - packet * mtu).min(mtu);
            let psn = self.next;
            self.next = psn.advance(1);
            let ext = match self.by {
                TalkBack::Writes { memory, rkey } if first => Ext::Reth(reth::Repr {
                    virtual_address: memory,
                    rkey,
                    dma_len: u32::try_from(bytes).unwrap_or(u32::MAX),
                }),
                TalkBack::Sends | TalkBack::Writes { .. } => Ext::Plain,
            };
            let opcode = self.by.opcode(first, last);
            let bth = bth::Repr { ack_req: last, ..bth::Repr::new(opcode, self.ends.peer, psn) };
            let payload_len = u16::try_from(left).unwrap_or(self.ends.mtu);
            let counts = last && payload_len > 0 && self.by != TalkBack::Sends;
            Leaving {
                frame: RoceFrame { payload_len, ..RoceFrame::new(path, bth, ext) },
                last: counts.then(|| is_taken.messages.to_le_bytes()[0]),
            }
        });
        each.collect()
    }
}

impl TalkBack {
    /// Of a packet that is the first of its message, the last, both or neither.
    const fn opcode(self, first: bool, last: bool) -> Opcode {
        match (self, first, last) {
            (TalkBack::Sends, true, true) => Opcode::RcSendOnly,
            (TalkBack::Sends, true, false) => Opcode::RcSendFirst,
            (TalkBack::Sends, false, false) => Opcode::RcSendMiddle,
            (TalkBack::Sends, false, true) => Opcode::RcSendLast,
            (TalkBack::Writes { .. }, true, true) => Opcode::RcWriteOnly,
            (TalkBack::Writes { .. }, true, false) => Opcode::RcWriteFirst,
            (TalkBack::Writes { .. }, false, false) => Opcode::RcWriteMiddle,
            (TalkBack::Writes { .. }, false, true) => Opcode::RcWriteLast,
        }
    }
}
