//! What one priority group and one queue hold, and the most they held.

use super::Limit;

/// What is charged to a priority group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// Reserved and shared part.
    pub(super) used: u32,
    pub(super) headroom: u32,
    pub(super) share_peak: u32,
    pub(super) headroom_peak: u32,
    pub(super) limit: Limit,
    pub(super) off: Off,
}

/// How many bytes its thresholds lie off what is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Off {
    /// Its limit, and its XON with it.
    pub(super) limit: i32,
    /// Its XON, beyond that.
    pub(super) xon: i32,
    pub(super) headroom: i32,
}

impl Group {
    pub(super) const fn new(limit: Limit, off: Off) -> Group {
        Group { used: 0, headroom: 0, share_peak: 0, headroom_peak: 0, limit, off }
    }

    /// The part that is charged to the pool.
    #[inline]
    pub(super) const fn share(&self, reserved: u32) -> u32 {
        self.used.saturating_sub(reserved)
    }

    #[inline]
    pub(super) const fn take(&mut self, size: u32, reserved: u32) {
        self.used += size;
        if self.share(reserved) > self.share_peak {
            self.share_peak = self.share(reserved);
        }
    }

    #[inline]
    pub(super) const fn take_headroom(&mut self, size: u32) {
        self.headroom += size;
        if self.headroom > self.headroom_peak {
            self.headroom_peak = self.headroom;
        }
    }

    pub(super) const fn clear(&mut self, reserved: u32) {
        self.share_peak = self.share(reserved);
        self.headroom_peak = self.headroom;
    }
}

/// What is charged to a queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) used: u64,
    pub(super) peak: u64,
    pub(super) limit: Limit,
    /// How far its limit lies off.
    pub(super) off: i32,
    /// The part of it that is in headroom: none, in a buffer that does right.
    pub(super) headroom: u32,
    pub(super) frames: u32,
}

impl Queue {
    pub(super) const fn new(limit: Limit, off: i32) -> Queue {
        Queue { used: 0, peak: 0, limit, off, headroom: 0, frames: 0 }
    }

    #[inline]
    pub(super) fn take(&mut self, size: u32) {
        self.used += u64::from(size);
        self.frames += 1;
        if self.used > self.peak {
            self.peak = self.used;
        }
    }

    /// As if a frame had been taken in and let go at once.
    #[inline]
    pub(super) fn pass(&mut self, size: u32) {
        let used = self.used + u64::from(size);
        if used > self.peak {
            self.peak = used;
        }
    }

    pub(super) const fn clear(&mut self) {
        self.peak = self.used;
    }
}
