//! Limits of virtual output queues: everything of one class that waits for one port counts together, whatever port it came
//! in by (LosslessVoq of sai_qos_tests.py: two sources into one queue make the device send XOFF at half its threshold
//! each).
//!
//! The reserve and the limit are the queue's. A frame that would bring its queue beyond its limit, and each one after it
//! until the queue has fallen back, goes to the headroom of the group that it came in by, and its sender is told to pause.
//! A sender is told to go on when no queue that it was told about is over any more (XonHysteresisTest: to free a third
//! party is not enough).
//!
//! What a frame leaves behind when it goes is given to what its queue has in headroom, its own sender's first, then that
//! of the others in the order of the ports: the queue as a whole empties its headroom first, as a group does.
//!
//! Left out: a limit of the port as a whole, credits between egress and ingress, memory beside the chip that is slower than
//! the ports. What a group shows as its share of the pool counts what is reserved for its queues.

use super::limit::off_by;
use super::{Admission, Buffer, Config, Crossing, Limit, Place};
use crate::model::packet::{CLASSES, slot};
use core::array;

/// All queues, and what every ingress port has in each.
#[derive(Debug, Clone)]
pub(super) struct Voqs {
    queues: Vec<[Voq; CLASSES]>,
    /// By queue, then by ingress port.
    parts: Vec<Part>,
    ports: usize,
}

/// What is charged to one queue.
#[derive(Debug, Clone, Copy)]
struct Voq {
    /// Reserved and shared part.
    used: u32,
    /// In the headroom of all groups that feed it.
    headroom: u32,
    /// Senders that were told to pause because of it.
    told: u32,
    limit: Limit,
    /// How far that lies off, and beyond it where the queue is to go on.
    off: [i32; 2],
}

/// What one ingress port has in one queue.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    headroom: u32,
    /// Whether its sender was told to pause because of this queue.
    told: bool,
}

impl Voqs {
    pub(super) fn new(config: &Config, ports: usize) -> Voqs {
        let empty = |index| Voq {
            used: 0,
            headroom: 0,
            told: 0,
            limit: config.group,
            off: [config.off(*b"mmu-voq.", index), config.off(*b"mmu-voqx", index)],
        };
        let queues = |port| array::from_fn(|class| empty(port * CLASSES + class));
        Voqs {
            queues: (0..ports).map(queues).collect(),
            parts: vec![Part::default(); ports * ports * CLASSES],
            ports,
        }
    }

    fn queue(&mut self, to: usize, class: u8) -> &mut Voq {
        &mut self.queues[to][slot(class)]
    }

    fn part(&mut self, from: usize, to: usize, class: u8) -> &mut Part {
        &mut self.parts[(to * CLASSES + slot(class)) * self.ports + from]
    }

    /// Takes up to `size` out of what one port has in the headroom for one queue; how much that was.
    fn leave_headroom(&mut self, from: usize, to: usize, class: u8, size: u32) -> u32 {
        let part = self.part(from, to, class);
        let left = part.headroom.min(size);
        part.headroom -= left;
        self.queue(to, class).headroom -= left;
        left
    }

    pub(super) fn set_limit(&mut self, to: usize, class: u8, limit: Limit) {
        self.queue(to, class).limit = limit;
    }

    /// Forgets that a sender was told about a queue; whether it was.
    fn forget(&mut self, from: usize, to: usize, class: u8) -> bool {
        let was_told = core::mem::take(&mut self.part(from, to, class).told);
        self.queue(to, class).told -= u32::from(was_told);
        was_told
    }

    fn is_told(&self, from: usize, class: u8) -> bool {
        let part = |to| &self.parts[(to * CLASSES + slot(class)) * self.ports + from];
        (0..self.ports).any(|to| part(to).told)
    }
}

impl Voq {
    const fn share(&self, reserved: u32) -> u64 {
        self.used.saturating_sub(reserved) as u64
    }

    fn limit_at(&self, left: u64) -> u64 {
        off_by(self.limit.of(left), self.off[0])
    }

    fn resumes(&self, config: &Config, left: u64) -> bool {
        let falling = self.limit_at(left).saturating_sub(config.xon_offset);
        let xon = off_by(falling.max(config.xon), self.off[1]);
        self.headroom == 0 && self.share(config.reserved) <= xon
    }
}

