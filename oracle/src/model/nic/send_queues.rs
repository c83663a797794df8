//! Who sends next: the limits, the queue pairs that wait for each, and the limits in the order in which they let a frame go.
//!
//! The queue pairs of one limit and one class stand in a lane, and lanes that somebody stands in are ordered by the instant from
//! which on they let a frame go, for each class by itself: so thousands of queue pairs cost a few comparisons a frame, and a
//! class that is paused costs nothing.

use super::Config;
use super::limiting::Pacer;
use super::pair::Pair;
use super::rp::Limiter;
use super::table::NOBODY;
use crate::model::packet::{CLASSES, bit, slot};
use core::cmp::Reverse;
use rig_lab::RpFaults;
use rig_units::Time;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What keeps one rate.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) limiter: Limiter,
    pub(super) pacer: Pacer,
}

impl Limit {
    /// The limit of a port of `line` bits a second.
    pub(super) fn new(config: &Config, line: u64) -> Limit {
        Limit { limiter: config.fresh(line), pacer: Pacer::of_device(config.ways()) }
    }

    /// A frame of `size` bytes leaves at `now`.
    #[inline(always)]
    pub(super) fn left(&mut self, config: &Config, now: Time, size: u64) {
        #[cfg(feature = "ns3")]
        if self.left_as_ns3(config, now, size) {
            return;
        }
        let (rp, faults) = (&config.rp, &config.faults.rp);
        self.limiter.catch_up(rp, faults, now);
        self.pacer.left(rp, now, size, (self.limiter.rate(), self.limiter.is_slowed()));
        self.limiter.sent(rp, faults, size);
    }
}

/// The queue pairs of one limit and class that wait, the one that has waited longest first.
#[derive(Debug, Clone, Copy)]
struct SendQueue {
    limit: u16,
    class: u8,
    first: u16,
    last: u16,
    /// Which of all turns it had last.
    turn: u32,
    /// Whether it is passed over when its turn comes.
    is_passed_over: bool,
}

/// All limits of a NIC, and who waits for them.
#[derive(Debug, Clone, Default)]
pub(super) struct SendQueues {
    pub(super) limits: Vec<Limit>,
    send_queues: Vec<SendQueue>,
    /// Lanes that somebody stands in, by class; where limits are shared, earlier than they let a frame go at worst.
    order: [BinaryHeap<Reverse<(Time, u16)>>; CLASSES],
    /// Classes that have such lanes.
    waiting: u8,
    /// How many turns there were; the number wraps.
    turns: u32,
    /// Whether limits take turns: one that has let a frame go waits for the one that lets the next go last.
    is_tied: bool,
    /// Whether every second lane is passed over in every second turn.
    skips: bool,
    /// The lane whose turn goes on, of one that takes too much in it.
    going_on: Option<u16>,
}

impl SendQueues {
    /// No limits yet, of a NIC that serves them in turns as well as it does.
    pub(super) fn new(faults: &RpFaults) -> SendQueues {
        let RpFaults { flows_tied, turns_skipped, .. } = *faults;
        SendQueues { is_tied: flows_tied, skips: turns_skipped, ..SendQueues::default() }
    }

    /// A limit that nobody waits for; its place.
    pub(super) fn add(&mut self, limit: Limit) -> u16 {
        self.limits.push(limit);
        u16::try_from(self.limits.len() - 1).unwrap_or(NOBODY)
    }

    /// Forgets every limit and who waits for it.
    pub(super) fn clear(&mut self, pairs: &mut [Pair]) {
        let SendQueues { is_tied, skips, .. } = *self;
        *self = SendQueues { is_tied, skips, ..SendQueues::default() };
        for pair in pairs {
            (pair.limit, pair.send_queue, pair.after, pair.is_queued) =
                (NOBODY, NOBODY, NOBODY, false);
        }
    }

