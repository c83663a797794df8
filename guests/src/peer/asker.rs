//! The rig as the requester of a reliable connection: it makes packets of its messages, keeps them until they are acknowledged, and sends them again when that takes too long or
//! a NAK asks for it (IBTA Vol 1, 9.7.5.1 and 9.7.6).
//!
//! Left out: a limit of retries, as whoever runs the programs ends them; a window, as the one message or two of a talk are none.

use super::QpPair;
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::{Nak, Syndrome};
use rig_frames::roce::{Ext, Opcode, atomic_eth, bth, reth};
use rig_frames::udp::Checksum;
use rig_units::{Dur, Time};
use std::collections::VecDeque;

/// How long an answer may take until the rig asks again: longer than a guest waits for a processor, so that it asks again for what was lost alone.
const TIMER: Dur = Dur::ms(500);

/// What a message of the rig's does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// It fills a buffer that the peer has posted.
    Send,
    /// It is written to the peer's memory: where its first byte goes, and by which key.
    Write(u64, u32),
    /// It reads from there.
    Read(u64, u32),
    /// It adds one to what stands there.
    FetchAdd(u64, u32),
}

/// What the rig has asked on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskedCounts {
    /// Messages, each once.
    pub messages: u64,
    /// Of those, the ones that were acknowledged or answered.
    pub answered: u64,
    /// Packets, those that were sent again counted.
    pub packets: u64,
    /// Packets that were sent again.
    pub again: u64,
    /// Packets that were sent again before the peer had acknowledged anything: it may not have been there for the copy before.
    pub unheard: u64,
    /// Why the peer will have no more of it.
    pub refused: Option<Nak>,
}

/// The requester of one connection.
#[derive(Debug)]
pub(super) struct Asker {
    ends: QpPair,
    next: Psn,
    /// What is not acknowledged, in order.
    kept: VecDeque<Kept>,
    /// When it is sent again.
    due: Option<Time>,
    counts: AskedCounts,
}

#[derive(Debug)]
struct Kept {
    frame: RoceFrame,
    /// The last number that it takes: a READ has one for each response.
    last: Psn,
    /// The number of its next response, of what is answered by more than an acknowledgement.
    response: Option<Psn>,
    /// Whether its message ends with it.
    ends: bool,
}

impl Asker {
    /// One that has asked nothing.
    pub(super) fn new(ends: QpPair) -> Asker {
        let (kept, counts) = (VecDeque::new(), AskedCounts::default());
        Asker { ends, next: ends.own_psn, kept, due: None, counts }
    }

    /// What it has asked so far.
    pub(super) const fn counts(&self) -> AskedCounts {
        self.counts
    }

    /// When it has something to say again.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// The packets of its next message, at `now`, by this way.
    pub(super) fn ask(&mut self, now: Time, path: Path, asks: Asks, bytes: u32) -> Vec<RoceFrame> {
        self.counts.messages += 1;
        // What is numbered once it is made has no checksum to be put right.
        let path = Path { checksum: Checksum::Zero, ..path };
        let mtu = u32::from(self.ends.mtu);
        let count = match asks {
            Asks::Send | Asks::Write(..) => bytes.div_ceil(mtu).max(1),
            Asks::Read(..) | Asks::FetchAdd(..) => 1,
        };
        let mut sent = Vec::new();
        for packet in 0..count {
            let (first, ends) = (packet == 0, packet + 1 == count);
            let opcode = opcode(asks, (first, ends));
            let numbers = match asks {
                Asks::Read(..) => bytes.div_ceil(mtu).max(1),
                _ => 1,
            };
            let psn = self.next;
            self.next = psn.advance(numbers);
            let bth = bth::Repr { ack_req: ends, ..bth::Repr::new(opcode, self.ends.peer, psn) };
            let payload = match asks {
                Asks::Send | Asks::Write(..) => (bytes - packet * mtu).min(mtu),
                Asks::Read(..) | Asks::FetchAdd(..) => 0,
            };
            let payload_len = u16::try_from(payload).unwrap_or(self.ends.mtu);
            let frame =
                RoceFrame { payload_len, ..RoceFrame::new(path, bth, ext(asks, first, bytes)) };
            let response = matches!(asks, Asks::Read(..) | Asks::FetchAdd(..)).then_some(psn);
            let last = psn.advance(numbers - 1);
            self.kept.push_back(Kept { frame, last, response, ends });
            sent.push(frame);
        }
        self.counts.packets += u64::from(count);
        self.due = Some(self.due.unwrap_or(now + TIMER));
        sent
    }