impl Buffer {
    /// Takes in a lossless frame where limits are those of virtual output queues.
    #[inline(never)]
    pub(super) fn admit_voq(&mut self, place: Place) -> Admission {
        let left = self.left();
        let Buffer { config, pools, groups, queues, voqs, .. } = self;
        let Some(voqs) = voqs else { return Admission::QueueFull };
        let size = config.occupied(place.size);
        let group = &mut groups[place.from][slot(place.class)];
        let queue = voqs.queue(place.to, place.class);
        let after = Voq { used: queue.used + size, ..*queue };
        let (before, share) = (queue.share(config.reserved), after.share(config.reserved));
        let part = share - before;
        let fits = part <= left;
        let within = fits && share <= queue.limit_at(left - part);
        let over = !within || queue.headroom != 0;
        // The crossing frame goes to the pool once: the queue was within its limit when it arrived.
        let crosses = fits && queue.headroom == 0 && before <= queue.limit_at(left);
        if within || (crosses && config.crossing == Crossing::Shared) {
            queue.used = after.used;
            group.take(size, 0);
            pools.ingress.charge(part);
        } else if config.has_headroom(
            group.headroom,
            size,
            pools.headroom.used(),
            group.off.headroom,
        ) {
            queue.headroom += size;
            voqs.part(place.from, place.to, place.class).headroom += size;
            group.take_headroom(size);
            pools.headroom.charge(u64::from(size));
        } else {
            return Admission::GroupFull;
        }
        queues[place.to][slot(place.class)].take(size);
        pools.egress_lossless.charge(u64::from(size));
        if over { Admission::Over } else { Admission::Within }
    }

    /// Lets go of such a frame.
    #[inline(never)]
    pub(super) fn release_voq(&mut self, place: Place) {
        let Buffer { config, pools, groups, voqs, .. } = self;
        let Some(voqs) = voqs else { return };
        let Place { from, to, class, .. } = place;
        let size = config.occupied(place.size);
        pools.egress_lossless.free(u64::from(size));
        let own = voqs.leave_headroom(from, to, class, size);
        groups[from][slot(class)].headroom -= own;
        groups[from][slot(class)].used -= size - own;
        let mut rest = size - own;
        for other in (0..voqs.ports).filter(|&other| other != from) {
            if rest == 0 || voqs.queue(to, class).headroom == 0 {
                break;
            }
            // What stood in headroom takes the place of what leaves.
            let moved = voqs.leave_headroom(other, to, class, rest);
            groups[other][slot(class)].headroom -= moved;
            groups[other][slot(class)].take(moved, 0);
            rest -= moved;
        }
        if !config.faults.shared_headroom_not_released {
            pools.headroom.free(u64::from(size - rest));
        }
        let queue = voqs.queue(to, class);
        pools.ingress.free(queue.share(config.reserved).min(rest.into()));
        queue.used -= rest;
    }

    /// Notes that the sender of a frame was told to pause because of the queue that the frame goes to.
    pub fn tell(&mut self, place: Place) {
        if let Some(voqs) = &mut self.voqs {
            let part = voqs.part(place.from, place.to, place.class);
            if !core::mem::replace(&mut part.told, true) {
                voqs.queue(place.to, place.class).told += 1;
            }
        }
    }

    /// Whether a frame that is refused leaves something behind it whose leaving would tell its sender to go on.
    pub(in crate::model) fn will_relieve(&self, place: Place) -> bool {
        match &self.voqs {
            Some(voqs) => {
                let queue = &voqs.queues[place.to][slot(place.class)];
                queue.used != 0 || queue.headroom != 0
            }
            None => self.holds(place.from, place.class),
        }
    }

    /// Whether limits are those of virtual output queues.
    #[inline]
    pub const fn has_voqs(&self) -> bool {
        self.voqs.is_some()
    }

    /// Ingress ports whose senders may go on because the frame at `place` has left: those that were told about its queue, once
    /// it has fallen back, and about no other that has not.
    #[inline(never)]
    pub fn resumed(&mut self, place: Place) -> Vec<usize> {
        let left = self.left();
        let Buffer { config, voqs: Some(voqs), .. } = self else { return Vec::new() };
        let Place { from, to, class, .. } = place;
        if !voqs.queue(to, class).resumes(config, left) {
            return Vec::new();
        }
        if config.faults.xon_of_any_queue && voqs.is_told(from, class) {
            (0..voqs.ports).for_each(|to| _ = voqs.forget(from, to, class));
            return vec![from];
        }
        let mut resumed = Vec::new();
        for from in 0..voqs.ports {
            if voqs.queue(to, class).told == 0 {
                break;
            }
            if voqs.forget(from, to, class) && !voqs.is_told(from, class) {
                resumed.push(from);
            }
        }
        resumed
    }
}