    /// Lets a queue pair wait for its limit from `now` on, if it does not yet.
    pub(super) fn enqueue(&mut self, pairs: &mut [Pair], pair: u16, now: Time) {
        let at = &mut pairs[usize::from(pair)];
        if at.is_queued || at.limit == NOBODY {
            return;
        }
        at.is_queued = true;
        if self
            .send_queues
            .get(usize::from(at.send_queue))
            .is_none_or(|send_queue| send_queue.class != at.class)
        {
            at.send_queue = self.send_queue(at.limit, at.class);
        }
        let place = at.send_queue;
        let SendQueue { limit, class, first, .. } = self.send_queues[usize::from(place)];
        if first == NOBODY {
            let next = self.limits[usize::from(limit)].pacer.next();
            self.order[slot(class)].push(Reverse((next.max(now), place)));
            self.waiting |= bit(class);
        }
        self.append(pairs, place, pair);
    }

    /// The lane of a limit and class, which is made if there is none.
    fn send_queue(&mut self, limit: u16, class: u8) -> u16 {
        let is = |send_queue: &SendQueue| (send_queue.limit, send_queue.class) == (limit, class);
        // The lanes of a new limit are not searched for: there may be thousands of others.
        let is_new = self.send_queues.last().is_none_or(|last| last.limit < limit);
        let found = if is_new { None } else { self.send_queues.iter().rposition(is) };
        let place = found.unwrap_or_else(|| {
            let (first, last) = (NOBODY, NOBODY);
            self.send_queues.push(SendQueue {
                limit,
                class,
                first,
                last,
                turn: 0,
                is_passed_over: false,
            });
            self.send_queues.len() - 1
        });
        u16::try_from(place).unwrap_or(NOBODY)
    }

    fn append(&mut self, pairs: &mut [Pair], place: u16, pair: u16) {
        let send_queue = &mut self.send_queues[usize::from(place)];
        pairs[usize::from(pair)].after = NOBODY;
        match send_queue.last {
            NOBODY => send_queue.first = pair,
            last => pairs[usize::from(last)].after = pair,
        }
        send_queue.last = pair;
    }

    /// Takes the first one out of a lane.
    fn drop_first(&mut self, pairs: &mut [Pair], place: u16) -> u16 {
        let send_queue = &mut self.send_queues[usize::from(place)];
        let first = send_queue.first;
        send_queue.first = core::mem::replace(&mut pairs[usize::from(first)].after, NOBODY);
        if send_queue.first == NOBODY {
            send_queue.last = NOBODY;
        }
        first
    }

    /// Who sends next and from when on, with the classes in `closed` held back.
    #[inline]
    pub(super) fn first(&mut self, pairs: &mut [Pair], closed: u8) -> Option<(Time, u16)> {
        let mut open = self.waiting & !closed;
        let mut first: Option<(Time, u16)> = None;
        while open != 0 {
            let class = open.trailing_zeros().to_le_bytes()[0];
            open &= open - 1;
            if let Some(of_class) = self.first_of(pairs, class)
                && first.is_none_or(|first| self.goes_before(of_class, first))
            {
                first = Some(of_class);
            }
        }
        first.map(|(at, place)| (at, self.send_queues[usize::from(place)].first))
    }

    /// Whether one of two lanes goes first. One limit lets both go at the same instant: they take turns.
    #[inline]
    fn goes_before(&self, (at, place): (Time, u16), (other_at, other): (Time, u16)) -> bool {
        if at != other_at {
            return at < other_at;
        }
        let [one, another] = [place, other].map(|place| &self.send_queues[usize::from(place)]);
        let waited = |lane: &SendQueue| self.turns.wrapping_sub(lane.turn);
        if one.limit == another.limit { waited(one) > waited(another) } else { place < other }
    }

    /// The lane that lets a frame of `class` go first, and when.
    #[inline]
    fn first_of(&mut self, pairs: &mut [Pair], class: u8) -> Option<(Time, u16)> {
        loop {
            let &Reverse((at, place)) = self.order[slot(class)].peek()?;
            let send_queue = &self.send_queues[usize::from(place)];
            let next = self.limits[usize::from(send_queue.limit)].pacer.next();
            let goes_on = self.going_on == Some(place);
            if (next <= at || goes_on) && pairs[usize::from(send_queue.first)].is_ready() {
                if !self.skips || !self.passes_over(class, place) {
                    return Some((at.max(next), place));
                }
                continue;
            }
            self.correct(pairs, class, next);
        }
    }

