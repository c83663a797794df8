//! The pools: counters over one memory. A frame counts in one at ingress and in one at egress (systems.md A1).

use super::charges::Queue;

/// What is charged to one pool, and the most that ever was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pool {
    used: u64,
    peak: u64,
}

impl Pool {
    /// Bytes charged to it.
    #[inline]
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// The most bytes since the watermarks were cleared.
    pub const fn peak(&self) -> u64 {
        self.peak
    }

    /// A new peak is rare, so it is branched for, here and in what groups and queues hold.
    #[inline]
    pub(super) const fn charge(&mut self, bytes: u64) {
        self.used += bytes;
        if self.used > self.peak {
            self.peak = self.used;
        }
    }

    #[inline]
    pub(super) const fn free(&mut self, bytes: u64) {
        self.used -= bytes;
    }

    /// As if it had been charged and freed at once.
    #[inline]
    pub(super) const fn pass(&mut self, bytes: u64) {
        if self.used + bytes > self.peak {
            self.peak = self.used + bytes;
        }
    }

    /// What both have; the peak of each by itself.
    const fn with(self, other: Pool) -> Pool {
        Pool { used: self.used + other.used, peak: self.peak + other.peak }
    }

    /// Its peak is what is charged to it now.
    pub(super) const fn clear(&mut self) {
        self.peak = self.used;
    }
}

/// All of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pools {
    /// `ingress_lossless_pool`: the shared parts of lossless groups, and all lossy frames.
    pub ingress: Pool,
    /// `egress_lossless_pool`: all lossless frames. It limits nothing.
    pub egress_lossless: Pool,
    /// `egress_lossy_pool`: all lossy frames.
    pub egress_lossy: Pool,
    /// The headroom of all groups together.
    pub headroom: Pool,
}

impl Pools {
    /// Those of two memories together.
    #[must_use]
    pub const fn with(self, other: &Pools) -> Pools {
        Pools {
            ingress: self.ingress.with(other.ingress),
            egress_lossless: self.egress_lossless.with(other.egress_lossless),
            egress_lossy: self.egress_lossy.with(other.egress_lossy),
            headroom: self.headroom.with(other.headroom),
        }
    }

    /// A lossy frame leaves: what its queue has in headroom goes first.
    #[inline]
    pub(super) fn release_lossy(&mut self, queue: &mut Queue, size: u32) {
        let from_headroom = queue.headroom.min(size);
        queue.headroom -= from_headroom;
        let rest = u64::from(size - from_headroom);
        self.headroom.free(u64::from(from_headroom));
        self.egress_lossy.free(rest);
        self.ingress.free(rest);
    }

    pub(super) const fn clear(&mut self) {
        self.ingress.clear();
        self.egress_lossless.clear();
        self.egress_lossy.clear();
        self.headroom.clear();
    }
}
