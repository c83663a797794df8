//! Which traffic class of a port sends next: strict ones first, what they leave shared by weights (start-time fair queueing: Goyal and others,
//! SIGCOMM'96), none faster than its limit.
//!
//! Left out on purpose: what goes ahead of data (acknowledgements, NAKs, CNPs, PFC) belongs to no class here.

use super::Config;
use super::pair::Pair;
use super::port_classes::PortClasses;
use super::send_queues::SendQueues;
use crate::model::packet::CLASSES;
use rig_lab::EtsFaults;
use rig_units::{Bytes, L2Rate, Time};

/// What a byte counts for a class that weighs everything.
const FINE: u64 = 1_000_000;

/// What traffic classes have sent of a port, and which of them is next.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    ets: PortClasses,
    faults: EtsFaults,
    /// When the next frame of each class begins that shares, in bytes of a class that weighs everything.
    tags: [u64; CLASSES],
    /// The same of the frame that was sent last.
    now: u64,
    /// When the limit of each class lets its next frame go.
    free: [Time; CLASSES],
}

impl Selector {
    /// The classes of a port of `line` bits a second; `None` where nothing is declared of them.
    pub(super) fn of(config: &Config, line: u64) -> Option<Box<Selector>> {
        let faults = config.faults.ets;
        let mut ets = config.ets?.of_device(config.seed).departing(&faults, line);
        ets.limits = ets.limits.map(|limit| config.clock.rate(limit));
        let (tags, free) = ([0; CLASSES], [Time::ZERO; CLASSES]);
        Some(Box::new(Selector { ets, faults, tags, now: 0, free }))
    }

    /// Who sends next and from when on, `ready` at the earliest, with the priorities in `closed` held back.
    pub(super) fn first(
        &self,
        queues: &mut SendQueues,
        pairs: &mut [Pair],
        (ready, closed): (Time, u8),
    ) -> Option<(Time, u16)> {
        let mut waiting = [None; CLASSES];
        for (class, members) in self.ets.members.iter().enumerate() {
            let first = queues.first(pairs, closed | !members);
            waiting[class] = first.map(|(at, pair)| (at.max(self.free[class]).max(ready), pair));
        }
        let at = waiting.iter().flatten().map(|(at, _)| *at).min()?;
        let due = (0..CLASSES).filter(|class| waiting[*class].is_some_and(|(when, _)| when <= at));
        let next = due.min_by_key(|class| self.rank(*class))?;
        waiting[next]
    }

    /// Of those that may send the one of least rank does.
    fn rank(&self, class: usize) -> (bool, u64, usize) {
        let is_strict = self.ets.weights[class] == 0;
        let after = is_strict == self.faults.ets_strict_last;
        match is_strict {
            true if self.faults.ets_strict_lowest_first => (after, 0, class),
            true => (after, 0, CLASSES - class),
            false => (after, self.tags[class].max(self.now), class),
        }
    }

    /// A frame of a priority leaves at `now`.
    pub(super) fn sent(&mut self, now: Time, priority: u8, size: u64) {
        let class = self.ets.class_of(priority);
        let weight = u64::from(self.ets.weights[class]);
        let counts = if self.faults.ets_counts_frames { 1_000 } else { size };
        if let Some(lasts) = (counts * FINE * FINE).checked_div(weight) {
            self.now = self.tags[class].max(self.now);
            self.tags[class] = self.now + lasts;
        }
        let limit = match self.faults.ets_limit_of_port {
            true => self.ets.limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(0),
            false => self.ets.limits[class],
        };
        if limit == 0 {
            return;
        }
        // Who had to wait for a turn makes up for as much as one frame.
        let gap = L2Rate { bps: limit }.serialise(Bytes(size));
        let since = now.saturating_sub(gap);
        let free = self.free[class].max(since) + gap;
        match self.faults.ets_limit_of_port {
            true => self.free = [free; CLASSES],
            false => self.free[class] = free,
        }
    }
}