    /// Whether the first lane of its class is passed over this time: it waits for all others then, as if it had sent something.
    #[cold]
    #[inline(never)]
    fn passes_over(&mut self, class: u8, place: u16) -> bool {
        if !core::mem::take(&mut self.send_queues[usize::from(place)].is_passed_over) {
            return false;
        }
        let last = self.order[slot(class)].iter().map(|Reverse((at, _))| *at).max();
        self.settle(place, Time(last.unwrap_or(Time::ZERO).0.saturating_add(1)));
        true
    }

    /// Puts the first lane of a class where it belongs: others have used its limit, or its first queue pair cannot send.
    #[cold]
    #[inline(never)]
    fn correct(&mut self, pairs: &mut [Pair], class: u8, next: Time) {
        let Some(&Reverse((at, place))) = self.order[slot(class)].peek() else { return };
        let first = self.send_queues[usize::from(place)].first;
        if !pairs[usize::from(first)].is_ready() {
            self.drop_first(pairs, place);
            pairs[usize::from(first)].is_queued = false;
        }
        self.settle(place, at.max(next));
    }

    /// The first lane of its class lets a frame go from `next` on, or nobody stands in it any more.
    #[inline]
    fn settle(&mut self, place: u16, next: Time) {
        let SendQueue { class, first, .. } = self.send_queues[usize::from(place)];
        let order = &mut self.order[slot(class)];
        let Some(mut top) = order.peek_mut() else { return };
        if first != NOBODY {
            top.0.0 = next;
            return;
        }
        PeekMut::pop(top);
        if order.is_empty() {
            self.waiting &= !bit(class);
        }
    }

    /// A queue pair, the [first](Self::first), has sent a frame, and its limit been told so.
    #[inline(always)]
    pub(super) fn sent(&mut self, pairs: &mut [Pair], pair: u16) {
        let place = pairs[usize::from(pair)].send_queue;
        let SendQueue { limit, first, last, .. } = self.send_queues[usize::from(place)];
        if self.is_tied {
            self.tie(limit);
        }
        if !pairs[usize::from(pair)].is_ready() {
            self.drop_first(pairs, place);
            pairs[usize::from(pair)].is_queued = false;
        } else if first != last {
            self.drop_first(pairs, place);
            self.append(pairs, place, pair);
        }
        self.turns = self.turns.wrapping_add(1);
        let lane = &mut self.send_queues[usize::from(place)];
        (lane.turn, lane.is_passed_over) = (self.turns, self.skips && place & 1 == 1);
        self.settle(place, self.limits[usize::from(limit)].pacer.next());
        self.going_on = None;
    }

    /// The same of a queue pair alone in its lane whose turn goes on: all others wait, whoever has waited longest.
    #[cold]
    #[inline(never)]
    pub(super) fn goes_on(&mut self, pairs: &mut [Pair], pair: u16) {
        let Pair { send_queue: place, class, .. } = pairs[usize::from(pair)];
        let order = &mut self.order[slot(class)];
        if !pairs[usize::from(pair)].is_queued || self.send_queues[usize::from(place)].first != pair
        {
            return;
        }
        let waiting = order
            .drain()
            .map(|Reverse((at, of))| Reverse((if of == place { Time::ZERO } else { at }, of)));
        *order = waiting.collect::<Vec<_>>().into();
        self.going_on = Some(place);
    }

    /// The limit that has just let a frame go lets none go before every other that somebody waits for has: the head of one line holds all.
    #[cold]
    #[inline(never)]
    fn tie(&mut self, limit: u16) {
        let waiting = self.send_queues.iter().filter(|of| of.first != NOBODY && of.limit != limit);
        let last = waiting.map(|of| self.limits[usize::from(of.limit)].pacer.next()).max();
        if let Some(last) = last {
            self.limits[usize::from(limit)].pacer.hold_behind(last);
        }
    }
}
