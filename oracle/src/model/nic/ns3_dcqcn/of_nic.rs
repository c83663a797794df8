//! A NIC that does as the simulator does.

use super::{Limiter, gap};
use crate::model::nic::send_queues::Limit;
use crate::model::nic::table::NOBODY;
use crate::model::nic::{self, Nic};
use rig_units::Time;

impl Nic {
    /// The limiter of a connection, as it is now.
    pub fn ns3(&self, id: u16) -> Option<Limiter> {
        let pair = self.pairs.get(usize::from(self.table.get(id)))?;
        let mut limiter = self.send_queues.limits.get(usize::from(pair.limit))?.ns3?;
        if let Some(before) = self.seen.0.checked_sub(1) {
            limiter.catch_up(&self.config.ns3?, Time(before));
        }
        Some(limiter)
    }

    /// A marked acknowledgement of a queue pair arrives at `now`; whether the NIC is one of the simulator's.
    pub(in crate::model::nic) fn notified_by_ack(&mut self, now: Time, slot: u16) -> bool {
        let Some(config) = &self.config.ns3 else { return false };
        let limit = self.pairs.get(usize::from(slot)).map_or(NOBODY, |pair| pair.limit);
        let limit = self.send_queues.limits.get_mut(usize::from(limit));
        if let Some(limiter) = limit.and_then(|limit| limit.ns3.as_mut()) {
            self.counters.rp_cnp_handled += 1;
            limiter.notified(config, now);
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
        let (Some(limiter), Some(config)) = (&mut self.ns3, &config.ns3) else { return false };
        limiter.catch_up(config, now);
        self.pacer.left_after(now, (size, limiter.rate()), gap);
        true
    }
}
