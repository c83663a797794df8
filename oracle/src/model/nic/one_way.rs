//! What a NIC makes of packets that come by an unreliable connection.

use super::Nic;
use super::flow::Verb;
use super::psn::psn;
use super::unreliable::Coming;
use crate::model::packet::Packet;

impl Nic {
    /// Learns that a connection is unreliable.
    pub(super) fn expect_unreliable(&mut self, id: u16, from: u16, verb: Verb) {
        let slot = self.pair(id, from);
        let all = self.unreliable.get_or_insert_default();
        all.0.insert(slot, Coming { sends: verb == Verb::SendUnreliable, ..Coming::default() });
    }

    /// A packet of data is here: whether it came by an unreliable connection, and is done with.
    #[cold]
    #[inline(never)]
    pub(super) fn is_unreliable(&mut self, packet: &Packet, slot: u16) -> bool {
        let Some(all) = &mut self.unreliable else { return false };
        let Some(coming) = all.0.get_mut(&slot) else { return false };
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
}
