//! A requester's READ requests: one for each message, anew where a hole is, and anew as the timeout runs out.

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
            standing.hole = Hole::Asked;
            anew.push(Answer { at: ask.at, says: Says::Nak, psn: ask.psn, behind: Dur::ZERO });
            places.push(place);
        }
    }
    packets.for_each(|packet| standing.takes(packet));
    let mut answered = receiver(rc, (Data::Responses, reading.first), brought, &anew, sight);
    for fault in &mut answered.faults {
        *fault = fault.with_reply(&places);
    }
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
    /// The next question is for what is missing.
    Open,
    /// It has been asked.
    Asked,
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
            let (more, taken_in) = (self.taken < self.whole(), self.taken_in());
            self.running.iter_mut().for_each(|one| one.progress(came, more, taken_in));
            self.since = Some(self.begun(came));
            self.tries.ended(packet.at, blur);
        } else if self.hole == Hole::None && self.expected().ahead_of(packet.psn).is_none() {
            self.hole = Hole::Open;
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
        let on_time = |due: &Ready| self.sight.on_time(*due, ask.at, Dur::ZERO);
        let due = self.due().filter(|_| ask.psn == self.expected()).filter(on_time);
        let due = due.or_else(|| self.due_before(ask).filter(on_time));
        if let Some(due) = due {
            let waited = self.sight.busy + self.sight.blur();
            let from = Time(ask.at.0.saturating_sub(waited.0)).max(due.from).min(ask.at);
            self.since = Some(Ready { from, by: ask.at });
            self.running.iter_mut().for_each(|running| running.starts(from));
            self.tries.again(ask.at, self.taken_in() + self.sight.busy);
            self.expired += 1;
            return true;
        }
        false
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

    /// When the timeout runs out of one that has taken so many packets, and made so many tries. What a hole asks for is no sign of a timer that
    /// may have been started at any time before.
    fn runs_out(&self, taken: u32, since: Ready, tries: (usize, usize)) -> Option<Ready> {
        let is_hole = self.running.is_some() && self.hole == Hole::Open;
        let from = if is_hole { since.by } else { since.from };
        let waits = taken < self.whole();
        // One that is left running was started after any number of tries.
        let timeout = match self.running {
            Some(_) => timeout(self.rc),
            None => timeout_between(self.rc, tries.0, tries.1),
        };
        let timeout = timeout.filter(|_| waits)?;
        Some(Ready { from: from + timeout.least(), by: since.by + timeout.most() })
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
mod tests {
    use super::*;
    use rig_lab::{AckTimeout, Nic};
    use rig_units::Within;

    const FOREVER: AckTimeout = AckTimeout::NEVER;
    const FINITE: AckTimeout = AckTimeout::Time(Dur(500));

    const READING: Reading = Reading { first: Psn::new(7), packets: 2, total: Some(4) };
    const EXACT: Sight =
        Sight { bound: Dur::ZERO, busy: Dur::ZERO, allowance: None, until: Time(10_000) };

    fn rc(timeout: AckTimeout) -> Rc {
        Rc { nak_latency: Dur(5).into(), timeout, retries: 2, ..Nic::quiet().rc }
    }

    fn all_asked(asked: &[(u64, u32)]) -> Vec<Asked> {
        let asked = asked.iter();
        asked.map(|&(at, psn)| Asked { at: Time(at), psn: Psn::new(psn) }).collect()
    }

    fn judged(timeout: AckTimeout, asked: &[(u64, u32)], brought: &[(u64, u32)]) -> Vec<Fault> {
        let packet = |&(at, psn): &(u64, u32)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 2 == 0,
        };
        let brought: Vec<Packet> = brought.iter().map(packet).collect();
        requester(&rc(timeout), &READING, &all_asked(asked), &brought, &EXACT).faults
    }

    const WHOLE: [(u64, u32); 4] = [(100, 7), (110, 8), (200, 9), (210, 10)];

    #[test]
    fn one_request_for_each_message_is_right_and_one_more_is_unasked() {
        assert_eq!(judged(FOREVER, &[(0, 7), (150, 9)], &WHOLE), []);
        let faults = judged(FOREVER, &[(0, 7), (150, 9), (160, 9)], &WHOLE);
        assert_eq!(faults, [Fault::Unasked { reply: 2 }]);
    }

    #[test]
    fn a_question_for_a_hole_takes_nothing_of_what_stamps_have_close_behind_it() {
        // 8 is lost once and asked for anew behind 9; the next message is asked for as the first is whole. Stamps may be off by more than all of that takes.
        let reading = Reading { packets: 4, total: Some(8), ..READING };
        let brought = [(100, 7), (110, 9), (120, 10), (200, 8), (210, 9), (220, 10), (300, 11)];
        let brought = brought.map(|(at, psn)| Packet {
            at: Time(at),
            psn: Psn::new(psn),
            last: psn % 4 == 2,
        });
        let asked = all_asked(&[(0, 7), (115, 8), (225, 11)]);
        let sight = Sight { bound: Dur(100), until: Time(310), ..EXACT };
        let faults = requester(&rc(FOREVER), &reading, &asked, &brought, &sight).faults;
        assert_eq!(faults, []);
    }

    #[test]
    fn the_packet_that_ends_a_message_may_have_come_before_the_question_for_the_next_as_far_as_stamps_tell()
     {
        let packet =
            |&(at, psn): &(u64, u32)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
        let brought: Vec<Packet> = WHOLE.iter().map(packet).collect();
        let faults = |asked: u64| {
            let sight = Sight { bound: Dur(4), ..EXACT };
            let asked = all_asked(&[(0, 7), (asked, 9)]);
            requester(&rc(FOREVER), &READING, &asked, &brought, &sight).faults
        };
        // Number 8 comes at 110; both stamps are off by 4.
        assert_eq!(faults(102), []);
        assert!(!faults(101).is_empty());
    }

    #[test]
    fn a_hole_is_asked_for_once_and_in_time() {
        let brought = [(100, 7), (200, 9), (210, 8), (300, 9), (310, 10)];
        let brought = &brought[..];
        // Number 8 is missing once 9 is there; it comes with what was asked for anew.
        let holed = [(100, 7), (110, 9), (220, 8), (300, 9), (310, 10)];
        assert_eq!(judged(FOREVER, &[(0, 7), (115, 8), (250, 9)], &holed), []);
        assert_eq!(
            judged(FOREVER, &[(0, 7), (116, 8), (250, 9)], &holed),
            [Fault::Late { packet: 1, reply: 1 }]
        );
        assert!(!judged(FOREVER, &[(0, 7), (250, 9)], brought).is_empty());
    }

    #[test]
    fn a_request_that_brings_nothing_is_repeated_as_the_timeout_runs_out_and_not_before() {
        let late = [(600, 7), (610, 8), (700, 9), (710, 10)];
        assert_eq!(judged(FINITE, &[(0, 7), (500, 7), (650, 9)], &late), []);
        assert_eq!(judged(FINITE, &[(0, 7), (499, 7), (650, 9)], &late).len(), 1);
        // One that is never repeated is missed, unless it may give up.
        assert_eq!(judged(FINITE, &[(0, 7)], &[]), [Fault::NoTimeout { packet: 0 }]);
        assert_eq!(judged(FINITE, &[(0, 7), (500, 7), (1_000, 7)], &[]), []);
        assert_eq!(judged(FOREVER, &[(0, 7)], &[]), []);
    }

    #[test]
    fn a_timer_that_is_left_running_repeats_a_request_before_its_own_time_is_over() {
        // The second message is asked for at 300: its time is over at 800, that of the first at 500, or where a part of the first came, behind that.
        let faults = |runs_on: Option<bool>, again: u64| {
            let rc = Rc { timer_runs_on: runs_on, ..rc(FINITE) };
            let brought = [(100, 7), (110, 8), (900, 9), (910, 10)];
            let brought = brought.map(|(at, psn)| Packet {
                at: Time(at),
                psn: Psn::new(psn),
                last: psn % 2 == 0,
            });
            let asked = all_asked(&[(0, 7), (300, 9), (again, 9)]);
            requester(&rc, &READING, &asked, &brought, &EXACT).faults.len()
        };
        assert_eq!([600, 599].map(|again| faults(Some(true), again)), [0, 1]);
        assert_eq!([800, 799, 600].map(|again| faults(None, again)), [0, 1, 1]);
    }

    #[test]
    fn a_question_for_a_hole_is_no_timeout_of_a_timer_that_may_have_run_for_long() {
        // Packet 8 is lost; 9 shows it, and it is asked for 5 later, when the timer of the first message could have run out, too.
        let rc = Rc { timer_runs_on: Some(true), ..rc(FINITE) };
        let reading = Reading { packets: 4, total: Some(8), ..READING };
        let faults = |asked: &[(u64, u32)]| {
            let brought = [
                (100, 7),
                (110, 8),
                (120, 9),
                (130, 10),
                (610, 11),
                (620, 13),
                (700, 12),
                (710, 13),
                (720, 14),
            ];
            let brought = brought.map(|(at, psn)| Packet {
                at: Time(at),
                psn: Psn::new(psn),
                last: psn % 4 == 2,
            });
            let asked = all_asked(asked);
            let answered = requester(&rc, &reading, &asked, &brought, &EXACT);
            (answered.expired, answered.faults.len())
        };
        assert_eq!(faults(&[(0, 7), (400, 11), (625, 12)]), (Some(0), 0));
        assert_eq!(faults(&[(0, 7), (400, 11)]).1, 1);
    }

    #[test]
    fn a_response_need_not_have_been_taken_in_when_the_timer_ran_out_a_moment_later() {
        // The timer runs out at 500; a hole is asked for within 5.
        let faults = |came: u64, again: u32| {
            let brought = [(came, 7), (610, 8), (700, 9), (710, 10)];
            judged(FINITE, &[(0, 7), (500, again), (650, 9)], &brought).len()
        };
        assert_eq!([496, 495].map(|came| faults(came, 7)), [0, 1]);
        // Who has taken it in waits anew.
        assert_eq!(faults(496, 8), 1);
    }

    #[test]
    fn the_wait_of_one_that_had_not_taken_a_response_in_is_that_of_the_tries_it_had_made() {
        // Sixteenths of the timeout are 100: it asks again after 100, and after 400 more, when what it asked for is there and not taken in.
        let adaptive = serde_json::from_str("[1, 4, 16]").expect("a list");
        let rc = Rc { adaptive, ..rc(AckTimeout::Time(Dur(1_600))) };
        let faults = |came: u64| {
            let brought = [(came, 7), (610, 8), (700, 9), (710, 10)];
            let brought = brought.map(|(at, psn)| Packet {
                at: Time(at),
                psn: Psn::new(psn),
                last: psn % 2 == 0,
            });
            let asked = all_asked(&[(0, 7), (100, 7), (500, 7), (650, 9)]);
            requester(&rc, &READING, &asked, &brought, &EXACT).faults.len()
        };
        assert_eq!([496, 495].map(faults), [0, 1]);
    }

    #[test]
    fn timeouts_are_counted_and_the_one_with_which_it_gives_up() {
        let expired = |late: Within, asked: &[(u64, u32)], until: u64| {
            let sight = Sight { until: Time(until), ..EXACT };
            let rc = Rc { timeout_late: Some(late), ..rc(FINITE) };
            requester(&rc, &READING, &all_asked(asked), &[], &sight).expired
        };
        let exact = Within::ZERO;
        assert_eq!(expired(exact, &[(0, 7)], 10_000), Some(0));
        assert_eq!(expired(exact, &[(0, 7), (500, 7)], 10_000), Some(1));
        let thrice = [(0, 7), (500, 7), (1_000, 7)];
        assert_eq!([1_499, 1_500].map(|until| expired(exact, &thrice, until)), [Some(2), Some(3)]);
        // Where the timer may be late nobody knows yet.
        let late = Within::at_most(Dur(10));
        let at = [1_499, 1_500, 1_509, 1_510].map(|until| expired(late, &thrice, until));
        assert_eq!(at, [Some(2), None, None, Some(3)]);
    }

    #[test]
    fn who_gave_up_is_not_brought_back_by_a_response_that_comes_after_that() {
        let expired = |came: u64, late: u64| {
            let rc = Rc { timeout_late: Some(Within::at_most(Dur(late))), ..rc(FINITE) };
            let asked = all_asked(&[(0, 7), (500, 7), (1_000, 7)]);
            let brought = [Packet { at: Time(came), psn: Psn::new(7), last: false }];
            let answered = requester(&rc, &READING, &asked, &brought, &EXACT);
            (answered.expired, answered.faults.len())
        };
        // Its timer runs out at 1 500, or by 1 510, for the last time; what comes before that starts it anew, and it is late then.
        assert_eq!(expired(1_501, 0), (Some(3), 0));
        assert_eq!(expired(1_511, 10), (Some(3), 0));
        assert_eq!(expired(1_505, 10), (None, 0));
        assert_eq!(expired(1_499, 0), (Some(2), 1));
    }

    #[test]
    fn a_timer_that_may_be_late_is_early_before_its_code_says_and_late_after_its_limit() {
        let late = [(900, 7), (910, 8), (950, 9), (960, 10)];
        let faults = |asked: u64| {
            let rc = Rc { timeout_late: Some(Within::at_most(Dur(10))), ..rc(FINITE) };
            let packet = |(at, psn)| Packet { at: Time(at), psn: Psn::new(psn), last: false };
            let asked = all_asked(&[(0, 7), (asked, 7), (920, 9)]);
            requester(&rc, &READING, &asked, &late.map(packet), &EXACT).faults.len()
        };
        assert_eq!([499, 500, 510, 511].map(faults), [1, 0, 0, 1]);
    }
}
