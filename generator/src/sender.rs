//! What one rig port sends, merged to one order: streams and storms, each at its rhythm, held up by pauses and by one
//! another. Never two frames at once, and no burst of all flows together.
//!
//! Of what is due when the port is free, a storm's frame goes first, then the stream that has been due longest. While
//! its class is paused a stream stands still; afterwards it goes on at its rhythm from the instant it may, without making
//! up for what it missed. A departure is planned exactly; how late it really leaves is its sender's to report.

use crate::gate::{Gate, Obeys};
use crate::rhythm::Rhythm;
use rig_frames::pfc;
use rig_testcases::Secured;
use rig_units::{Bytes, Dur, MIN_FRAME, PortSpeed, Quanta, Time};
use std::collections::BTreeMap;

/// Who a frame belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// A stream, by its index in the script.
    Stream(u16),
    /// A storm, by its index in the script.
    Storm(u16),
    /// PFC frames sent by hand, by the order in which they were asked for.
    ByHand(u16),
}

impl Who {
    /// Whether the frames are PFC.
    pub const fn is_pfc(self) -> bool {
        matches!(self, Who::Storm(_) | Who::ByHand(_))
    }
}

/// What to send again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Whose frames.
    pub who: Who,
    /// The class whose pause stops it; `None`: nothing does.
    pub class: Option<u8>,
    /// Frame size, FCS counted.
    pub size: Bytes,
    /// When its frames are due.
    pub rhythm: Rhythm,
    /// Number of its first frame.
    pub first: u64,
    /// How many frames; `None` goes on until it is stopped.
    pub count: Option<u64>,
}

impl Job {
    /// PFC frames, which no pause stops.
    pub const fn pfc(who: Who, every: Dur, count: Option<u64>) -> Job {
        let rhythm = Rhythm::Even(rig_units::Pace::every(every));
        Job { who, class: None, size: MIN_FRAME, rhythm, first: 0, count }
    }
}

/// One frame that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Whose frame.
    pub who: Who,
    /// Its number among its sender's frames.
    pub number: u64,
    /// When its first bit is to leave.
    pub start: Time,
    /// When its last bit has left.
    pub end: Time,
    /// How MACsec protects it: known once it is in the ring of its port, since packet numbers are given as frames leave.
    pub secured: Option<Secured>,
}

/// What becomes of frames that were due while the machine stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// Those due longer ago than this are left out and counted, and the rhythm goes on at its own instants; the others are
    /// sent one right after the other.
    SkipAfter(Dur),
    /// They are sent one right after the other.
    CatchUp,
}

#[derive(Debug, Clone)]
struct Plan {
    job: Job,
    due: Time,
    sent: u64,
    skipped: u64,
}

/// The state of one port's sending.
#[derive(Debug, Clone)]
pub struct Sender {
    speed: PortSpeed,
    gate: Gate,
    stall: Stall,
    /// Nothing is planned before this instant.
    clock: Time,
    /// When the wire is free again.
    busy: Time,
    up: bool,
    plans: Vec<Plan>,
    /// Whose frame is on its way, since when, and when it was due: nothing that arrives moves it.
    under_way: Option<(Who, Time, Time)>,
    /// Frames left out by senders that have come to their end, until somebody asks.
    left_out: BTreeMap<Who, u64>,
}

impl Sender {
    /// Sends nothing yet, on a port of `speed`.
    pub fn new(speed: PortSpeed, obeys: Obeys, stall: Stall) -> Sender {
        Sender {
            speed,
            gate: Gate::new(speed, obeys),
            stall,
            clock: Time::ZERO,
            busy: Time::ZERO,
            up: true,
            plans: Vec::new(),
            under_way: None,
            left_out: BTreeMap::new(),
        }
    }

    /// The speed of its port.
    pub const fn speed(&self) -> PortSpeed {
        self.speed
    }

    /// Starts a job: its first frame is due at `now`.
    pub fn start(&mut self, now: Time, job: Job) {
        self.clock = self.clock.max(now);
        if job.count != Some(0) {
            self.plans.push(Plan { job, due: now, sent: 0, skipped: 0 });
        }
    }

    /// Stops a sender, or asks after one that has come to its end; how many of its frames were left out.
    pub fn stop(&mut self, who: Who) -> u64 {
        self.under_way.take_if(|(whose, ..)| *whose == who);
        let ended = self.left_out.remove(&who).unwrap_or(0);
        let running = self.plans.extract_if(.., |plan| plan.job.who == who);
        ended + running.map(|plan| plan.skipped).sum::<u64>()
    }

    /// Starts afresh, on a clock that starts afresh: nothing is paused and nothing is under way.
    pub fn restart(&mut self) {
        let obeys = self.gate.obeys();
        *self = Sender::new(self.speed, obeys, self.stall);
    }

