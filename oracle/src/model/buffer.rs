//! The packet buffer of a switch: admission and release (sonic.md section 3.5, formulas F4 and F5; systems.md A1, A6).
//!
//! A lossless frame is charged to its ingress priority group: first to what is reserved for the group, then to the
//! pool as long as the group stays within its limit, then to the group's headroom; it is lost only when that is full
//! too. A lossy frame is charged to the pool and to the lossy pool, and lost when its egress queue would pass its limit.
//!
//! A dynamic limit is 2^k times what is left of a pool once the frame is charged to it; to be at the limit is still to
//! be within it. The frame that would bring its group beyond *crosses*; from then on the group is *over* until enough
//! has left, and its sender should pause.
//!
//! With a `delay` the frames that a group took in last do not count yet at its limit (`lazy`).
//!
//! With `voqs` the limit is that of a virtual output queue instead of a group's (`voq`).
//!
//! Left out: reserved space of lossy queues, groups of lossy classes.

use super::packet::{CLASSES, slot};

mod charges;
mod config;
mod lazy;
mod limit;
mod look;
mod pools;
mod voq;

use charges::{Group, Off, Queue};
pub use config::{Config, Crossing};
use core::array;
use lazy::Lazy;
pub use limit::Limit;
use limit::off_by;
pub use pools::{Pool, Pools};
use rig_units::Time;
use voq::Voqs;

/// What became of an arriving frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is in, and its group is within its limit.
    Within,
    /// It is in, and its group is over its limit: the sender should pause.
    Over,
    /// It crossed the limit of its group, whose headroom is full: it is lost, and the sender should pause.
    GroupFull,
    /// Its queue is at its limit: it is lost.
    QueueFull,
}

/// Charges of every group, queue and pool.
#[derive(Debug, Clone)]
pub struct Buffer {
    config: Config,
    pools: Pools,
    groups: Vec<[Group; CLASSES]>,
    queues: Vec<[Queue; CLASSES]>,
    /// Where limits are those of virtual output queues.
    voqs: Option<Box<Voqs>>,
    /// Where frames do not count at once.
    lazy: Option<Box<Lazy>>,
}

/// A frame as the buffer sees it: where it came in and where it goes.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Ingress port.
    pub from: usize,
    /// Egress port.
    pub to: usize,
    /// Traffic class: its priority group at ingress and its queue at egress.
    pub class: u8,
    /// Size in bytes.
    pub size: u16,
}

impl Buffer {
    /// An empty buffer for so many ports.
    pub fn new(config: &Config, ports: usize) -> Buffer {
        let of = |name, port: usize, class| config.off(name, port * CLASSES + class);
        let groups = |port| {
            array::from_fn(|class| {
                let off = Off {
                    limit: of(*b"mmu-lim.", port, class),
                    xon: of(*b"mmu-xon.", port, class),
                    headroom: of(*b"mmu-head", port, class),
                };
                Group::new(config.group, off)
            })
        };
        let queues =
            |port| array::from_fn(|class| Queue::new(config.queue, of(*b"mmu-queu", port, class)));
        Buffer {
            config: *config,
            pools: Pools::default(),
            groups: (0..ports).map(groups).collect(),
            queues: (0..ports).map(queues).collect(),
            voqs: config.voqs.then(|| Box::new(Voqs::new(config, ports))),
            lazy: Lazy::of(config, ports).map(Box::new),
        }
    }

    /// Whatever is taken in from now on comes at `now`.
    #[inline]
    pub(super) fn at(&mut self, now: Time) {
        if let Some(lazy) = &mut self.lazy {
            lazy.at(now);
        }
    }

    /// What is left of the ingress pool.
    #[inline]
    const fn left(&self) -> u64 {
        self.config.pool.saturating_sub(self.pools.ingress.used())
    }

    /// What the lossless groups of a port share, where that matters.
    #[inline]
    fn port_share(&self, from: usize) -> u64 {
        if self.config.port.is_none() { 0 } else { self.sum_of_shares(from) }
    }

    #[cold]
    fn sum_of_shares(&self, from: usize) -> u64 {
        let reserved = self.config.reserved;
        self.groups[from].iter().map(|group| u64::from(group.share(reserved))).sum()
    }

    /// Whether the frame would stay within what is reserved for its group, so that taking it in and letting it go at
    /// once changes nothing. Counts it as if that had been done.
    #[inline(always)]
    pub fn passes(&mut self, place: Place) -> bool {
        let size = self.config.occupied(place.size);
        let group = &self.groups[place.from][slot(place.class)];
        if !self.config.is_lossless(place.class)
            || self.config.voqs
            || group.headroom != 0
            || group.used + size > self.config.reserved
        {
            return false;
        }
        self.pools.egress_lossless.pass(u64::from(size));
        self.queues[place.to][slot(place.class)].pass(size);
        true
    }

    /// Takes in a frame.
    #[inline(always)]
    pub fn admit(&mut self, place: Place) -> Admission {
        match (self.config.is_lossless(place.class), self.config.voqs) {
            (true, false) => self.admit_lossless(place),
            (true, true) => self.admit_voq(place),
            (false, _) => self.admit_lossy(place),
        }
    }

