//! A NIC that does as the simulator does.

use super::gap;
use crate::model::nic::rp::Limiter;
use crate::model::nic::send_queues::Limit;
use crate::model::nic::table::NOBODY;
use crate::model::nic::{self, Nic};
use rig_units::{Dur, Time};

impl Nic {
    /// The limiter of a connection, as it was right before what happens now.
    pub fn ns3(&self, id: u16) -> Option<Limiter> {
        let pair = self.pairs.get(usize::from(self.table.get(id)))?;
        let mut limiter = self.send_queues.limits.get(usize::from(pair.limit))?.limiter;
        if let Some(before) = self.seen.0.checked_sub(1) {
            limiter.catch_up(&self.config.rp, &self.config.faults.rp, Time(before));
        }
        Some(limiter)
    }

    /// A marked acknowledgement of a queue pair arrives at `now`; whether the NIC is one of the simulator's.
    pub(in crate::model::nic) fn notified_by_ack(&mut self, now: Time, slot: u16) -> bool {
        let Some(config) = &self.config.ns3 else { return false };
        let (rp, faults) = (&self.config.rp, &self.config.faults.rp);
        let limit = self.pairs.get(usize::from(slot)).map_or(NOBODY, |pair| pair.limit);
        if let Some(Limit { limiter, .. }) = self.send_queues.limits.get_mut(usize::from(limit)) {
            self.counters.rp_cnp_handled += 1;
            // At one instant the simulator handles first what was scheduled first: the alpha timer, if it takes longer than an
            // acknowledgement on its last cable.
            limiter.catch_up(rp, faults, now);
            let acks_first = rp.alpha_timer <= config.ack_flight && limiter.goes_by_periods();
            limiter.notified(rp, faults, now.saturating_sub(Dur(u64::from(acks_first))));
        }
        true
    }
}

impl Limit {
    /// A frame of `size` bytes leaves at `now`; whether the NIC is one of the simulator's.
    #[inline]
    pub(in crate::model::nic) fn left_as_ns3(
        &mut self,
        config: &nic::Config,
        now: Time,
        size: u64,
    ) -> bool {
        if config.ns3.is_none() {
            return false;
        }
        self.limiter.catch_up(&config.rp, &config.faults.rp, now);
        self.pacer.left_after(now, (size, self.limiter.rate()), gap);
        true
    }
}
