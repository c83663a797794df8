//! What can be read of a buffer.

use super::{Buffer, Pools};
use crate::model::packet::slot;
use crate::model::wred::Depth;
use rig_lab::BufferFaults;

impl Buffer {
    /// Bit `g` is set when priority group `g` is lossless.
    pub(in crate::model) const fn lossless(&self) -> u8 {
        self.config.lossless
    }

    /// What goes wrong with it.
    pub(in crate::model) const fn faults(&self) -> &BufferFaults {
        &self.config.faults
    }

    /// Bytes in a queue, whole cells counted.
    pub fn queued(&self, port: usize, queue: u8) -> u64 {
        self.queues[port][slot(queue)].used
    }

    /// What the frames in a queue come to.
    pub(in crate::model) fn depth(&self, port: usize, queue: u8) -> Depth {
        let queue = &self.queues[port][slot(queue)];
        Depth { bytes: queue.used, frames: queue.frames.into() }
    }

    /// The same for all queues of a port.
    pub(in crate::model) fn depth_of_port(&self, port: usize) -> Depth {
        summed(&self.queues[port])
    }

    /// The same for that queue of all ports.
    pub(in crate::model) fn depth_of_class(&self, queue: u8) -> Depth {
        summed(self.queues.iter().map(|port| &port[slot(queue)]))
    }

    /// What a frame of `size` bytes takes.
    #[inline]
    pub(in crate::model) fn occupied(&self, size: u16) -> u64 {
        self.config.occupied(size).into()
    }

    /// The most there was in a queue since the watermarks were cleared.
    pub fn queue_peak(&self, port: usize, queue: u8) -> u64 {
        self.queues[port][slot(queue)].peak
    }

    /// Bytes charged to a group: those in its headroom, and the others.
    pub fn held(&self, port: usize, group: u8) -> (u64, u64) {
        let group = &self.groups[port][slot(group)];
        (group.headroom.into(), group.used.into())
    }

    /// Whether a group holds anything, so that something will leave it.
    pub(in crate::model) fn holds(&self, port: usize, group: u8) -> bool {
        self.held(port, group) != (0, 0)
    }

    /// The most that a group took of the pool since the watermarks were cleared.
    pub fn share_peak(&self, port: usize, group: u8) -> u64 {
        self.groups[port][slot(group)].share_peak.into()
    }

    /// The most headroom that a group used since the watermarks were cleared.
    pub fn headroom_peak(&self, port: usize, group: u8) -> u64 {
        self.groups[port][slot(group)].headroom_peak.into()
    }

    /// The pools that all groups share.
    pub const fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Bytes taken from the ingress pool.
    pub const fn shared(&self) -> u64 {
        self.pools.ingress.used()
    }
}

/// What the frames in some queues come to.
fn summed<'a>(queues: impl IntoIterator<Item = &'a super::Queue>) -> Depth {
    let sum = |sum: Depth, queue: &super::Queue| Depth {
        bytes: sum.bytes + queue.used,
        frames: sum.frames + u64::from(queue.frames),
    };
    queues.into_iter().fold(Depth::default(), sum)
}
