//! How a packet simulator (HPCC's ns-3, `rdma-hw.cc`) tells a NIC of congestion, for the limiter to be held against its figures: a build has
//! it only with the feature `ns3`, and no profile can reach it. The limiter itself is the catalogue's, with `by_period` and no byte counter.
//!
//! Its acknowledgements carry the mark of their frame back to the sender, where each that is marked counts as a CNP, and gaps between frames are
//! whole nanoseconds.

use super::Nic;
use super::rp::Limiter;
use super::send_queues::Limit;
use super::table::NOBODY;
use rig_units::{Dur, Time};

/// What the simulator's acknowledgements are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Their size.
    pub ack_size: u16,
    /// What one takes on its last cable.
    pub ack_flight: Dur,
}

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
    pub(super) fn notified_by_ack(&mut self, now: Time, slot: u16) -> bool {
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
    pub(super) fn left_as_ns3(&mut self, config: &super::Config, now: Time, size: u64) -> bool {
        if config.ns3.is_none() {
            return false;
        }
        self.limiter.catch_up(&config.rp, &config.faults.rp, now);
        self.pacer.left_after(now, (size, self.limiter.rate()), gap);
        true
    }
}

/// From a frame of so many bytes to the next: cut down to whole nanoseconds.
#[cold]
#[inline(never)]
fn gap(size: u64, rate: u64) -> Dur {
    let ns = u128::from(size) * 8_000_000_000 / u128::from(rate.max(1));
    Dur::ns(u64::try_from(ns).unwrap_or(u64::MAX / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_whole_nanoseconds() {
        const LINE: u64 = 100_000_000_000;
        assert_eq!(gap(1_048, LINE), Dur::ns(83));
        assert_eq!(gap(1_048, LINE / 2), Dur::ns(167));
    }
}
