//! Who sends next: the limiters, each with the queue pairs that wait for it, and the limiters in the order in which they let
//! a frame go.
//!
//! A limiter that somebody waits for stands in a heap by the instant from which on it lets a frame go, so that thousands of
//! queue pairs cost a few comparisons a frame. A queue pair whose class is paused leaves its limiter and waits aside.

use super::limiting::Pacer;
use super::pair::Pair;
use super::rp::Limiter;
use super::simulated;
use super::table::NOBODY;
use crate::model::packet::bit;
use core::cmp::Reverse;
use rig_units::Time;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// One limiter and who waits for it, the one that has waited longest first.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    pub(super) limiter: Limiter,
    /// What limits it instead in a simulated NIC.
    pub(super) simulated: Option<simulated::Limiter>,
    pub(super) pacer: Pacer,
    first: u16,
    last: u16,
}

/// All limiters of a NIC.
#[derive(Debug, Clone, Default)]
pub(super) struct Lanes {
    pub(super) all: Vec<Lane>,
    order: BinaryHeap<Reverse<(Time, u16)>>,
    /// Queue pairs whose class is paused.
    aside: Vec<u16>,
}

impl Lanes {
    /// A limiter that nobody waits for; its place.
    pub(super) fn add(&mut self, limiter: Limiter, simulated: Option<simulated::Limiter>) -> u16 {
        let pacer = Pacer::default();
        self.all.push(Lane { limiter, simulated, pacer, first: NOBODY, last: NOBODY });
        u16::try_from(self.all.len() - 1).unwrap_or(NOBODY)
    }

    /// Forgets every limiter and who waits for it.
    pub(super) fn clear(&mut self, pairs: &mut [Pair]) {
        *self = Lanes::default();
        for pair in pairs {
            (pair.lane, pair.after, pair.is_queued) = (NOBODY, NOBODY, false);
        }
    }

    /// Lets a queue pair wait for its limiter from `now` on, if it does not yet.
    pub(super) fn enqueue(&mut self, pairs: &mut [Pair], pair: u16, now: Time) {
        let at = &mut pairs[usize::from(pair)];
        if at.is_queued || at.lane == NOBODY {
            return;
        }
        at.is_queued = true;
        let place = at.lane;
        let lane = &self.all[usize::from(place)];
        if lane.first == NOBODY {
            self.order.push(Reverse((lane.pacer.next().max(now), place)));
        }
        self.append(pairs, place, pair);
    }

    fn append(&mut self, pairs: &mut [Pair], place: u16, pair: u16) {
        let lane = &mut self.all[usize::from(place)];
        pairs[usize::from(pair)].after = NOBODY;
        match lane.last {
            NOBODY => lane.first = pair,
            last => pairs[usize::from(last)].after = pair,
        }
        lane.last = pair;
    }

    /// Takes the first one out of a lane.
    fn drop_first(&mut self, pairs: &mut [Pair], place: u16) -> u16 {
        let lane = &mut self.all[usize::from(place)];
        let first = lane.first;
        lane.first = core::mem::replace(&mut pairs[usize::from(first)].after, NOBODY);
        if lane.first == NOBODY {
            lane.last = NOBODY;
        }
        first
    }

    /// Who sends next and from when on, with the classes in `closed` held back.
    #[inline]
    pub(super) fn first(&mut self, pairs: &mut [Pair], closed: u8) -> Option<(Time, u16)> {
        loop {
            let &Reverse((at, place)) = self.order.peek()?;
            let first = self.all[usize::from(place)].first;
            let pair = &pairs[usize::from(first)];
            if pair.is_ready() && closed & bit(pair.class) == 0 {
                return Some((at, first));
            }
            self.pass_over(pairs, place);
        }
    }

    /// Takes a queue pair that cannot send off its limiter, the one that is next.
    #[cold]
    #[inline(never)]
    fn pass_over(&mut self, pairs: &mut [Pair], place: u16) {
        let pair = self.drop_first(pairs, place);
        if pairs[usize::from(pair)].is_ready() {
            self.aside.push(pair);
        } else {
            pairs[usize::from(pair)].is_queued = false;
        }
        if self.all[usize::from(place)].first == NOBODY {
            self.order.pop();
        }
    }

    /// The one that is next has sent a frame, and its limiter been told so.
    #[inline]
    pub(super) fn sent(&mut self, pairs: &mut [Pair]) {
        let Some(Reverse((_, place))) = self.order.peek().copied() else { return };
        let lane = &mut self.all[usize::from(place)];
        let (pair, is_alone) = (lane.first, lane.first == lane.last);
        if pairs[usize::from(pair)].is_ready() {
            if !is_alone {
                self.drop_first(pairs, place);
                self.append(pairs, place, pair);
            }
        } else {
            self.drop_first(pairs, place);
            pairs[usize::from(pair)].is_queued = false;
        }
        let lane = &self.all[usize::from(place)];
        let Some(mut top) = self.order.peek_mut() else { return };
        if lane.first == NOBODY {
            PeekMut::pop(top);
        } else {
            top.0.0 = lane.pacer.next();
        }
    }

    /// The classes in `opened` may send again from `now` on.
    pub(super) fn reopen(&mut self, pairs: &mut [Pair], opened: u8, now: Time) {
        let is_closed = |pair: u16| opened & bit(pairs[usize::from(pair)].class) == 0;
        let (aside, back) =
            core::mem::take(&mut self.aside).into_iter().partition(|&pair| is_closed(pair));
        self.aside = aside;
        let back: Vec<u16> = back;
        for pair in back {
            pairs[usize::from(pair)].is_queued = false;
            self.enqueue(pairs, pair, now);
        }
    }
}