    /// What an answer of its peer brings, at `now`: how many messages are done by it, and what it sends again.
    pub(super) fn hear(&mut self, now: Time, answer: &RoceFrame) -> (u64, Vec<RoceFrame>) {
        let psn = answer.bth.psn;
        let before = self.counts.answered;
        let again = match answer.ext.aeth().map(|aeth| aeth.syndrome) {
            Some(Syndrome::Nak(Nak::PsnSequenceError)) => {
                self.acknowledged(Psn::new(psn.get().wrapping_sub(1)));
                self.all_again(now)
            }
            Some(Syndrome::RnrNak(timer)) => {
                self.due = Some(now + timer.wait().max(TIMER));
                Vec::new()
            }
            Some(Syndrome::Nak(why)) => {
                self.counts.refused = Some(why);
                self.kept.clear();
                Vec::new()
            }
            Some(Syndrome::Ack(_)) | None => {
                match self.kept.front_mut() {
                    Some(Kept { response: Some(next), last, .. }) if *next == psn => {
                        let whole = psn == *last;
                        *next = psn.advance(1);
                        if whole {
                            self.done();
                        }
                    }
                    _ => self.acknowledged(psn),
                }
                Vec::new()
            }
        };
        let done = self.counts.answered - before;
        if self.kept.is_empty() {
            self.due = None;
        } else if done > 0 {
            self.due = Some(now + TIMER);
        }
        (done, again)
    }

    /// What it sends again because its time has run out.
    pub(super) fn again(&mut self, now: Time) -> Vec<RoceFrame> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.all_again(now)
    }

    fn all_again(&mut self, now: Time) -> Vec<RoceFrame> {
        self.due = (!self.kept.is_empty()).then_some(now + TIMER);
        let count = self.kept.len() as u64;
        self.counts.again += count;
        self.counts.packets += count;
        if self.counts.answered == 0 {
            self.counts.unheard += count;
        }
        let each = self.kept.iter_mut().map(|kept| {
            kept.response = kept.response.map(|_| kept.frame.bth.psn);
            kept.frame
        });
        each.collect()
    }

    /// All up to this number came, but for what has to be answered by more than that.
    fn acknowledged(&mut self, psn: Psn) {
        while let Some(kept) = self.kept.front()
            && kept.response.is_none()
            && psn.ahead_of(kept.last).is_some()
        {
            self.done();
        }
    }

    fn done(&mut self) {
        let done = self.kept.pop_front();
        self.counts.answered += u64::from(done.is_some_and(|done| done.ends));
    }
}

/// What stands behind the base header of a packet.
fn ext(asks: Asks, first: bool, bytes: u32) -> Ext {
    let of = |virtual_address, rkey| reth::Repr { virtual_address, rkey, dma_len: bytes };
    match asks {
        Asks::Write(at, key) if first => Ext::Reth(of(at, key)),
        Asks::Send | Asks::Write(..) => Ext::Plain,
        Asks::Read(at, key) => Ext::Reth(of(at, key)),
        Asks::FetchAdd(virtual_address, rkey) => {
            Ext::Atomic(atomic_eth::Repr { virtual_address, rkey, swap_or_add: 1, compare: 0 })
        }
    }
}

const fn opcode(asks: Asks, (first, last): (bool, bool)) -> Opcode {
    match (asks, first, last) {
        (Asks::Send, true, true) => Opcode::RcSendOnly,
        (Asks::Send, true, false) => Opcode::RcSendFirst,
        (Asks::Send, false, false) => Opcode::RcSendMiddle,
        (Asks::Send, false, true) => Opcode::RcSendLast,
        (Asks::Write(..), true, true) => Opcode::RcWriteOnly,
        (Asks::Write(..), true, false) => Opcode::RcWriteFirst,
        (Asks::Write(..), false, false) => Opcode::RcWriteMiddle,
        (Asks::Write(..), false, true) => Opcode::RcWriteLast,
        (Asks::Read(..), ..) => Opcode::RcReadRequest,
        (Asks::FetchAdd(..), ..) => Opcode::RcFetchAdd,
    }
}
