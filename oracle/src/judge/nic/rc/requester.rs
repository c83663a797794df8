//! A requester's READ requests: one for each message, anew where a hole is, and anew as the timeout runs out.

use super::holes::Holes;
use super::receiver::{Answer, Answered, receiver};
use super::running::Running;
use super::tries::Tries;
use super::{Fault, Sight};
use crate::spec::nic::Ready;
use crate::spec::nic::rc::{Data, Packet, Says, timeout, timeout_between};
use rig_frames::psn::Psn;
use rig_lab::Rc;
use rig_units::{Dur, Time};

/// What is read on one queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The number of the first packet.
    pub first: Psn,
    /// Packets of a message.
    pub packets: u32,
    /// Packets of all messages; `None`: for ever.
    pub total: Option<u32>,
}

/// A READ request that left, with its first bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// When it did.
    pub at: Time,
    /// The number that it names.
    pub psn: Psn,
    /// Of one anew, for how long before it the port had sent what goes ahead of it, without a pause: the turns of other queue pairs.
    pub behind: Dur,
}

/// Judges what a requester asked for, in order, by the responses that reached it, in order.
pub fn requester(
    rc: &Rc,
    reading: &Reading,
    asked: &[Asked],
    brought: &[Packet],
    sight: &Sight,
) -> Answered {
    let mut standing = Standing {
        rc,
        reading,
        sight,
        taken: 0,
        begun: 0,
        since: None,
        running: rc.timer_runs_on.unwrap_or(false).then(Running::default),
        hole: Hole::None,
        holes: Holes::default(),
        before: Vec::new(),
        tries: Tries::default(),
        expired: 0,
        ended: Some(false),
    };
    // Requests that a hole has to explain, by their place among all.
    let (mut anew, mut places) = (Vec::new(), Vec::new());
    let mut packets = brought.iter().peekable();
    for (place, ask) in asked.iter().enumerate() {
        while let Some(packet) = packets.next_if(|packet| packet.at <= ask.at) {
            standing.takes(packet);
        }
        // What came with the question, as far as stamps tell, may have come before it.
        let mut explained = standing.explains(ask);
        let before = (!explained).then(|| (standing.clone(), packets.clone()));
        while !explained
            && let Some(packet) = packets.next_if(|packet| packet.at <= ask.at + sight.blur())
        {
            standing.takes(packet);
            explained = standing.explains(ask);
        }
        if let Some(before) = before.filter(|_| !explained) {
            // What explains nothing came when its stamp says.
            (standing, packets) = before;
            standing.asks_anew(ask, anew.len());
            anew.push(Answer { at: ask.at, says: Says::Nak, psn: ask.psn, behind: ask.behind });
            places.push(place);
        }
    }
    packets.for_each(|packet| standing.takes(packet));
    let mut answered = receiver(rc, (Data::Responses, reading.first), brought, &anew, sight);
    let holes = &standing.holes;
    answered
        .faults
        .retain(|fault| !holes.excuse(fault, |packet| standing.asks_of(brought[packet].at)));
    for fault in &mut answered.faults {
        *fault = fault.with_reply(&places);
    }
    (answered.either, answered.reopened) = (holes.either, holes.reopened);
    answered.gave_up = standing.gave_up();
    answered.expired = answered.gave_up.map(|once| standing.expired + usize::from(once));
    if standing.is_overdue() {
        answered.faults.push(Fault::NoTimeout { packet: brought.len().saturating_sub(1) });
    }
    answered
}

/// How far a requester has come.
#[derive(Clone)]
struct Standing<'a> {
    rc: &'a Rc,
    reading: &'a Reading,
    sight: &'a Sight,
    /// Packets that it has taken.
    taken: u32,
    /// Messages that it has asked for.
    begun: u32,
    /// Since when the timer runs: the last progress, or when it ran out, after which a request may have waited for the port.
    since: Option<Ready>,
    /// Of one whose timer is left running when all has come.
    running: Option<Running>,
    hole: Hole,
    holes: Holes,
    /// How it stood before each packet that came: for a while that may not have been taken in.
    before: Vec<Before>,
    /// Timeouts in a row.
    tries: Tries,
    /// Timeouts that it asked anew after.
    expired: usize,
    /// Whether the timeout ran out after the last try before what was asked for came: it gave up then. `None`: it may have.
    ended: Option<bool>,
}

