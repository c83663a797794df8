//! What a queue pair of a NIC takes from its neighbours that is not its: more than its turn, the port while it sends nothing, or their acknowledgements.

use super::pair::Pair;
use super::{Config, Nic};
use rig_units::Dur;

impl Nic {
    /// How long the acknowledgement waits that is made now, where one in 64 does. All that are ready behind it wait with it.
    #[cold]
    #[inline(never)]
    pub(super) fn stands_still(&mut self, us: u32) -> Dur {
        self.acks = self.acks.wrapping_add(1);
        if self.acks.is_multiple_of(64) { Dur::us(us.into()) } else { Dur::ZERO }
    }
}

impl Pair {
    /// For how long nothing leaves from when its next frame begins to.
    #[cold]
    #[inline(never)]
    pub(super) fn stalls(&self, config: &Config) -> Dur {
        let stalled = |for_ns: Option<u32>| Dur::ns(for_ns.unwrap_or(0).into());
        let (rp, rc) = (&config.faults.rp, &config.faults.rc);
        let is_answer = self.responder.owes();
        let request = if is_answer || !self.begins() { None } else { rp.request_read_holds_port };
        let atomic = self.frame.atomic().and(rc.atomic_holds_port);
        stalled(request) + stalled(atomic)
    }

    /// Whether its turn goes on behind the frame that has left.
    #[cold]
    #[inline(never)]
    pub(super) fn goes_on(&self, config: &Config) -> bool {
        if self.responder.owes() {
            return config.faults.rc.read_answered_in_a_row;
        }
        config.faults.rp.turn_of_a_message && self.is_ready() && !self.begins()
    }

    /// Whether its requester sends the first packet of a message next.
    fn begins(&self) -> bool {
        self.requester.as_ref().is_none_or(|requester| requester.stands().1 == 0)
    }
}
