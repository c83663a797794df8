//! Thresholds of a buffer, and how the buffer may depart from them.

use super::limit::{Limit, scaled};
use crate::model::chance;
use rig_lab::BufferFaults;
use rig_units::Within;

/// Thresholds of the buffer, the same on every port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The ingress pool in bytes, without what is reserved and without headroom.
    pub pool: u64,
    /// What lossy frames may take of it.
    pub lossy_pool: u64,
    /// Unit of allocation in bytes; a frame takes whole cells. 0 and 1 mean bytes.
    pub cell: u32,
    /// Bytes stored with each frame.
    pub descriptor: u32,
    /// Bit `g` is set when priority group `g` is lossless.
    pub lossless: u8,
    /// Bytes a lossless group has for itself.
    pub reserved: u32,
    /// Limit of a lossless group's share of the pool.
    pub group: Limit,
    /// The lossless groups of a port together get 2^p times what is left of the pool, and `group` is taken of what is
    /// left of that.
    pub port: Option<i8>,
    /// XON at a share of at most `max(xon, limit - xon_offset)`, the limit taken at that moment.
    pub xon: u64,
    /// See `xon`.
    pub xon_offset: u64,
    /// Bytes of headroom of a lossless group.
    pub headroom: u32,
    /// Bytes of headroom of all groups together; without it each has its own.
    pub headroom_pool: Option<u64>,
    /// By how many bytes each limit and each headroom may lie off, either way.
    pub margin: u32,
    /// How long a frame that came in does not count yet at the limit of its group: any of these, always the same.
    pub delay: Within,
    /// What those follow from.
    pub seed: u64,
    /// Where the frame is charged that makes a group cross its limit.
    pub crossing: Crossing,
    /// Reserve and limit of lossless traffic are those of virtual output queues, not of ingress groups.
    pub voqs: bool,
    /// Limit of a lossy queue's share of the lossy pool.
    pub queue: Limit,
    /// What it does wrong.
    pub faults: BufferFaults,
}

impl Config {
    /// Gives the buffer its faults.
    pub(in crate::model) fn install(&mut self, faults: &BufferFaults) {
        self.faults = *faults;
        if faults.headroom_cap_ignored {
            let all = self.headroom_pool.map(|pool| u32::try_from(pool).unwrap_or(u32::MAX));
            self.headroom = all.unwrap_or(self.headroom);
        }
        if faults.headroom_one_cell_short {
            let cell = self.cell.max(1);
            self.headroom = self.headroom.saturating_sub(cell);
            self.headroom_pool = self.headroom_pool.map(|pool| pool.saturating_sub(cell.into()));
        }
        if faults.headroom_unused {
            self.headroom = 0;
        }
        if faults.reserved_not_counted {
            self.reserved = 0;
        }
        if faults.descriptor_not_counted {
            self.descriptor = 0;
        }
        if faults.pool_oversubscribed_twice {
            self.pool *= 2;
        }
        self.voqs &= !faults.voq_per_source;
    }

    #[inline]
    pub(super) const fn is_lossless(&self, group: u8) -> bool {
        self.lossless & (1 << (group & 7)) != 0
    }

    /// What a frame of `size` bytes takes.
    #[inline]
    pub(super) fn occupied(&self, size: u16) -> u32 {
        let size = u32::from(size) + self.descriptor;
        match self.cell {
            0 | 1 => size,
            cell => size.div_ceil(cell) * cell,
        }
    }

    /// How far one of its thresholds lies off, in bytes: another for each `name` and `index`, each of a whole number of cells as likely.
    pub(super) fn off(&self, name: [u8; 8], index: usize) -> i32 {
        let cell = self.cell.max(1);
        let most = u64::from(self.margin / cell);
        if most == 0 {
            return 0;
        }
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        let word = chance::draw(chance::stream(self.seed, name), index);
        let drawn = (u128::from(word) * u128::from(2 * most + 1)) >> 64;
        let cells = i64::try_from(drawn).unwrap_or(0) - i64::try_from(most).unwrap_or(0);
        i32::try_from(cells * i64::from(cell)).unwrap_or(0)
    }

    /// The limit of a group while `left` is left of the pool and the groups of its port share `port_share`.
    #[inline]
    pub(super) const fn limit(&self, of: Limit, left: u64, port_share: u64) -> u64 {
        match self.port {
            None => of.of(left),
            Some(p) => of.of(scaled(left, p).saturating_sub(port_share)),
        }
    }

    /// Whether `size` more goes into headroom, for a group or queue that has `held` there, while all have `all`.
    #[inline]
    pub(super) fn has_headroom(&self, held: u32, size: u32, all: u64, off: i32) -> bool {
        let fits = |pool| all + u64::from(size) <= pool;
        held + size <= self.headroom.saturating_add_signed(off)
            && self.headroom_pool.is_none_or(fits)
    }
}

/// Where the frame is charged that makes a group cross its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// To the headroom.
    Headroom,
    /// To the pool, if the group was within its limit when it arrived.
    Shared,
}
