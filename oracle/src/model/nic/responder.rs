//! The receiving side of a reliable connection: which packets are taken, what is said about them, and what a READ is answered with.

use super::kept::Kept;
use super::psn::{Place, place, psn};
use crate::model::packet::{AETH, ROCE_OVERHEAD};
use rig_lab::RcFaults;
use std::collections::VecDeque;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was taken. Whether it is acknowledged.
    Here { acks: bool },
    /// It shows a hole. Whether a NAK says so.
    Ahead { naks: bool },
    /// It was taken, and what was kept behind it shows that there is another hole: a NAK says so.
    HereBeforeAHole,
    /// It had been taken before.
    Behind,
    /// It is kept already, behind a hole.
    Kept,
}

/// The receiving side of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Responder {
    /// The number that it expects; none before the first packet.
    expected: Option<u32>,
    /// Packets since the last acknowledgement.
    silent: u16,
    /// A hole has been told of and is not filled.
    told: bool,
    /// What READs are owed; few connections have any.
    reads: Option<Box<Reads>>,
}

/// What READs are still owed, the first one first: never empty.
#[derive(Debug, Clone, Default)]
struct Reads {
    all: VecDeque<Reading>,
}

/// What a READ is still owed.
#[derive(Debug, Clone, Copy)]
struct Reading {
    psn: u32,
    bytes: u32,
    is_begun: bool,
}

