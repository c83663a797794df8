//! Unreliable connections: no word about what comes, and of a message of which a packet is missing nothing is delivered.
//!
//! Left out on purpose: receives that run out, immediate data, and what a NIC counts of holes.

use super::psn::psn;
use super::{Nic, Verb};
use crate::model::packet::Packet;
use rig_lab::RcFaults;
use std::collections::BTreeMap;

/// What comes by the unreliable connections of a NIC, by queue pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Unreliable(BTreeMap<u16, Coming>);

/// What comes by one of them.
#[derive(Debug, Clone, Copy, Default)]
struct Coming {
    /// Whether its messages are SENDs, each of which completes a receive.
    sends: bool,
    /// The number that follows; none before the first packet.
    next: Option<u32>,
    /// Whether all of the message that comes is there so far.
    holds: bool,
    /// Whether the next message is thrown away, too; a fault.
    skips: bool,
}

/// What a sender does of what it is asked for: one with the fault does what a reliable connection would.
pub(super) const fn heeded(verb: Verb, faults: &RcFaults) -> Verb {
    match verb {
        Verb::SendUnreliable if faults.uc_waits_for_acks => Verb::Send,
        Verb::WriteUnreliable if faults.uc_waits_for_acks => Verb::Write,
        other => other,
    }
}

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