    /// Stops every sender.
    pub fn stop_all(&mut self) {
        self.plans.clear();
        self.under_way = None;
        self.left_out.clear();
    }

    /// Obeys pauses otherwise from now on. Those that run go on.
    pub fn obey(&mut self, obeys: Obeys) {
        self.gate.obey(obeys);
    }

    /// Whether anything is started.
    pub fn is_idle(&self) -> bool {
        self.plans.is_empty()
    }

    /// The frame that has begun to leave before `now`, if any, is finished whatever happens to its class: its port takes
    /// its time over it, and what arrives meanwhile comes too late for it.
    pub fn begin(&mut self, now: Time) {
        if let Some((index, start, due)) = self.choose().filter(|&(_, start, _)| start < now) {
            self.under_way = Some((self.plans[index].job.who, start, due));
        }
    }

    /// Takes in a PFC frame whose last bit arrived at `at` and of which the rig knows at `now`.
    pub fn on_pfc(&mut self, at: Time, now: Time, frame: &pfc::Repr) {
        self.mind(now, |gate| gate.on_pfc(at, frame));
    }

    /// Takes in a PAUSE frame of 802.3x.
    pub fn on_pause(&mut self, at: Time, now: Time, quanta: Quanta) {
        self.mind(now, |gate| gate.on_pause(at, quanta));
    }

    /// What is held up or let go by what the rig knows only now starts no earlier than now, and is not late for that. What
    /// it leaves alone stays due when it was.
    fn mind(&mut self, now: Time, order: impl FnOnce(&mut Gate)) {
        let before = self.choose();
        order(&mut self.gate);
        if self.choose() != before {
            self.clock = self.clock.max(now);
        }
    }

    /// The link went down or came up at `now`. Nothing leaves without it; what was due starts again when it is back.
    pub fn set_up(&mut self, now: Time, up: bool) {
        self.clock = self.clock.max(now);
        self.up = up;
        self.under_way = None;
        self.gate.reset(now);
        if up {
            for plan in &mut self.plans {
                plan.due = plan.due.max(now);
            }
        }
    }

    /// How long each class was held up by pauses until `now`, the worst first.
    pub fn paused(&mut self, now: Time) -> Vec<(u8, Dur)> {
        self.gate.worst(now)
    }

    /// The next frame if nothing happens until then.
    #[inline]
    pub fn next(&self) -> Option<Departure> {
        self.choose().map(|(index, start, _)| {
            let Plan { job, sent, .. } = &self.plans[index];
            let end = start + self.speed.serialise(job.size);
            Departure { who: job.who, number: job.first + sent, start, end, secured: None }
        })
    }

    /// Index, start and due time of the next frame.
    #[inline]
    fn choose(&self) -> Option<(usize, Time, Time)> {
        if !self.up {
            return None;
        }
        if let Some((who, start, due)) = self.under_way {
            let index = self.plans.iter().position(|plan| plan.job.who == who)?;
            return Some((index, start, due));
        }
        let ready = self.busy.max(self.clock);
        let mut best: Option<(Time, bool, Time, usize)> = None;
        for (index, plan) in self.plans.iter().enumerate() {
            let due = match plan.job.class {
                Some(class) => self.gate.opens(class, plan.due),
                None => plan.due,
            };
            let start = match plan.job.class {
                // A gate may close again while the port is busy with another frame.
                Some(class) => self.gate.opens(class, due.max(ready)),
                None => due.max(ready),
            };
            // At one instant PFC goes before data, then what was due first, then what was started first.
            let key = (start, plan.job.class.is_some(), due, index);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(start, _, due, index)| (index, start, due))
    }

    /// Notes that [`next`](Self::next) has left, at `now` by the clock, and plans what comes after it.
    #[inline]
    pub fn sent(&mut self, now: Time) {
        let Some((index, start, due)) = self.choose() else { return };
        self.under_way = None;
        let plan = &mut self.plans[index];
        self.busy = start + self.speed.slot(plan.job.size);
        self.clock = self.clock.max(start);
        plan.sent += 1;
        plan.due = plan.job.rhythm.next(due);
        if let Stall::SkipAfter(late) = self.stall {
            let mut skipped = false;
            while plan.due + late <= now && !plan.is_done() {
                plan.due = plan.job.rhythm.next(plan.due);
                plan.skipped += 1;
                skipped = true;
            }
            if skipped {
                self.busy = self.busy.max(now);
            }
        }
        if plan.is_done() {
            let Plan { job, skipped, .. } = self.plans.remove(index);
            if skipped > 0 {
                *self.left_out.entry(job.who).or_default() += skipped;
            }
        }
    }
}

impl Plan {
    fn is_done(&self) -> bool {
        self.job.count.is_some_and(|count| self.sent + self.skipped >= count)
    }
}

#[cfg(test)]
mod tests;
