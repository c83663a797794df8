//! Random early detection on the queues of a switch (Floyd and Jacobson 1993; SAI's WRED object, sonic.md section 3.5).
//!
//! A frame that is to be dropped is dropped when it arrives; one that is to be marked is marked when it is taken in or when it
//! starts to leave. The depth is what the buffer has charged to the queue: whole cells, frames in the pipeline counted. A
//! moving average takes in each frame that arrives, and falls while the queue is empty as if small frames went by; or a timer has it take in the depth.
//!
//! A frame that arrives marked is ECN-capable, stays marked, and counts as marked where it would have been marked.
//!
//! Draws are made only where chance decides, and each queue of each port has its own: one for each frame, or one for each that is taken, by
//! which Floyd and Jacobson space marks out (`since`).

use super::chance;
use super::packet::{CLASSES, Packet, bit, slot};
use super::rounding::Rounding;
use rig_units::{Dur, PortSpeed, Ppm, Time};

mod average;
mod config;
mod curve;
mod since;
mod timer;

pub use average::Average;
pub use config::Config;
pub use curve::Curve;
use since::Since;
use timer::Timer;

/// What becomes of a frame that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes in as it is.
    Pass,
    /// It goes in marked.
    Mark,
    /// It goes in without the mark that it came with.
    Clear,
    /// It is dropped.
    Drop,
}

/// What early detection did in one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// `SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS`: those that came marked counted.
    pub marked: u64,
    /// `SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES`, FCS counted.
    pub marked_bytes: u64,
    /// `SAI_QUEUE_STAT_WRED_DROPPED_PACKETS`: they count among all dropped ones, too.
    pub dropped: u64,
    /// `SAI_QUEUE_STAT_WRED_DROPPED_BYTES`, FCS counted.
    pub dropped_bytes: u64,
}

/// What a frame finds in its queue, or leaves there: itself not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Depth {
    /// Bytes of whole cells.
    pub bytes: u64,
    /// In whole frames.
    pub frames: u64,
}

/// One queue.
#[derive(Debug, Clone, Copy, Default)]
struct Queue {
    average: Average,
    timer: Timer,
    /// When its last frame started to leave.
    left: Time,
    /// Common to its draws.
    stream: u64,
    draws: u64,
    since: Since,
    counts: Counts,
}

/// Early detection in all queues of a switch.
#[derive(Debug, Clone)]
pub struct Wred {
    config: Config,
    /// Which step it keeps of a chance, where it keeps steps.
    rounds: Rounding,
    /// Queues that are looked at when a frame arrives.
    arriving: u8,
    /// Queues that are looked at when a frame starts to leave.
    leaving: u8,
    /// Queues in which even a lone frame may be taken.
    idle: u8,
    /// Queues whose average goes by a timer: what they hold is looked at whenever it changes.
    timed: u8,
    /// Least depth at which a frame may be taken: below it nothing is looked at.
    floor: u64,
    queues: Vec<[Queue; CLASSES]>,
    /// How long a port takes for a small frame.
    small: Vec<Dur>,
    /// What the largest frame takes.
    largest: u64,
}

/// Frames that an idle port is taken to have let by (`s` of Floyd and Jacobson): the smallest.
const SMALL: rig_units::Bytes = rig_units::MIN_FRAME;

impl Wred {
    /// Early detection that has seen nothing yet, of ports of these speeds and frames that take up to `largest`.
    pub fn new(config: &Config, speeds: impl Iterator<Item = PortSpeed>, largest: u64) -> Wred {
        let stream = chance::stream(config.seed, *b"wredmark");
        let drawn = chance::draw(chance::stream(config.seed, *b"wredstep"), 0);
        let timers = chance::stream(config.seed, *b"wredtime");
        let queue = |number: u64| Queue {
            stream: chance::draw(stream, number),
            timer: Timer::drawn(chance::draw(timers, number)),
            ..Queue::default()
        };
        let port = |port: u64| {
            let mut queues = [Queue::default(); CLASSES];
            for (at, number) in queues.iter_mut().zip(port * 8..) {
                *at = queue(number);
            }
            queues
        };
        let small: Vec<Dur> = speeds.map(|speed| speed.slot(SMALL)).collect();
        let mut wred = Wred {
            arriving: 0,
            leaving: 0,
            idle: 0,
            timed: 0,
            floor: 0,
            queues: (0..).take(small.len()).map(port).collect(),
            small,
            largest,
            config: Config::off(),
            rounds: Rounding::of_device(drawn),
        };
        wred.set(config);
        wred
    }

