//! Event queues: earliest first, and the lowest source first among equals.
//!
//! The tie-break is structural, not an insertion counter: a run must not change when only the scheduling inside does.
//! [`Heap4`] is the one the engine uses; [`Ordered`] says the same in the plainest way and is what it is held against.

use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// What may have an event pending: a cable's far end, a port, a timer. The number is also the tie-break.
pub type Source = u16;

/// A set of pending events, taken out in the one order in which a run handles them.
pub trait EventQueue {
    /// A queue that has nothing pending and whose first event is not before `start`.
    fn starting_at(start: Time) -> Self;
    /// Wakes `source` at `at`, which is not before the event taken last.
    fn push(&mut self, at: Time, source: Source);
    /// Takes the next event, if it lies before `until`.
    fn pop_before(&mut self, until: Time) -> Option<(Time, Source)>;
    /// When the next event is.
    fn next(&self) -> Option<Time>;
}

/// An ordered set: the definition of the order.
#[derive(Debug, Default)]
pub struct Ordered(BTreeSet<(Time, Source)>);

impl EventQueue for Ordered {
    fn starting_at(_: Time) -> Ordered {
        Ordered::default()
    }
    fn push(&mut self, at: Time, source: Source) {
        self.0.insert((at, source));
    }
    fn pop_before(&mut self, until: Time) -> Option<(Time, Source)> {
        let next = *self.0.first()?;
        if next.0 >= until {
            return None;
        }
        self.0.pop_first()
    }
    fn next(&self) -> Option<Time> {
        self.0.first().map(|&(at, _)| at)
    }
}

/// A 4-ary heap of packed keys: time since `base` above the source, in one `u64`.
///
/// 48 bits of picoseconds are 281 s, so the base moves along with time; what lies beyond its reach waits aside.
#[derive(Debug)]
pub struct Heap4 {
    /// The first `len` are the heap; the others are [`NONE`], and there are always enough of them to fill up the last
    /// group of children, so that every group is compared whole.
    keys: Vec<u64>,
    len: usize,
    /// Whether the first key has been taken and still lies there: most events push one, which then takes its place.
    is_taken: bool,
    base: Time,
    /// Time of the event taken last, since `base`: the base may move up to here.
    taken: u64,
    /// Events at or after `base + REACH`.
    far: BTreeSet<(Time, Source)>,
}

const SOURCE_BITS: u32 = Source::BITS;
const SOURCE_MASK: u64 = Source::MAX as u64;
const REACH: Dur = Dur(1 << (u64::BITS - SOURCE_BITS));
/// Children of a node.
const ARITY: usize = 4;
/// No event: after every event.
const NONE: u64 = u64::MAX;

#[inline]
fn pack(since_base: u64, source: Source) -> u64 {
    since_base << SOURCE_BITS | u64::from(source)
}

#[inline]
fn source_of(key: u64) -> Source {
    Source::try_from(key & SOURCE_MASK).unwrap_or(Source::MAX)
}

impl EventQueue for Heap4 {
    fn starting_at(start: Time) -> Heap4 {
        let keys = vec![NONE; 64];
        Heap4 { keys, len: 0, is_taken: false, base: start, taken: 0, far: BTreeSet::new() }
    }

    #[inline]
    fn push(&mut self, at: Time, source: Source) {
        debug_assert!(at.0 >= self.base.0 + self.taken, "an event before the one taken last");
        let since_base = at.0 - self.base.0;
        if since_base >= REACH.0 {
            return self.push_far(at, source);
        }
        let key = pack(since_base, source);
        if core::mem::take(&mut self.is_taken) {
            self.sink(key);
        } else {
            self.sift_up(key);
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, until: Time) -> Option<(Time, Source)> {
        if core::mem::take(&mut self.is_taken) {
            self.remove_first();
        }
        let first = self.keys.first().copied().unwrap_or(NONE);
        if first == NONE {
            return self.pop_far(until);
        }
        let since_base = first >> SOURCE_BITS;
        let at = Time(self.base.0 + since_base);
        if at >= until {
            return None;
        }
        self.taken = since_base;
        self.is_taken = true;
        Some((at, source_of(first)))
    }

    fn next(&self) -> Option<Time> {
        let near = if self.is_taken { &self.keys[1..=ARITY] } else { &self.keys[..1] };
        let near = near.iter().min().filter(|&&key| key != NONE);
        let near = near.map(|key| Time(self.base.0 + (key >> SOURCE_BITS)));
        near.or_else(|| self.far.first().map(|&(at, _)| at))
    }
}

impl Heap4 {
    #[cold]
    #[inline(never)]
    fn push_far(&mut self, at: Time, source: Source) {
        self.far.insert((at, source));
        self.rebase(Time(self.base.0 + self.taken));
    }

    #[cold]
    #[inline(never)]
    fn pop_far(&mut self, until: Time) -> Option<(Time, Source)> {
        let &(at, _) = self.far.first()?;
        if at >= until {
            return None;
        }
        self.rebase(at);
        self.pop_before(until)
    }

    /// Moves the base to `base`, at or before every pending and coming event, and lets in what it now reaches.
    /// Subtracting the same from every key leaves the heap in order.
    fn rebase(&mut self, base: Time) {
        let by = base.0 - self.base.0;
        for key in &mut self.keys[..self.len] {
            *key -= by << SOURCE_BITS;
        }
        self.base = base;
        self.taken = self.taken.saturating_sub(by);
        while let Some(&(at, source)) = self.far.first()
            && at.0 - base.0 < REACH.0
        {
            self.far.pop_first();
            self.sift_up(pack(at.0 - base.0, source));
        }
    }

    #[inline]
    fn sift_up(&mut self, key: u64) {
        let mut hole = self.len;
        self.len += 1;
        if self.len + ARITY > self.keys.len() {
            self.grow();
        }
        let keys = self.keys.as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            let above = keys[parent];
            if above <= key {
                break;
            }
            keys[hole] = above;
            hole = parent;
        }
        keys[hole] = key;
    }

    /// Takes out the first key: the last one takes its place.
    #[inline]
    fn remove_first(&mut self) {
        self.len -= 1;
        let last = core::mem::replace(&mut self.keys[self.len], NONE);
        if self.len > 0 {
            self.sink(last);
        }
    }

    /// Puts a key in the first one's place, from where it sinks to its own.
    #[inline]
    fn sink(&mut self, key: u64) {
        let len = self.len;
        let keys = self.keys.as_mut_slice();
        let mut hole = 0;
        let mut children = 1;
        while children < len {
            let Some(&[a, b, c, d]) = keys[children..].first_chunk() else { break };
            let least = a.min(b).min(c.min(d));
            if least >= key {
                break;
            }
            keys[hole] = least;
            let below_c = if least == c { 2 } else { 3 };
            let below_b = if least == b { 1 } else { below_c };
            hole = children + if least == a { 0 } else { below_b };
            children = hole * ARITY + 1;
        }
        keys[hole] = key;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.keys.resize(self.keys.len() * 2, NONE);
    }
}

#[cfg(test)]
mod tests;