    #[inline(always)]
    fn admit_lossless(&mut self, place: Place) -> Admission {
        let port_share = self.port_share(place.from);
        let left = self.left();
        let Buffer { config, pools, groups, queues, lazy, .. } = self;
        let size = config.occupied(place.size);
        let uncounted = lazy.as_mut().map_or(0, |lazy| lazy.uncounted(place));
        let group = &mut groups[place.from][slot(place.class)];
        let before = u64::from(group.share(config.reserved));
        let share = u64::from((group.used + size).saturating_sub(config.reserved));
        let part = share - before;
        let fits = part <= left;
        let limit = |left, port| off_by(config.limit(group.limit, left, port), group.off.limit);
        let counted = |share: u64| share.saturating_sub(uncounted);
        let within = fits && counted(share) <= limit(left - part, port_share + part);
        let over = !within || group.headroom != 0;
        // The crossing frame goes to the pool once: the group was within its limit when it arrived.
        let pooled = within
            || (config.crossing == Crossing::Shared
                && fits
                && group.headroom == 0
                && counted(before) <= limit(left, port_share));
        if pooled {
            group.take(size, config.reserved);
            pools.ingress.charge(part);
            if let Some(lazy) = lazy {
                lazy.took(place, part);
            }
        } else if config.has_headroom(
            group.headroom,
            size,
            pools.headroom.used(),
            group.off.headroom,
        ) {
            group.take_headroom(size);
            pools.headroom.charge(u64::from(size));
        } else {
            return Admission::GroupFull;
        }
        queues[place.to][slot(place.class)].take(size);
        pools.egress_lossless.charge(u64::from(size));
        if over { Admission::Over } else { Admission::Within }
    }

    #[inline]
    fn admit_lossy(&mut self, place: Place) -> Admission {
        let fits = self.left();
        let Buffer { config, pools, queues, .. } = self;
        let size = config.occupied(place.size);
        let bytes = u64::from(size);
        let queue = &mut queues[place.to][slot(place.class)];
        let left = config.lossy_pool.saturating_sub(pools.egress_lossy.used());
        let used = queue.used - u64::from(queue.headroom) + bytes;
        if bytes <= left && bytes <= fits && used <= off_by(queue.limit.of(left - bytes), queue.off)
        {
            pools.ingress.charge(bytes);
            pools.egress_lossy.charge(bytes);
        } else if config.faults.lossy_uses_headroom
            && config.has_headroom(queue.headroom, size, pools.headroom.used(), 0)
        {
            queue.headroom += size;
            pools.headroom.charge(bytes);
        } else {
            return Admission::QueueFull;
        }
        queue.take(size);
        Admission::Within
    }

    /// Lets go of a frame that was taken in: headroom first, then the shared part, then what is reserved.
    #[inline(always)]
    pub fn release(&mut self, place: Place) {
        let Buffer { config, pools, groups, queues, .. } = self;
        let size = config.occupied(place.size);
        let queue = &mut queues[place.to][slot(place.class)];
        queue.used -= u64::from(size);
        queue.frames -= 1;
        if !config.is_lossless(place.class) {
            return pools.release_lossy(queue, size);
        }
        if config.voqs {
            return self.release_voq(place);
        }
        pools.egress_lossless.free(u64::from(size));
        let group = &mut groups[place.from][slot(place.class)];
        let mut rest = size;
        if group.headroom != 0 {
            let from_headroom = group.headroom.min(size);
            group.headroom -= from_headroom;
            rest -= from_headroom;
            if !config.faults.shared_headroom_not_released {
                pools.headroom.free(u64::from(from_headroom));
            }
        }
        pools.ingress.free(u64::from(rest.min(group.share(config.reserved))));
        group.used -= rest;
    }

    /// A frame was dropped that never was taken in.
    #[cold]
    pub(super) fn lose(&mut self, place: Place) {
        if self.config.faults.drop_leaks_buffer && self.config.is_lossless(place.class) {
            let size = u64::from(self.config.occupied(place.size));
            self.pools.ingress.charge(size.min(self.left()));
        }
    }

    /// Whether a paused sender into this group may go on.
    #[inline]
    pub fn resumes(&self, from: usize, group: u8) -> bool {
        let group = &self.groups[from][slot(group)];
        if group.headroom != 0 {
            return false;
        }
        let limit = self.config.limit(group.limit, self.left(), self.port_share(from));
        let limit = off_by(limit, group.off.limit);
        let xon = self.config.xon.max(limit.saturating_sub(self.config.xon_offset));
        u64::from(group.share(self.config.reserved)) <= off_by(xon, group.off.xon)
    }

    /// Changes the limit of one priority group, or virtual output queue, of a port from now on.
    pub fn set_group_limit(&mut self, port: usize, group: u8, limit: Limit) {
        if let Some(voqs) = &mut self.voqs {
            voqs.set_limit(port, group, limit);
        }
        self.groups[port][slot(group)].limit = limit;
    }

    /// Makes every watermark what is in use now.
    pub fn clear_watermarks(&mut self) {
        if self.config.faults.watermark_not_cleared {
            return;
        }
        let reserved = if self.config.voqs { 0 } else { self.config.reserved };
        self.groups.iter_mut().flatten().for_each(|group| group.clear(reserved));
        self.queues.iter_mut().flatten().for_each(Queue::clear);
        if self.config.faults.watermark_forgets_level {
            self.queues.iter_mut().flatten().for_each(|queue| queue.peak = 0);
            for group in self.groups.iter_mut().flatten() {
                (group.share_peak, group.headroom_peak) = (0, 0);
            }
        }
        self.pools.clear();
    }
}

#[cfg(test)]
mod tests;