/// A packet of what a READ brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) psn: u32,
    pub(super) size: u16,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl Responder {
    /// The number that it expects.
    pub(super) fn expected(&self) -> u32 {
        self.expected.unwrap_or(0)
    }

    /// Where a number stands, seen from the one that it expects: the first of all is that one.
    pub(super) fn stands(&mut self, number: u32, faults: &RcFaults) -> Place {
        let expected = *self.expected.get_or_insert(psn(number));
        place(number, expected, faults.psn_without_wrap)
    }

    /// The first number will be this one.
    pub(super) fn begin_at(&mut self, number: u32) {
        *self = Responder { expected: Some(psn(number)), ..Responder::default() };
    }

    /// The first number is this one, if none has come yet: both ends were told so as they were connected.
    pub(super) fn learn(&mut self, number: u32) {
        self.expected.get_or_insert(psn(number));
    }

    /// The last number that it took.
    pub(super) fn last(&self) -> u32 {
        psn(self.expected().wrapping_sub(1))
    }

    /// Takes in a request of so many numbers, from `number` on, or not.
    #[inline]
    pub(super) fn takes(&mut self, number: u32, numbers: u32, faults: &RcFaults) -> Taken {
        const OLD: u32 = 1_000;
        let expected = *self.expected.get_or_insert(psn(number));
        match place(number, expected, faults.psn_without_wrap) {
            Place::Here => {
                self.expected = Some(psn(expected.wrapping_add(numbers)));
                self.told = false;
                Taken::Here { acks: false }
            }
            Place::Behind(by) if faults.ghost_asks && by > OLD => self.ahead(),
            Place::Ahead(_) => self.ahead(),
            Place::Behind(_) => Taken::Behind,
        }
    }

    /// A hole shows: the first packet behind it asks.
    const fn ahead(&mut self) -> Taken {
        Taken::Ahead { naks: !core::mem::replace(&mut self.told, true) }
    }

    /// Takes in a packet of data, the last of its message or not.
    #[inline]
    pub(super) fn takes_data(
        &mut self,
        number: u32,
        is_last: bool,
        ack_every: u16,
        faults: &RcFaults,
    ) -> Taken {
        let taken = self.takes(number, 1, faults);
        match taken {
            Taken::Behind if faults.duplicate_taken => {}
            // It is acknowledged, too.
            Taken::Behind => {
                self.silent = 0;
                return taken;
            }
            Taken::Here { .. } => {}
            _ => return taken,
        }
        self.silent += 1;
        let acks = is_last || self.silent >= ack_every;
        if acks {
            self.silent = 0;
        }
        Taken::Here { acks }
    }

    /// The same of a receiver that keeps what comes behind a hole, and takes it once that is filled.
    pub(super) fn places(
        &mut self,
        number: u32,
        is_last: bool,
        ack_every: u16,
        kept: &mut Kept,
        faults: &RcFaults,
    ) -> Taken {
        let most = faults.keeps_behind_a_hole;
        let taken = self.takes_data(number, false, u16::MAX, faults);
        match taken {
            Taken::Here { .. } => {}
            Taken::Ahead { .. } => {
                let (number, expected) = (psn(number), self.expected());
                let ahead = psn(number.wrapping_sub(expected));
                let keeps = most.is_none_or(|most| ahead <= most);
                let known = keeps && !kept.keep(number, is_last, expected);
                return if known { Taken::Kept } else { taken };
            }
            _ => return taken,
        }
        let mut ends = is_last;
        while let Some(run) = kept.follows(self.expected()) {
            ends |= run.ends;
            self.passes(run.packets);
        }
        while faults.second_hole_forgotten
            && let Some((missing, run)) = kept.skips(self.expected())
        {
            ends |= run.ends;
            self.passes(missing + run.packets);
        }
        if !kept.is_empty() {
            self.told = true;
            return Taken::HereBeforeAHole;
        }
        let acks = ends || self.silent >= ack_every;
        if acks {
            self.silent = 0;
        }
        Taken::Here { acks }
    }

    /// Takes so many packets that were kept.
    fn passes(&mut self, packets: u32) {
        self.expected = Some(psn(self.expected().wrapping_add(packets)));
        self.silent = self.silent.saturating_add(u16::try_from(packets).unwrap_or(u16::MAX));
    }

    /// Takes in a READ request for `bytes`, in packets of `mtu`. One that asks again for what was asked for before is
    /// answered from there, and what else was owed is forgotten.
    pub(super) fn takes_read(
        &mut self,
        number: u32,
        bytes: u32,
        mtu: u32,
        faults: &RcFaults,
    ) -> Taken {
        let numbers = bytes.div_ceil(mtu.max(1)).max(1);
        let taken = self.takes(number, numbers, faults);
        match taken {
            Taken::Behind if faults.duplicate_read_ignored => return taken,
            Taken::Behind => self.reads = None,
            Taken::Here { .. } => {}
            _ => return taken,
        }
        self.reads.get_or_insert_default().all.push_back(Reading {
            psn: psn(number),
            bytes,
            is_begun: false,
        });
        taken
    }

    /// Whether a READ is owed data.
    #[inline]
    pub(super) fn owes(&self) -> bool {
        self.reads.is_some()
    }

    /// Nothing is owed any more.
    pub(super) fn forgives(&mut self) {
        self.reads = None;
    }

    /// The next packet that a READ is owed, of at most `mtu` bytes of payload.
    pub(super) fn next(&self, mtu: u32) -> Option<Response> {
        let Reading { psn, bytes, is_begun } = *self.reads.as_ref()?.all.front()?;
        let (is_first, is_last) = (!is_begun, bytes <= mtu);
        let payload = u16::try_from(bytes.min(mtu)).unwrap_or(u16::MAX);
        let header = if is_first || is_last { AETH } else { 0 };
        let size = payload.saturating_add(ROCE_OVERHEAD + header);
        Some(Response { psn, size, is_first, is_last })
    }

    /// That packet has left.
    pub(super) fn sent(&mut self, mtu: u32) {
        let Some(reads) = &mut self.reads else { return };
        let Some(reading) = reads.all.front_mut() else { return };
        if reading.bytes <= mtu {
            reads.all.pop_front();
            self.reads.take_if(|reads| reads.all.is_empty());
            return;
        }
        reading.bytes -= mtu;
        reading.psn = psn(reading.psn.wrapping_add(1));
        reading.is_begun = true;
    }
}
