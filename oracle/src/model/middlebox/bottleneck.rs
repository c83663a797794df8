//! The slow part of the way to one of two NICs: one queue, first in first out, that marks by its depth.
//!
//! Each frame takes the time that it would take on a wire of that speed, preamble and gap counted. It is marked when it comes, by
//! what waits before it (Zhu et al., SIGCOMM'15, section 3: the congestion point), if it is data and ECN-capable. What does not fit
//! into the buffer is lost. When a frame leaves is known when it comes, so a queue needs no event of its own.
//!
//! Left out: early drops of what is not ECN-capable, and classes: everything that goes that way is in the one queue.

use crate::model::chance;
use crate::model::packet::{Packet, PacketKind};
use crate::model::wred::Curve;
use rig_testcases::Bottleneck as Config;
use rig_units::{Bytes, PortSpeed, Ppm, Time};
use std::collections::VecDeque;

/// The queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bottleneck {
    speed: PortSpeed,
    curve: Curve,
    buffer: u64,
    /// What waits: when each of it begins to leave, and its bytes.
    waiting: VecDeque<(Time, u64)>,
    depth: u64,
    /// When what has come has left.
    free: Time,
    /// Common to its draws.
    stream: u64,
    draws: u64,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It leaves.
    Leaves {
        /// When its first bit does.
        at: Time,
        /// Whether it is marked.
        marked: bool,
    },
    /// There is no room for it.
    Full,
}

impl Bottleneck {
    /// Empty at `began`. Its draws are those of `seed` and of that instant.
    pub(super) fn new<Port>(began: Time, config: &Config<Port>, seed: u64) -> Bottleneck {
        let rig_lab::Curve { kmin, kmax, pmax } = config.curve;
        Bottleneck {
            speed: config.speed,
            curve: Curve { kmin: kmin.0, kmax: kmax.0, pmax },
            buffer: config.buffer.0,
            waiting: VecDeque::new(),
            depth: 0,
            free: Time::ZERO,
            stream: chance::draw(chance::stream(seed, *b"narrowed"), began.0),
            draws: 0,
        }
    }

    /// When a frame that comes at `now` begins to leave, if there is room for it.
    pub(super) fn begins(&self, now: Time) -> Time {
        now.max(self.free)
    }

    /// Takes in a frame that comes at `now`, if there is room.
    pub(super) fn take(&mut self, now: Time, packet: &Packet) -> Fate {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(begins, _)| *begins <= now) {
            self.depth -= bytes;
        }
        let bytes = u64::from(packet.size);
        if self.depth + bytes > self.buffer {
            return Fate::Full;
        }
        let marked = packet.kind == PacketKind::Data && packet.ect() && self.marks();
        let at = self.begins(now);
        self.free = at + self.speed.slot(Bytes(bytes));
        if at > now {
            self.waiting.push_back((at, bytes));
            self.depth += bytes;
        }
        Fate::Leaves { at, marked }
    }

    /// Whether a frame is marked that finds the queue as it is. Draws are made only where chance decides.
    fn marks(&mut self) -> bool {
        let chance = self.curve.chance(self.depth, false, Ppm(0));
        chance.certain().unwrap_or_else(|| {
            let index = self.draws;
            self.draws += 1;
            chance.hit(chance::draw(self.stream, index))
        })
    }
}

#[cfg(test)]
mod tests;
