//! Which traffic class of a port sends next: strict ones first, what they leave shared by weights (start-time fair queueing: Goyal and others,
//! SIGCOMM'96), none faster than its limit.
//!
//! Left out on purpose: what goes ahead of data (acknowledgements, NAKs, CNPs, PFC) belongs to no class here.

use super::Config;
use super::pair::Pair;
use super::send_queues::SendQueues;
use crate::model::chance;
use crate::model::packet::{CLASSES, bit, slot};
use rig_lab::{EtsFaults, Selection};
use rig_units::{Bytes, L2Rate, Ppm, Time};

/// How traffic classes share a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortClasses {
    /// Bit `p` of a class is set where priority `p` is in it.
    members: [u8; CLASSES],
    /// What a class weighs, in millionths of all; 0 of a strict one.
    weights: [u32; CLASSES],
    /// The most that a class sends, in bits a second of frames; 0 where nothing limits it.
    limits: [u64; CLASSES],
    /// By how much a weight may be off.
    precision: Ppm,
}

/// Millionths in a hundredth.
const PERCENT: u32 = Ppm::ONE.0 / 100;
/// What a byte counts for a class that weighs everything.
const FINE: u64 = 1_000_000;

impl PortClasses {
    /// As `declared`; `None` where nothing is known of it.
    pub(super) fn declared(declared: &rig_lab::Ets) -> Option<PortClasses> {
        let (classes, table) = declared.classes.as_ref().zip(declared.priorities.as_ref())?;
        let mut ets = PortClasses {
            members: [0; CLASSES],
            weights: [0; CLASSES],
            limits: [0; CLASSES],
            precision: declared.precision.unwrap_or_default(),
        };
        for (class, priority) in table.iter().zip(0_u8..) {
            ets.members[slot(*class)] |= bit(priority);
        }
        for (weight, class) in ets.weights.iter_mut().zip(classes) {
            *weight = match class {
                Selection::Strict => 0,
                Selection::Percent(percent) => u32::from(*percent) * PERCENT,
            };
        }
        for (class, rate) in declared.limits.iter().flatten() {
            ets.limits[slot(*class)] = rate.bps;
        }
        Some(ets)
    }

    /// As a device has it whose ways `seed` decides.
    fn of_device(mut self, seed: u64) -> PortClasses {
        let stream = chance::stream(seed, *b"etsshare");
        for (weight, class) in self.weights.iter_mut().zip(0..).filter(|(weight, _)| **weight > 0) {
            let values = u128::from(self.precision.0) * 2 + 1;
            let above = (u128::from(chance::draw(stream, class)) * values) >> 64;
            let above = u32::try_from(above).unwrap_or(0);
            // Nobody is left with nothing.
            *weight = (*weight + above).saturating_sub(self.precision.0).max(PERCENT / 10);
        }
        self
    }

    /// As a device has it that departs so, on a port of `line` bits a second.
    fn departing(mut self, faults: &EtsFaults, line: u64) -> PortClasses {
        let weights = self.weights;
        let sharing = || (0..CLASSES).filter(|class| weights[*class] > 0);
        let (first, last) = (sharing().next(), sharing().next_back());
        let alike = Ppm::ONE.0 / u32::try_from(sharing().count().max(1)).unwrap_or(1);
        if let (true, Some(first), Some(last)) = (faults.ets_shares_swapped, first, last) {
            self.weights.swap(first, last);
        }
        if faults.ets_shares_equal {
            let shares = self.weights.iter_mut().filter(|weight| **weight > 0);
            shares.for_each(|weight| *weight = alike);
        }
        if faults.ets_unused_kept {
            for (limit, weight) in self.limits.iter_mut().zip(self.weights) {
                let own = u128::from(line) * u128::from(weight) / u128::from(Ppm::ONE.0);
                let own = u64::try_from(own).unwrap_or(u64::MAX);
                if weight > 0 && (*limit == 0 || *limit > own) {
                    *limit = own;
                }
            }
        }
        if faults.ets_strict_in_turn {
            let strict = (0..CLASSES).filter(|class| self.members[*class] != 0);
            for class in strict.filter(|class| self.weights[*class] == 0).collect::<Vec<_>>() {
                self.weights[class] = Ppm::ONE.0;
            }
        }
        if faults.ets_limit_ignored {
            self.limits = [0; CLASSES];
        }
        if faults.ets_priority_off_by_one {
            self.members = self.members.map(|members| members.rotate_right(1));
        }
        self
    }

    /// The traffic class of a priority.
    fn class_of(&self, priority: u8) -> usize {
        self.members.iter().position(|members| members & bit(priority) != 0).unwrap_or(0)
    }
}

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
