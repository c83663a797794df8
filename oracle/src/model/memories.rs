//! The packet memories of a switch. Most have one. Where there are several each is a buffer of its own, with an equal part of every pool, and a frame
//! takes one of them by the pipes that it comes in by and leaves by.
//!
//! A group has a part in each memory that its frames take, with the thresholds of a group: it is over as soon as one part is, and its sender may go
//! on once all parts have fallen back. The depth that early detection goes by is that of the queue in all memories.
//!
//! Left out: virtual output queues over several memories; what one memory knows of another too late.

use super::buffer::{self, Admission, Buffer, Limit, Place, Pools};
use super::wred::Depth;
use crate::model::chance;
use rig_lab::{BufferFaults, Memories};
use rig_units::Time;

/// Which memory frames take: by port, nothing where it does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryLayout {
    /// Of the port that they come in by.
    pub ingress: Vec<usize>,
    /// Of the port that they leave by.
    pub egress: Vec<usize>,
}

impl MemoryLayout {
    /// As a profile declares it, for so many ports: they are dealt to the pipes in order, as many to each.
    pub fn declared(declared: &rig_lab::Buffer, ports: usize) -> MemoryLayout {
        let dealt = |of: &Option<Memories>| {
            let pipes: Vec<usize> = match of {
                None => return Vec::new(),
                Some(Memories::Each(count)) => (0..usize::from(*count)).collect(),
                Some(Memories::Pipes(pipes)) => pipes.iter().copied().map(usize::from).collect(),
            };
            let mut all = Vec::with_capacity(ports);
            for (index, memory) in pipes.iter().enumerate() {
                // The first port of the next pipe.
                let end = ((index + 1) * ports).div_ceil(pipes.len());
                all.resize(end.max(all.len()), *memory);
            }
            all
        };
        MemoryLayout {
            ingress: dealt(&declared.ingress_memories),
            egress: dealt(&declared.egress_memories),
        }
    }

    /// How many there are on one side.
    fn sides(of: &[usize]) -> usize {
        of.iter().max().map_or(1, |last| last + 1)
    }
}

/// All memories of a switch.
#[derive(Debug, Clone)]
pub struct PacketMemories {
    first: Buffer,
    /// Apart, since few switches have more than one.
    more: Option<Box<More>>,
}

/// Those beside the first, and which of all a frame takes.
#[derive(Debug, Clone)]
struct More {
    others: Vec<Buffer>,
    layout: MemoryLayout,
    by_egress: usize,
}

impl More {
    #[cold]
    fn index(&self, place: Place, faults: &BufferFaults) -> usize {
        let side = |of: &[usize], port: usize| of.get(port).copied().unwrap_or(0);
        let from = if faults.memory_of_egress { place.to } else { place.from };
        side(&self.layout.ingress, from) * self.by_egress + side(&self.layout.egress, place.to)
    }
}

impl PacketMemories {
    /// Empty ones, of a switch with so many ports.
    pub fn new(config: &buffer::Config, layout: &MemoryLayout, ports: usize) -> PacketMemories {
        let by_egress = MemoryLayout::sides(&layout.egress);
        let count = MemoryLayout::sides(&layout.ingress) * by_egress;
        let each = u64::try_from(count).unwrap_or(u64::MAX);
        let one = |index: u64| {
            let part = buffer::Config {
                pool: config.pool / each,
                lossy_pool: config.lossy_pool / each,
                headroom_pool: config.headroom_pool.map(|pool| pool / each),
                seed: if index == 0 { config.seed } else { chance::draw(config.seed, index) },
                ..*config
            };
            Buffer::new(&part, ports)
        };
        let more =
            || More { others: (1..each).map(one).collect(), layout: layout.clone(), by_egress };
        PacketMemories { first: one(0), more: (count > 1).then(|| Box::new(more())) }
    }

    /// The one that a frame takes.
    #[inline(always)]
    fn of_mut(&mut self, place: Place) -> &mut Buffer {
        let PacketMemories { first, more } = self;
        let Some(more) = more else { return first };
        let index = more.index(place, first.faults());
        index.checked_sub(1).and_then(|index| more.others.get_mut(index)).unwrap_or(first)
    }

    #[inline]
    fn others(&self) -> &[Buffer] {
        self.more.as_ref().map_or(&[], |more| &more.others)
    }

