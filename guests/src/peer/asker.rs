//! The rig as the requester of a reliable connection: it makes packets of its messages, keeps them until they are acknowledged, and sends them again when that takes too long or
//! a NAK asks for it (IBTA Vol 1, 9.7.5.1 and 9.7.6).
//!
//! Left out: a limit of retries, as whoever runs the programs ends them; an answer of a READ that is ahead of the next one as a NAK that nobody sent: its time runs out.

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
/// Packet numbers that are under way at most, those of answers to a READ counted; a READ alone may have more. As many connections as there can be have room in the queue of a tap,
/// which are 1000 frames.
const WINDOW: u32 = 32;
/// Packets of which the last asks for an acknowledgement, also in the middle of a message: the window moves on by them.
const ASKS: u32 = WINDOW / 2;

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
    /// Bytes that READs have brought.
    pub read: u64,
    /// Words that fetch-and-adds have brought which were not one more than the word before.
    pub odd: u64,
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
    /// How many of those have left.
    left: usize,
    /// Whether the peer has said that it is not ready: nothing more leaves until its time is over.
    halted: bool,
    /// The last word that a fetch-and-add has brought.
    word: Option<u64>,
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
    /// Bytes of its responses so far.
    brought: u32,
    /// Whether its message ends with it.
    ends: bool,
}

impl Asker {
    /// One that has asked nothing.
    pub(super) fn new(ends: QpPair) -> Asker {
        let (kept, counts) = (VecDeque::new(), AskedCounts::default());
        Asker {
            ends,
            next: ends.own_psn,
            kept,
            left: 0,
            halted: false,
            word: None,
            due: None,
            counts,
        }
    }

    /// What it has asked so far.
    pub(super) const fn counts(&self) -> AskedCounts {
        self.counts
    }

    /// When it has something to say again.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// Whether all of its messages so far have left, and a packet more may.
    pub(super) fn has_room(&self) -> bool {
        !self.halted && self.left == self.kept.len() && self.under_way() < WINDOW
    }

    /// Its next message, by this way: what may leave of it at `now`.
    pub(super) fn ask(&mut self, now: Time, path: Path, asks: Asks, bytes: u32) -> Vec<RoceFrame> {
        self.counts.messages += 1;
        // What is numbered once it is made has no checksum to be put right.
        let path = Path { checksum: Checksum::Zero, ..path };
        let mtu = u32::from(self.ends.mtu);
        let count = match asks {
            Asks::Send | Asks::Write(..) => bytes.div_ceil(mtu).max(1),
            Asks::Read(..) | Asks::FetchAdd(..) => 1,
        };
        for packet in 0..count {
            let (first, ends) = (packet == 0, packet + 1 == count);
            let opcode = opcode(asks, (first, ends));
            let numbers = match asks {
                Asks::Read(..) => bytes.div_ceil(mtu).max(1),
                _ => 1,
            };
            let psn = self.next;
            self.next = psn.advance(numbers);
            let ack_req = ends || (packet + 1).is_multiple_of(ASKS);
            let bth = bth::Repr { ack_req, ..bth::Repr::new(opcode, self.ends.peer, psn) };
            let payload = match asks {
                Asks::Send | Asks::Write(..) => (bytes - packet * mtu).min(mtu),
                Asks::Read(..) | Asks::FetchAdd(..) => 0,
            };
            let payload_len = u16::try_from(payload).unwrap_or(self.ends.mtu);
            let frame =
                RoceFrame { payload_len, ..RoceFrame::new(path, bth, ext(asks, first, bytes)) };
            let response = matches!(asks, Asks::Read(..) | Asks::FetchAdd(..)).then_some(psn);
            let last = psn.advance(numbers - 1);
            self.kept.push_back(Kept { frame, last, response, brought: 0, ends });
        }
        self.leave(now)
    }