    /// Goes by another configuration from the next frame on. Counts, averages and draws go on as they are.
    pub fn set(&mut self, config: &Config) {
        let config = config.in_steps(self.rounds);
        let averages = config.weight > 0;
        let lone = if config.counts_itself { self.largest } else { 0 };
        let only_if = |so: bool| if so { config.queues } else { 0 };
        self.floor = if config.is_plain() { config.floor() } else { 0 };
        self.arriving = config.queues;
        self.leaving = only_if(averages || !config.at_enqueue);
        self.timed = only_if(averages && config.average_interval.is_some());
        self.idle = only_if(self.floor <= lone || config.faults.clears_ce);
        self.config = config;
    }

    /// Whether a frame that arrives for this queue is to be looked at.
    #[inline]
    pub(crate) const fn looks_at_arrival(&self, queue: u8) -> bool {
        self.arriving & bit(queue) != 0
    }

    /// Whether a frame that starts to leave this queue is to be looked at.
    #[inline]
    pub(crate) const fn looks_at_departure(&self, queue: u8) -> bool {
        self.leaving & bit(queue) != 0
    }

    /// Whether what this queue holds is to be looked at before it changes.
    #[inline]
    pub(crate) const fn looks_at_change(&self, queue: u8) -> bool {
        self.timed & bit(queue) != 0
    }

    /// Up to `now` a queue held `held`.
    #[inline(never)]
    pub(crate) fn held(&mut self, now: Time, (port, queue): (usize, u8), held: Depth) {
        let Some(every) = self.config.average_interval else { return };
        let at = &mut self.queues[port][slot(queue)];
        let times = at.timer.ran_out(every, now);
        if held.frames > 0 || self.config.faults.average_outlives_idle.is_none() {
            at.average.take_often(self.config.weight, self.config.content(held), times);
        }
    }

    /// Queues whose lone frame cannot skip the queue.
    #[inline]
    pub(crate) const fn looks_at_lone(&self) -> u8 {
        self.idle
    }

    /// Whether nothing happens to a frame at this depth, the frame counted.
    #[inline]
    pub(crate) const fn is_shallow(&self, bytes: u64) -> bool {
        bytes < self.floor
    }

    /// Whether the depth of a queue is taken to be that of its port.
    pub(crate) const fn takes_port(&self) -> bool {
        self.config.faults.depth_of_port
    }

    /// Whether it is taken to be that of the same queue of all ports.
    pub(crate) const fn takes_class(&self) -> bool {
        self.config.faults.depth_of_class
    }

    /// What becomes of a frame that arrives at `now` and finds `found`; it takes `size`. A mark is to be
    /// [noted](Self::note_mark) once the frame is in.
    #[inline(never)]
    pub(crate) fn arrives(
        &mut self,
        now: Time,
        (port, queue): (usize, u8),
        packet: &Packet,
        found: Depth,
        size: u64,
    ) -> Fate {
        let depth = self.config.depth(found, size);
        let depth = match self.config.weight {
            0 => depth,
            weight if self.config.average_interval.is_some() => {
                self.held(now, (port, queue), found);
                self.queues[port][slot(queue)].average.depth(weight)
            }
            weight => {
                let at = &mut self.queues[port][slot(queue)];
                if found.frames == 0 && self.config.faults.average_outlives_idle.is_none() {
                    at.average.idle(weight, (now - at.left) / self.small[port]);
                }
                at.average.take(weight, depth);
                at.average.depth(weight)
            }
        };
        let color = self.config.color(packet.dscp);
        if !self.config.marks(packet, color) {
            if self.takes(self.config.drop[color], (port, queue), depth) {
                return self.dropped((port, queue), packet);
            }
            return Fate::Pass;
        }
        let curve = self.config.mark[color];
        let marks = self.config.at_enqueue && self.takes(curve, (port, queue), depth);
        if self.config.drops_hard(packet, curve, depth) {
            return self.dropped((port, queue), packet);
        }
        match (marks, self.config.faults.clears_ce && packet.ce()) {
            (true, _) => Fate::Mark,
            (false, true) => Fate::Clear,
            (false, false) => Fate::Pass,
        }
    }

