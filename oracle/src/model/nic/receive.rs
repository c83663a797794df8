//! What a frame goes through on its way in: the state of few connections is at hand, and fetching that of another one holds
//! up everything behind it.

use super::table::{NOBODY, Table};
use crate::model::packet::{Packet, PacketKind};
use crate::model::ring::Ring;
use rig_lab::{NpFaults, RcFaults, Receive};
use rig_units::Time;

/// The way in. What the NIC has no state of yet has to be fetched like anything else.
#[derive(Debug, Clone, Default)]
pub(super) struct Pipeline {
    cache: Cache,
    /// Until when something is being fetched.
    busy: Time,
    /// What waits for that, and what is fetched for; each with the instant at which it is through.
    waiting: Ring,
    /// Nothing is ever at hand, of one that is wrong.
    forgets: bool,
}

impl Pipeline {
    /// Where nothing is at hand yet.
    pub(super) fn of(faults: &NpFaults) -> Pipeline {
        Pipeline { forgets: faults.connection_state_forgotten, ..Pipeline::default() }
    }

    /// A frame arrives at `now`: whether it is through at once. If not it waits.
    #[inline]
    pub(super) fn takes(&mut self, config: &Receive, now: Time, packet: &Packet) -> bool {
        config.cache == 0 && self.waiting.is_empty() || self.queues(config, now, packet)
    }

    #[cold]
    #[inline(never)]
    fn queues(&mut self, config: &Receive, now: Time, packet: &Packet) -> bool {
        let mut keeps = || self.cache.touch(packet.stream, config.cache) && !self.forgets;
        let is_at_hand = config.cache == 0 || keeps();
        let start = self.busy.max(now);
        self.busy = if is_at_hand { start } else { start + config.miss };
        let is_through = self.busy == now && self.waiting.is_empty();
        if !is_through {
            self.waiting.push(packet).at = self.busy;
        }
        is_through
    }

    /// When the next frame that waits is through; [`Time::MAX`] if none waits.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(Time::MAX, |packet| packet.at)
    }

    /// Takes a frame that is through at `now`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.next() <= now { self.waiting.pop() } else { None }
    }

    /// Forgets what is at hand.
    pub(super) fn forget(&mut self) {
        self.cache = Cache::default();
    }

    /// Forgets the frames that wait: the link went down.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.busy = Time::ZERO;
    }
}

/// The connections whose state is at hand, in a ring from the one used last to the one used least lately.
#[derive(Debug, Clone, Default)]
struct Cache {
    table: Table,
    entries: Vec<Entry>,
    /// The one used last.
    first: u16,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    stream: u16,
    before: u16,
    after: u16,
}

impl Cache {
    /// Uses the state of `stream`, of which so many are at hand at most: whether it was at hand. If not it is now.
    fn touch(&mut self, stream: u16, most: u32) -> bool {
        let found = self.table.get(stream);
        if found != NOBODY {
            self.unlink(found);
            self.lead(found);
            return true;
        }
        let is_full = self.entries.len() >= usize::try_from(most).unwrap_or(usize::MAX);
        let place = if is_full { self.entries[usize::from(self.first)].before } else { NOBODY };
        let place = if place == NOBODY {
            let entry = Entry { stream, before: NOBODY, after: NOBODY };
            self.entries.push(entry);
            u16::try_from(self.entries.len() - 1).unwrap_or(NOBODY)
        } else {
            self.table.remove(self.entries[usize::from(place)].stream);
            self.unlink(place);
            self.entries[usize::from(place)].stream = stream;
            place
        };
        self.table.insert(stream, place);
        self.lead(place);
        false
    }

    fn unlink(&mut self, place: u16) {
        let Entry { before, after, .. } = self.entries[usize::from(place)];
        self.entries[usize::from(before)].after = after;
        self.entries[usize::from(after)].before = before;
        if self.first == place {
            self.first = after;
        }
        if before == place {
            self.first = NOBODY;
        }
    }

    /// Puts an entry that is in no ring at the front.
    fn lead(&mut self, place: u16) {
        let (before, after) = match self.entries.get(usize::from(self.first)) {
            Some(first) if self.entries.len() > 1 && self.first != place => {
                (first.before, self.first)
            }
            _ => (place, place),
        };
        self.entries[usize::from(place)].before = before;
        self.entries[usize::from(place)].after = after;
        self.entries[usize::from(before)].after = place;
        self.entries[usize::from(after)].before = place;
        self.first = place;
    }
}

/// Whether a packet is taken although its ICRC is wrong.
pub(super) fn takes_spoilt(faults: &RcFaults, packet: &Packet) -> bool {
    let spoilt_of_kind = match packet.kind {
        PacketKind::Ack => faults.spoilt_ack_taken,
        PacketKind::Data => faults.spoilt_response_taken && packet.is_response(),
        _ => false,
    };
    let foreign = faults.takes_blue_rdma && packet.note().is_some();
    faults.bad_icrc_accepted || spoilt_of_kind || foreign
}

#[cfg(test)]
mod tests;
