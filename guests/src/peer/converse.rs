//! Messages of the rig to a peer that goes on when it has them, as perftest's programs of latency do: SENDs in turn, WRITEs in turn whose last byte is their number, and READs and
//! atomics one behind the other. And many at once, as its programs of bandwidth have them.

use super::asker::{AskedCounts, Asker, Asks};
use super::responder::back;
use super::{QpPair, ResponderCounts};
use rig_frames::icrc;
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::roce::{Opcode, bth};
use rig_units::Time;

/// What the rig sends of its own on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converses {
    /// What each message does.
    pub asks: Asks,
    /// Whether the rig has the first one, as soon as its peer is ready.
    pub begins: bool,
    /// Bytes of each; `None`: as many as were taken.
    pub size: Option<u32>,
    /// How many there are; `None`: one for each that is taken.
    pub count: Option<u64>,
    /// How many wait for their answers at a time; `None`: the two ends ask in turn, and one follows each that is taken.
    pub at_once: Option<u64>,
}

/// The rig's half of the talk on one connection.
#[derive(Debug)]
pub(super) struct Converse {
    ends: QpPair,
    converses: Converses,
    asker: Asker,
    /// What was taken when it sent last.
    taken: ResponderCounts,
}

impl Converse {
    /// One that has sent nothing.
    pub(super) fn new(ends: QpPair, converses: Converses) -> Converse {
        let (asker, taken) = (Asker::new(ends), ResponderCounts::default());
        Converse { ends, converses, asker, taken }
    }

    /// What it sends before anything has come, once its peer is ready: by this way, and once.
    pub(super) fn begins(&mut self, now: Time, path: Path) -> Vec<RoceFrame> {
        if self.converses.begins && self.asker.counts().messages == 0 {
            return self.next(now, path, 0);
        }
        Vec::new()
    }

    /// What it sends behind `frame`, with which so much `is_taken`: a message for each that has become whole, back the way that it came. Messages that were taken
    /// before are none.
    pub(super) fn behind(
        &mut self,
        now: Time,
        frame: &RoceFrame,
        is_taken: ResponderCounts,
    ) -> Vec<RoceFrame> {
        if is_taken.messages == self.taken.messages || self.converses.at_once.is_some() {
            return Vec::new();
        }
        let bytes = is_taken.bytes - self.taken.bytes;
        self.taken = is_taken;
        self.next(now, back(frame), u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// What it sends behind an answer of its peer.
    pub(super) fn hears(&mut self, now: Time, answer: &RoceFrame) -> Vec<RoceFrame> {
        let mut sent = self.asker.hear(now, answer);
        if self.converses.at_once.is_some() && self.asked().messages > 0 {
            sent.extend(self.next(now, back(answer), 0));
        }
        sent
    }

    /// What it sends again, as its time has run out.
    pub(super) fn again(&mut self, now: Time) -> Vec<RoceFrame> {
        self.asker.again(now)
    }

    /// When that is.
    pub(super) const fn due(&self) -> Option<Time> {
        self.asker.due()
    }

    /// What it has asked.
    pub(super) const fn asked(&self) -> AskedCounts {
        self.asker.counts()
    }

    /// Whether all was said that there is to say, or the peer will have no more.
    pub(super) fn is_over(&self) -> bool {
        let AskedCounts { messages, answered, refused, .. } = self.asked();
        let all = self.converses.count;
        let taken = self.converses.at_once.is_some() || all == Some(self.taken.messages);
        refused.is_some() || all == Some(messages) && answered == messages && taken
    }

    /// Its next message; of those that wait at once, as many as there is room for.
    fn next(&mut self, now: Time, path: Path, taken: u32) -> Vec<RoceFrame> {
        let Converses { asks, size, count, at_once, .. } = self.converses;
        let mut sent = Vec::new();
        loop {
            let AskedCounts { messages, answered, refused, .. } = self.asked();
            if refused.is_some() || count.is_some_and(|count| messages >= count) {
                return sent;
            }
            if at_once.is_some_and(|most| messages - answered >= most || !self.asker.has_room()) {
                return sent;
            }
            sent.extend(self.asker.ask(now, path, asks, size.unwrap_or(taken)));
            if at_once.is_none() {
                return sent;
            }
        }
    }

    /// Writes the number of its message over the last byte of a WRITE of its own that the peer looks for, of which `bytes` are a pattern.
    pub(super) fn number(&self, frame: &RoceFrame, bytes: &mut [u8]) {
        let Converses { asks: Asks::Write(..), size: Some(size), at_once: None, .. } =
            self.converses
        else {
            return;
        };
        let ends = matches!(frame.bth.opcode, Opcode::RcWriteLast | Opcode::RcWriteOnly);
        let packet = frame.bth.psn.ahead_of(self.ends.own_psn).filter(|_| ends);
        let Some(packet) = packet.filter(|_| frame.bth.dest_qp == self.ends.peer) else { return };
        let each = size.div_ceil(self.ends.mtu.into()).max(1);
        let number = (packet / each + 1).to_le_bytes()[0];
        let behind = icrc::LEN + bth::pad(frame.payload_len) + usize::from(frame.trailer);
        let at = bytes.len().checked_sub(behind + 1);
        if let Some(last) = at.and_then(|at| bytes.get_mut(at)) {
            *last = number;
        }
        // One that has no ICRC to be put right is none of RoCE.
        let _sealed = icrc::seal(bytes);
    }
}
