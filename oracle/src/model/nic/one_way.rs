//! What a NIC makes of packets that come by an unreliable connection, and of datagrams.

use super::Nic;
use super::flow::Verb;
use super::psn::psn;
use super::receives::Posted;
use super::requester::Requester;
use super::unreliable::{Coming, Taking, Unreliable};
use crate::model::packet::Packet;
use rig_units::Time;

impl Nic {
    /// Learns that a connection is unreliable.
    pub(super) fn expect_unreliable(&mut self, id: u16, from: u16, verb: Verb) {
        let slot = self.pair(id, from);
        let all = self.unreliable.get_or_insert_default();
        if verb == Verb::Datagram {
            let free = self.receives.as_ref().map_or(0, |receives| receives.each);
            let posted = Posted { free, ..Posted::default() };
            all.datagrams.entry(slot).or_insert(Taking { posted, next: None });
            return;
        }
        all.connections
            .insert(slot, Coming { sends: verb == Verb::SendUnreliable, ..Coming::default() });
    }

    /// A packet of data is here at `now`: whether nobody acknowledges it, and it is done with.
    #[cold]
    #[inline(never)]
    pub(super) fn is_unreliable(&mut self, now: Time, packet: &Packet, slot: u16) -> bool {
        let Some(all) = &mut self.unreliable else { return false };
        if all.datagrams.contains_key(&slot) {
            return self.takes_datagram(now, packet, slot);
        }
        let Some(coming) = all.connections.get_mut(&slot) else { return false };
        let faults = &self.config.faults.rc;
        let is_next = coming.next.is_none_or(|next| next == packet.seq);
        if faults.uc_waits_for_the_hole && !is_next {
            return true;
        }
        if packet.is_first() {
            coming.holds = !core::mem::take(&mut coming.skips);
            coming.holds &= is_next || !faults.uc_takes_no_new_message;
        } else if !is_next {
            coming.holds &= faults.uc_delivers_with_a_hole;
            coming.skips = faults.uc_drops_the_next;
        }
        let after = packet.seq.wrapping_add(1);
        coming.next = Some(if faults.psn_without_wrap { after } else { psn(after) });
        if packet.is_last() && core::mem::take(&mut coming.holds) && coming.sends {
            self.counters.rdma_recvs += 1;
        }
        !faults.uc_acknowledges
    }

    /// A datagram is here: whether it is done with. One with another key, or that finds no receive, is dropped without a word.
    fn takes_datagram(&mut self, now: Time, packet: &Packet, slot: u16) -> bool {
        let Some(taking) = self.unreliable.as_mut().and_then(|all| all.datagrams.get_mut(&slot))
        else {
            return false;
        };
        let faults = &self.config.faults.rc;
        if packet.has_other_key() && !faults.ud_takes_any_key {
            self.counters.qkey_viol_cntr += u64::from(!faults.qkey_violation_not_counted);
            return true;
        }
        let is_next = taking.next.is_none_or(|next| next == packet.seq);
        taking.next = Some(psn(packet.seq.wrapping_add(1)));
        if faults.ud_wants_order && !is_next {
            return true;
        }
        if let Some(receives) = &self.receives {
            let posted = &mut taking.posted;
            posted.come(now);
            if posted.free == 0 && !faults.ud_takes_anyway {
                let timer = receives.timer;
                if faults.ud_says_not_ready {
                    self.say_not_ready(now, packet, timer);
                }
                return true;
            }
            posted.free = posted.free.saturating_sub(1);
            posted.busy = posted.busy.max(now) + self.draws.next(receives.again);
            posted.coming.push_back(posted.busy);
        }
        self.counters.rdma_recvs += 1;
        !faults.ud_acknowledges
    }

    /// Whether it answers no mark of what comes so; a fault.
    pub(super) fn ignores_mark(&self, slot: u16) -> bool {
        let is_so = |all: &Unreliable| {
            all.connections.contains_key(&slot) || all.datagrams.contains_key(&slot)
        };
        self.config.faults.np.unreliable_marks_unanswered
            && self.unreliable.as_deref().is_some_and(is_so)
    }

    /// Whether no CNP slows down what it sends so; a fault.
    pub(super) fn ignores_cnp(&self, stream: u16) -> bool {
        let pair = self.pairs.get(usize::from(self.table.get(stream)));
        let requester = pair.and_then(|pair| pair.requester.as_ref());
        self.config.faults.rp.unreliable_not_slowed
            && requester.is_some_and(Requester::is_unreliable)
    }
}