    fn all(&self) -> impl Iterator<Item = &Buffer> {
        core::iter::once(&self.first).chain(self.others())
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Buffer> {
        let others = self.more.as_mut().map(|more| more.others.iter_mut());
        core::iter::once(&mut self.first).chain(others.into_iter().flatten())
    }

    /// Whatever a memory takes in from now on comes at `now`.
    #[inline]
    pub(super) fn at(&mut self, now: Time, place: Place) {
        self.of_mut(place).at(now);
    }

    /// See [`Buffer::passes`].
    #[inline(always)]
    pub fn passes(&mut self, place: Place) -> bool {
        self.of_mut(place).passes(place)
    }

    /// Takes in a frame.
    #[inline(always)]
    pub fn admit(&mut self, place: Place) -> Admission {
        self.of_mut(place).admit(place)
    }

    /// Lets go of a frame that was taken in.
    #[inline(always)]
    pub fn release(&mut self, place: Place) {
        self.of_mut(place).release(place);
    }

    /// A frame was dropped that never was taken in.
    #[cold]
    pub(super) fn lose(&mut self, place: Place) {
        self.of_mut(place).lose(place);
    }

    /// Whether a paused sender into this group may go on.
    #[inline]
    pub fn resumes(&self, from: usize, group: u8) -> bool {
        self.first.resumes(from, group)
            && self.others().iter().all(|other| other.resumes(from, group))
    }

    /// See [`Buffer::will_relieve`].
    pub(super) fn will_relieve(&self, place: Place) -> bool {
        self.all().any(|one| one.will_relieve(place))
    }

    /// Whether limits are those of virtual output queues.
    #[inline]
    pub const fn has_voqs(&self) -> bool {
        self.first.has_voqs()
    }

    /// See [`Buffer::tell`].
    pub fn tell(&mut self, place: Place) {
        self.of_mut(place).tell(place);
    }

    /// See [`Buffer::resumed`].
    pub fn resumed(&mut self, place: Place) -> Vec<usize> {
        self.of_mut(place).resumed(place)
    }

    /// Changes the limit of one priority group, or virtual output queue, of a port from now on.
    pub fn set_group_limit(&mut self, port: usize, group: u8, limit: Limit) {
        self.all_mut().for_each(|one| one.set_group_limit(port, group, limit));
    }

    /// Makes every watermark what is in use now.
    pub fn clear_watermarks(&mut self) {
        self.all_mut().for_each(Buffer::clear_watermarks);
    }

    /// Bit `g` is set when priority group `g` is lossless.
    pub(super) const fn lossless(&self) -> u8 {
        self.first.lossless()
    }

    /// What goes wrong with them.
    pub(super) const fn faults(&self) -> &BufferFaults {
        self.first.faults()
    }

    /// What a frame of `size` bytes takes.
    #[inline]
    pub(super) fn occupied(&self, size: u16) -> u64 {
        self.first.occupied(size)
    }

    /// What the frames in a queue come to, as far as one memory knows it.
    #[inline]
    fn depth_by(&self, told: impl Fn(&Buffer) -> Depth) -> Depth {
        let mut sum = told(&self.first);
        for other in self.others() {
            let Depth { bytes, frames } = told(other);
            sum = Depth { bytes: sum.bytes + bytes, frames: sum.frames + frames };
        }
        sum
    }

    /// What the frames in a queue come to.
    #[inline]
    pub(super) fn depth(&self, port: usize, queue: u8) -> Depth {
        self.depth_by(|one| one.depth(port, queue))
    }

    /// The same for all queues of a port.
    pub(super) fn depth_of_port(&self, port: usize) -> Depth {
        self.depth_by(|one| one.depth_of_port(port))
    }

    /// The same for that queue of all ports.
    pub(super) fn depth_of_class(&self, queue: u8) -> Depth {
        self.depth_by(|one| one.depth_of_class(queue))
    }

    /// What all memories have of something.
    #[inline]
    fn sum(&self, of: impl Fn(&Buffer) -> u64) -> u64 {
        self.all().map(of).sum()
    }

    /// Bytes in a queue, whole cells counted.
    pub fn queued(&self, port: usize, queue: u8) -> u64 {
        self.sum(|one| one.queued(port, queue))
    }

    /// The most there was in a queue since the watermarks were cleared: in each memory by itself.
    pub fn queue_peak(&self, port: usize, queue: u8) -> u64 {
        self.sum(|one| one.queue_peak(port, queue))
    }

    /// Bytes charged to a group: those in its headroom, and the others.
    pub fn held(&self, port: usize, group: u8) -> (u64, u64) {
        let both = self.all().map(|one| one.held(port, group));
        both.fold((0, 0), |sum, (headroom, rest)| (sum.0 + headroom, sum.1 + rest))
    }

    /// The most that a group took of the pools since the watermarks were cleared.
    pub fn share_peak(&self, port: usize, group: u8) -> u64 {
        self.sum(|one| one.share_peak(port, group))
    }

    /// The most headroom that a group used since the watermarks were cleared.
    pub fn headroom_peak(&self, port: usize, group: u8) -> u64 {
        self.sum(|one| one.headroom_peak(port, group))
    }

    /// The pools that all groups share.
    pub fn pools(&self) -> Pools {
        self.others().iter().fold(*self.first.pools(), |sum, other| sum.with(other.pools()))
    }

    /// Bytes taken from the ingress pools.
    pub fn shared(&self) -> u64 {
        self.sum(Buffer::shared)
    }
}

#[cfg(test)]
mod tests;