    /// What leaves at `now`, as there is room for it.
    fn leave(&mut self, now: Time) -> Vec<RoceFrame> {
        let mut sent = Vec::new();
        while let Some(next) = self.kept.get(self.left).filter(|_| !self.halted) {
            let first = self.kept.front().map_or(next.frame.bth.psn, |first| first.frame.bth.psn);
            let numbers = next.last.ahead_of(first).unwrap_or_default() + 1;
            if self.left > 0 && numbers > WINDOW {
                break;
            }
            sent.push(next.frame);
            self.left += 1;
        }
        self.counts.packets += sent.len() as u64;
        if !sent.is_empty() {
            self.due = Some(self.due.unwrap_or(now + TIMER));
        }
        sent
    }

    /// Packet numbers that are under way.
    fn under_way(&self) -> u32 {
        let ends = self.kept.front().zip(self.kept.get(self.left.wrapping_sub(1)));
        let numbers = ends.and_then(|(first, last)| last.last.ahead_of(first.frame.bth.psn));
        numbers.map_or(0, |numbers| numbers + 1)
    }

    /// What an answer of its peer brings, at `now`: what it sends, again or as there is room for it.
    pub(super) fn hear(&mut self, now: Time, answer: &RoceFrame) -> Vec<RoceFrame> {
        let psn = answer.bth.psn;
        let kept = self.kept.len();
        let mut goes_on = false;
        let mut sent = match answer.ext.aeth().map(|aeth| aeth.syndrome) {
            Some(Syndrome::Nak(Nak::PsnSequenceError)) => {
                self.acknowledged(Psn::new(psn.get().wrapping_sub(1)));
                self.all_again(now)
            }
            Some(Syndrome::RnrNak(timer)) => {
                self.acknowledged(Psn::new(psn.get().wrapping_sub(1)));
                self.due = Some(now + timer.wait().max(TIMER));
                self.halted = true;
                return Vec::new();
            }
            Some(Syndrome::Nak(why)) => {
                self.counts.refused = Some(why);
                self.kept.clear();
                self.left = 0;
                Vec::new()
            }
            Some(Syndrome::Ack(_)) | None => {
                match self.kept.front_mut() {
                    Some(Kept { response: Some(next), last, brought, .. }) if *next == psn => {
                        let whole = psn == *last;
                        *next = psn.advance(1);
                        *brought += u32::from(answer.payload_len);
                        goes_on = true;
                        if whole {
                            self.counts.read += u64::from(*brought);
                            self.word(answer);
                            self.done();
                        }
                    }
                    _ => self.acknowledged(psn),
                }
                Vec::new()
            }
        };
        if self.kept.is_empty() {
            self.due = None;
        } else if goes_on || self.kept.len() < kept {
            self.due = Some(now + TIMER);
        }
        sent.extend(self.leave(now));
        sent
    }

    /// What stood where an atomic has added: one more than before, as nobody else adds there.
    fn word(&mut self, answer: &RoceFrame) {
        let Ext::AethAtomicAck(_, word) = answer.ext else { return };
        let follows = self.word.is_none_or(|before| word.original == before.wrapping_add(1));
        self.counts.odd += u64::from(!follows);
        self.word = Some(word.original);
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
        self.halted = false;
        let count = self.left as u64;
        self.counts.again += count;
        self.counts.packets += count;
        if self.counts.answered == 0 {
            self.counts.unheard += count;
        }
        let each = self.kept.iter_mut().take(self.left).map(|kept| {
            kept.response = kept.response.map(|_| kept.frame.bth.psn);
            kept.brought = 0;
            kept.frame
        });
        each.collect()
    }

    /// All up to this number came, but for what has to be answered by more than that.
    fn acknowledged(&mut self, psn: Psn) {
        while let Some(kept) = self.kept.front().filter(|_| self.left > 0)
            && kept.response.is_none()
            && psn.ahead_of(kept.last).is_some()
        {
            self.done();
        }
    }

    fn done(&mut self) {
        let done = self.kept.pop_front();
        self.left = self.left.saturating_sub(1);
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