/// Whether a packet ahead of the one that is expected has come since the last that was taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hole {
    None,
    /// The next question is for what is missing, as a packet shows that came then: once more, where the timer ran out since it was seen first.
    Open {
        came: Time,
        again: bool,
    },
    /// It has been asked.
    Asked,
    /// The timer ran out: it is open again with the next packet ahead.
    Forgotten,
}

/// How a requester stood before a packet came.
#[derive(Clone, Copy)]
struct Before {
    came: Time,
    taken: u32,
    /// Since when the timer ran.
    since: Ready,
    /// The least and the most tries that it had made in a row.
    tries: (usize, usize),
}

impl Standing<'_> {
    fn expected(&self) -> Psn {
        self.reading.first.advance(self.taken)
    }

    fn takes(&mut self, packet: &Packet) {
        if packet.psn == self.expected() {
            let blur = self.sight.blur();
            if self.ended == Some(false) && self.may_have_tried_all() {
                self.ended = match self.due() {
                    Some(due) if self.tried_all() && packet.at > due.by + blur => Some(true),
                    Some(due) if packet.at + blur >= due.from => None,
                    _ => Some(false),
                };
            }
            let (came, taken, tries) = (packet.at, self.taken, self.tried());
            self.before.extend(self.since.map(|since| Before { came, taken, since, tries }));
            self.taken += 1;
            self.hole = Hole::None;
            if self.taken == self.whole() {
                self.holes.over.push(came);
            }
            let (more, taken_in) = (self.taken < self.whole(), self.taken_in());
            self.running.iter_mut().for_each(|one| one.progress(came, more, taken_in));
            self.since = Some(self.begun(came));
            self.tries.ended(packet.at, blur);
        } else if let Hole::None | Hole::Forgotten = self.hole
            && self.expected().ahead_of(packet.psn).is_none()
        {
            let again = self.hole == Hole::Forgotten;
            self.holes.reopened += usize::from(again);
            self.hole = Hole::Open { came: packet.at, again };
        }
    }

    /// Whether a request begins a message, or is due as the timeout runs out.
    fn explains(&mut self, ask: &Asked) -> bool {
        // Who asks again has not given up.
        self.ended = self.ended.or(Some(false));
        if self.taken == self.whole() && ask.psn == self.expected() {
            let over =
                self.since.zip(timeout(self.rc)).map(|(since, timeout)| since.by + timeout.most());
            let over = over.map(|over| over + self.taken_in());
            self.running.iter_mut().for_each(|running| running.begins(ask.at, over));
            (self.begun, self.since) = (self.begun + 1, Some(self.begun(ask.at)));
            return true;
        }
        let on_time = |due: &Ready| self.sight.on_time(*due, ask.at, ask.behind);
        let due = self.due().filter(|_| ask.psn == self.expected()).filter(on_time);
        // What asks for a hole in time is the hole's, if the timer may have run out then, too.
        let due = due.filter(|_| !self.is_of_hole(ask));
        let due = due.or_else(|| self.due_before(ask).filter(on_time));
        if let Some(due) = due {
            if self.hole != Hole::None {
                // It asks for the hole, too, and that is seen anew.
                self.holes.over.push(ask.at);
                self.hole = Hole::Forgotten;
            }
            let waited = self.sight.busy.max(ask.behind) + self.sight.blur();
            let from = Time(ask.at.0.saturating_sub(waited.0)).max(due.from).min(ask.at);
            self.since = Some(Ready { from, by: ask.at });
            self.running.iter_mut().for_each(|running| running.starts(from));
            self.tries.again(ask.at, self.taken_in() + self.sight.busy);
            self.expired += 1;
            return true;
        }
        false
    }

    /// Whether a question is for a hole, by what is missing and when that was seen.
    fn is_of_hole(&self, ask: &Asked) -> bool {
        let Hole::Open { came, .. } = self.hole else { return false };
        let due = Ready::after(came, self.rc.nak_latency);
        ask.psn == self.expected() && self.sight.on_time(due, ask.at, ask.behind)
    }

    /// From when on what a packet shows to be missing may have been asked for, and by when it is.
    fn asks_of(&self, came: Time) -> Ready {
        let by = Ready::after(came, self.rc.nak_latency).by;
        Ready { from: came, by: by + self.sight.busy + self.sight.blur() }
    }

    /// A question that a hole has to explain, the `nth` of those.
    fn asks_anew(&mut self, ask: &Asked, nth: usize) {
        let timer = self.due().filter(|due| self.sight.on_time(*due, ask.at, ask.behind));
        let is_either = self.is_of_hole(ask) && timer.is_some();
        if is_either {
            self.holes.either += 1;
            // Where it was the timer's, that runs anew.
            self.since = self.since.map(|since| Ready { by: ask.at, ..since });
            self.tries.perhaps(ask.at, self.taken_in() + self.sight.busy);
        }
        let is_again = matches!(self.hole, Hole::Open { again: true, .. });
        if is_again && self.is_of_hole(ask) {
            self.holes.again.push(nth);
        }
        self.hole = if is_either { Hole::Forgotten } else { Hole::Asked };
    }

    /// Packets of all messages that it has asked for.
    const fn whole(&self) -> u32 {
        self.begun * self.reading.packets
    }

    /// Since when the timer runs that was started at `at`, or before that and left running.
    fn begun(&self, at: Time) -> Ready {
        let since = self.running.as_ref().map(|running| running.since(at, self.taken_in()));
        Ready { from: since.unwrap_or(at).min(at), by: at }
    }

    /// When the timeout runs out.
    fn due(&self) -> Option<Ready> {
        self.runs_out(self.taken, self.since?, self.tried())
    }

    /// When it ran out for one that had not taken in what came last: that takes no longer than to ask for a hole.
    fn due_before(&self, ask: &Asked) -> Option<Ready> {
        let taken_in = self.taken_in();
        let recent = self.before.iter().rev().take_while(|before| ask.at < before.came + taken_in);
        let mut recent =
            recent.filter(|before| self.reading.first.advance(before.taken) == ask.psn);
        recent.find_map(|before| self.runs_out(before.taken, before.since, before.tries))
    }

    /// How long before a question a response may have come that was not taken in when the timer ran out.
    fn taken_in(&self) -> Dur {
        self.sight.blur() + self.rc.nak_latency.most()
    }

    /// Whether no try is left, whichever order of responses and timeouts stamps leave open, and whether none may be.
    fn tried_all(&self) -> bool {
        self.tries.least(self.taken_in() + self.sight.busy) >= self.rc.retries.into()
    }

    fn may_have_tried_all(&self) -> bool {
        self.tries.most() >= self.rc.retries.into()
    }

    /// The least and the most tries that it has made in a row.
    fn tried(&self) -> (usize, usize) {
        let least = self.tries.least(self.taken_in() + self.sight.busy);
        let least = usize::try_from(least).unwrap_or(usize::MAX);
        (least, self.tries.most().max(least))
    }

    /// When the timeout runs out of one that has taken so many packets, and made so many tries.
    fn runs_out(&self, taken: u32, since: Ready, tries: (usize, usize)) -> Option<Ready> {
        let waits = taken < self.whole();
        // One that is left running was started after any number of tries.
        let timeout = match self.running {
            Some(_) => timeout(self.rc),
            None => timeout_between(self.rc, tries.0, tries.1),
        };
        let timeout = timeout.filter(|_| waits)?;
        Some(Ready { from: since.from + timeout.least(), by: since.by + timeout.most() })
    }

    /// Whether the timeout ran out once more, after the last try; `None`: it may have, by the end of what was seen.
    fn gave_up(&self) -> Option<bool> {
        if self.ended != Some(false) {
            return self.ended;
        }
        match self.due().filter(|_| self.may_have_tried_all()) {
            Some(due) if self.tried_all() && due.by <= self.sight.until => Some(true),
            Some(due) if due.from <= self.sight.until => None,
            _ => Some(false),
        }
    }

    /// Whether it should have asked again by the end of what was seen.
    fn is_overdue(&self) -> bool {
        let late = self.sight.busy + self.sight.blur();
        let more = self.reading.total.is_none_or(|total| self.taken < total);
        more && self.ended == Some(false)
            && !self.may_have_tried_all()
            && self.due().is_some_and(|due| due.by + late <= self.sight.until)
    }
}

#[cfg(test)]
mod tests;
