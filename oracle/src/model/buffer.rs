//! The packet buffer of a switch: admission and release (sonic.md section 3.5, formula F4).
//!
//! A lossless frame is charged to its ingress priority group: first to what is reserved for the group, then to the
//! shared pool as long as the group stays within its limit, then to the group's headroom; it is lost only when that is
//! full too. A lossy frame is charged to the shared pool and lost when its egress queue would pass its own limit.
//! A dynamic limit is 2^k times what is left of the pool at that moment.
//!
//! Left out: reserved space of lossy queues, a headroom pool shared by groups, per-port limits.

use super::packet::{CLASSES, slot};

/// How much of the pool one group or queue may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// 2^k times what is left of the pool.
    Dynamic(i8),
    /// So many bytes.
    Static(u64),
}

impl Limit {
    #[inline]
    fn of(self, left: u64) -> u64 {
        match self {
            Limit::Dynamic(k) if k >= 0 => left << k,
            Limit::Dynamic(k) => left >> k.unsigned_abs(),
            Limit::Static(bytes) => bytes,
        }
    }
}

/// Thresholds of the buffer, the same on every port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The shared pool in bytes, without what is reserved and without headroom.
    pub pool: u64,
    /// Unit of allocation in bytes; a frame takes whole cells.
    pub cell: u32,
    /// Bit `g` is set when priority group `g` is lossless.
    pub lossless: u8,
    /// Bytes a lossless group has for itself.
    pub reserved: u32,
    /// Limit of a lossless group's share of the pool.
    pub group: Limit,
    /// XON at a share of at most `max(xon, limit - xon_offset)`, the limit taken at that moment.
    pub xon: u64,
    /// See `xon`.
    pub xon_offset: u64,
    /// Bytes of headroom of a lossless group.
    pub headroom: u32,
    /// Limit of a lossy queue's share of the pool.
    pub queue: Limit,
}

/// What became of an arriving frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is in, and its group is within its limit.
    Within,
    /// It is in, and its group is at or over its limit: the sender should pause.
    Over,
    /// Its group's headroom is full.
    GroupFull,
    /// Its queue is at its limit.
    QueueFull,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    /// Reserved and shared part.
    used: u32,
    headroom: u32,
    peak: u32,
    limit: Limit,
}

#[derive(Debug, Clone, Copy)]
struct Queue {
    used: u64,
    peak: u64,
    limit: Limit,
}