    /// Counts a frame that is dropped.
    fn dropped(&mut self, (port, queue): (usize, u8), packet: &Packet) -> Fate {
        let counts = &mut self.queues[port][slot(queue)].counts;
        counts.dropped += 1;
        counts.dropped_bytes += u64::from(packet.size);
        Fate::Drop
    }

    /// Whether a frame is marked that starts to leave at `now`, takes `size` and leaves `behind` in the queue.
    #[inline(never)]
    pub(crate) fn leaves(
        &mut self,
        now: Time,
        (port, queue): (usize, u8),
        packet: &Packet,
        behind: Depth,
        size: u64,
    ) -> bool {
        let at = &mut self.queues[port][slot(queue)];
        at.left = now;
        let depth = match self.config.weight {
            0 => self.config.depth(behind, size),
            weight => at.average.depth(weight),
        };
        let color = self.config.color(packet.dscp);
        let marks = !self.config.at_enqueue
            && self.config.marks(packet, color)
            && self.takes(self.config.mark[color], (port, queue), depth);
        if marks {
            self.note_mark((port, queue), packet.size, packet.ce());
        }
        marks
    }

    /// Counts a frame that was marked; `again` if it came marked.
    pub(crate) fn note_mark(&mut self, (port, queue): (usize, u8), size: u16, again: bool) {
        if again && self.config.faults.ce_not_counted {
            return;
        }
        let counts = &mut self.queues[port][slot(queue)].counts;
        counts.marked += 1;
        counts.marked_bytes += u64::from(size);
    }

    /// What it did in one queue.
    pub fn counts(&self, port: usize, queue: u8) -> Counts {
        self.queues[port][slot(queue)].counts
    }

    /// Whether a frame at this depth is taken: by chance, where chance decides.
    fn takes(&mut self, curve: Curve, (port, queue): (usize, u8), depth: u64) -> bool {
        let faults = &self.config.faults;
        let extra = Ppm(faults.marks_too_often.unwrap_or(0) * 10_000);
        let chance = curve.chance(depth, faults.no_jump_at_kmax, extra);
        let certain = chance.certain();
        if self.config.counts_since {
            let outside = depth < curve.kmin.min(curve.kmax) || certain == Some(true);
            return self.takes_by_count((port, queue), chance, outside);
        }
        certain.unwrap_or_else(|| chance.hit(self.draw(port, queue)))
    }

    /// The same where frames are counted since the last one that was taken. What is outside of the two thresholds ends the count.
    fn takes_by_count(&mut self, at: (usize, u8), chance: curve::Chance, outside: bool) -> bool {
        let (port, queue) = at;
        if outside {
            self.queues[port][slot(queue)].since.end();
            return chance.certain() == Some(true);
        }
        let taken = self.queues[port][slot(queue)].since.takes(chance);
        if taken != Some(false) {
            let limit = self.draw(port, queue);
            self.queues[port][slot(queue)].since.begin(limit);
        }
        taken == Some(true)
    }

    /// The next draw of a queue, uniform over all numbers.
    fn draw(&mut self, port: usize, queue: u8) -> u64 {
        let faults = &self.config.faults;
        let at = &mut self.queues[port][slot(queue)];
        let index = faults.draws_correlated.map_or(at.draws, |times| at.draws / u64::from(times));
        at.draws += 1;
        let drawn_at = if faults.draws_shared_by_ports { 0 } else { port };
        chance::draw(self.queues[drawn_at][slot(queue)].stream, index)
    }
}

#[cfg(test)]
mod tests;