/// Charges of every group and queue.
#[derive(Debug, Clone)]
pub struct Buffer {
    config: Config,
    shared: u64,
    groups: Vec<[Group; CLASSES]>,
    queues: Vec<[Queue; CLASSES]>,
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
        let group = Group { used: 0, headroom: 0, peak: 0, limit: config.group };
        let queue = Queue { used: 0, peak: 0, limit: config.queue };
        Buffer {
            config: *config,
            shared: 0,
            groups: vec![[group; CLASSES]; ports],
            queues: vec![[queue; CLASSES]; ports],
        }
    }

    /// What a frame of `size` bytes takes.
    #[inline]
    fn occupied(&self, size: u16) -> u32 {
        match (u32::from(size), self.config.cell) {
            (size, 0 | 1) => size,
            (size, cell) => size.div_ceil(cell) * cell,
        }
    }

    #[inline]
    const fn is_lossless(&self, group: u8) -> bool {
        self.config.lossless & (1 << (group & 7)) != 0
    }

    #[inline]
    const fn left(&self) -> u64 {
        self.config.pool.saturating_sub(self.shared)
    }

    /// Whether the frame would stay within what is reserved for its group, so that taking it in and letting it go at
    /// once changes nothing. Counts it as if that had been done.
    #[inline(always)]
    pub fn passes(&mut self, place: Place) -> bool {
        let size = self.occupied(place.size);
        let group = &mut self.groups[place.from][slot(place.class)];
        let used = group.used + size;
        if self.config.lossless & (1 << (place.class & 7)) == 0
            || group.headroom != 0
            || used > self.config.reserved
        {
            return false;
        }
        group.peak = group.peak.max(used);
        let queue = &mut self.queues[place.to][slot(place.class)];
        queue.peak = queue.peak.max(queue.used + u64::from(size));
        true
    }

    /// Takes in a frame.
    #[inline(always)]
    pub fn admit(&mut self, place: Place) -> Admission {
        let size = self.occupied(place.size);
        let left = self.left();
        let mut admission = Admission::Within;
        if self.is_lossless(place.class) {
            let reserved = self.config.reserved;
            let group = &mut self.groups[place.from][slot(place.class)];
            let used = group.used + size;
            if used <= reserved {
                group.used = used;
            } else if u64::from(used - reserved) <= group.limit.of(left) {
                group.used = used;
                self.shared += u64::from(size.min(used - reserved));
            } else if group.headroom + size <= self.config.headroom {
                group.headroom += size;
            } else {
                return Admission::GroupFull;
            }
            group.peak = group.peak.max(group.used + group.headroom);
            let share = u64::from(group.used.saturating_sub(reserved));
            let limit = group.limit.of(self.config.pool.saturating_sub(self.shared));
            if group.headroom > 0 || (share > 0 && share >= limit) {
                admission = Admission::Over;
            }
        }
        let lossless = self.is_lossless(place.class);
        let queue = &mut self.queues[place.to][slot(place.class)];
        let used = queue.used + u64::from(size);
        if !lossless {
            if used > queue.limit.of(left) || u64::from(size) > left {
                return Admission::QueueFull;
            }
            self.shared += u64::from(size);
        }
        queue.used = used;
        queue.peak = queue.peak.max(used);
        admission
    }

    /// Lets go of a frame that was taken in: headroom first, then the shared part, then what is reserved.
    #[inline(always)]
    pub fn release(&mut self, place: Place) {
        let size = self.occupied(place.size);
        self.queues[place.to][slot(place.class)].used -= u64::from(size);
        if !self.is_lossless(place.class) {
            self.shared -= u64::from(size);
            return;
        }
        let group = &mut self.groups[place.from][slot(place.class)];
        let from_headroom = group.headroom.min(size);
        group.headroom -= from_headroom;
        let rest = size - from_headroom;
        self.shared -= u64::from(rest.min(group.used.saturating_sub(self.config.reserved)));
        group.used -= rest;
    }

    /// Whether a paused sender into this group may go on.
    pub fn resumes(&self, from: usize, group: u8) -> bool {
        let group = &self.groups[from][slot(group)];
        let share = u64::from(group.used.saturating_sub(self.config.reserved));
        let limit = group.limit.of(self.left());
        group.headroom == 0
            && share <= self.config.xon.max(limit.saturating_sub(self.config.xon_offset))
    }

    /// Changes the limit of one priority group from now on.
    pub fn set_group_limit(&mut self, port: usize, group: u8, limit: Limit) {
        self.groups[port][slot(group)].limit = limit;
    }

    /// Bytes in a queue, whole cells counted.
    pub fn queued(&self, port: usize, queue: u8) -> u64 {
        self.queues[port][slot(queue)].used
    }

    /// The most there ever was in a queue.
    pub fn queue_peak(&self, port: usize, queue: u8) -> u64 {
        self.queues[port][slot(queue)].peak
    }

    /// Bytes charged to a group: those in its headroom, and the others.
    pub fn held(&self, port: usize, group: u8) -> (u64, u64) {
        let group = &self.groups[port][slot(group)];
        (group.headroom.into(), group.used.into())
    }

    /// The most there ever was charged to a group, headroom included.
    pub fn group_peak(&self, port: usize, group: u8) -> u64 {
        self.groups[port][slot(group)].peak.into()
    }

    /// Bytes taken from the pool.
    pub const fn shared(&self) -> u64 {
        self.shared
    }
}

#[cfg(test)]
mod tests;
