//! A receiver's replies against those that are due.

use super::{Fault, Sight};
use crate::spec::nic::Ready;
use crate::spec::nic::rc::{Data, Packet, Reply, Says, replies, says_as_much};
use rig_capture::Span;
use rig_frames::psn::Psn;
use rig_lab::Rc;
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;

/// An acknowledgement or a NAK that a receiver sent; a READ request anew is a NAK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// When its first bit left.
    pub at: Time,
    /// What it says.
    pub says: Says,
    /// The number that it names.
    pub psn: Psn,
    /// For how long before it the port had sent what goes ahead of it, without a pause: answers that were ready before it.
    pub behind: Dur,
}

/// What a receiver's replies come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answered {
    /// All departures.
    pub faults: Vec<Fault>,
    /// From a packet to its acknowledgement: the reply's index, and picoseconds.
    pub acks: Vec<(usize, Span)>,
    /// The same of NAKs.
    pub naks: Vec<(usize, Span)>,
    /// Whether an acknowledgement left that stood for none before it: it was held for no shorter than the least that is declared.
    pub alone: bool,
    /// Of a READ, how often its requester's timeout ran out; `None` where it may have done so once more.
    pub expired: Option<usize>,
    /// Of a READ, how many questions for a hole may be the timer's as well.
    pub either: usize,
    /// Of a READ, how often a hole was seen anew behind a timeout.
    pub reopened: usize,
    /// Of a READ, whether its requester gave up; `None` where it may have.
    pub gave_up: Option<bool>,
}

/// Judges what a receiver said to the packets of one queue pair that reached it, in their order. `first`: the number that it
/// expects first.
pub fn receiver(
    rc: &Rc,
    (data, first): (Data, Psn),
    packets: &[Packet],
    answers: &[Answer],
    sight: &Sight,
) -> Answered {
    let due = replies(rc, data, first, packets);
    let mut open = Open::new(&due, answers);
    let mut answered = Answered::default();
    // The stages go from what is right to what is less and less so; each leaves what it cannot explain to the next.
    open.pair_named(|due, answer| sight.on_time(due.ready, answer.at, answer.behind), |_, _| ());
    if rc.ack_held.is_some() && data == Data::Requests {
        open.stand_in(packets, sight);
    }
    let faults = &mut answered.faults;
    let told: Vec<&Reply> =
        due.iter().zip(&open.of).filter_map(|(due, of)| of.and(Some(due))).collect();
    open.others(
        |answer| second(&told, packets, &answers[answer]),
        |reply| {
            faults.push(Fault::SecondNak { reply });
        },
    );
    open.pair_named(
        |due, answer| packets[due.packet].at <= answer.at + sight.blur(),
        |due, reply| {
            let packet = due.packet;
            faults.push(if answers[reply].at < due.ready.from {
                Fault::Early { packet, reply }
            } else {
                Fault::Late { packet, reply }
            });
        },
    );
    let back = going_back(answers);
    open.others(|answer| back[answer], |reply| faults.push(Fault::AckBack { reply }));
    open.pair_timed(sight, |due, reply| {
        faults.push(Fault::WrongPsn { packet: due.packet, reply });
    });
    open.others(|_| true, |reply| faults.push(Fault::Unasked { reply }));
    let held = rc.ack_held.filter(|_| data == Data::Requests);
    for (due, reply) in held.iter().flat_map(|_| open.alone()) {
        let (packet, at) = (due.packet, answers[reply].at + sight.blur());
        let least = held.map_or(Dur::ZERO, Within::least);
        answered.alone = true;
        if due.ready.from <= at && at < due.ready.from + least {
            faults.push(Fault::Early { packet, reply });
        }
    }
    let seen = |ready: Ready| ready.by + sight.busy + sight.blur() <= sight.until;
    let left = due.iter().zip(&open.of).zip(&open.stood_for);
    for ((due, reply), _) in left.filter(|(_, stood_for)| !**stood_for) {
        let packet = due.packet;
        match (reply, due.says) {
            (Some(reply), says) => {
                let (from, to) = (packets[packet].at.0, answers[*reply].at.0);
                let blur = sight.blur().0;
                let span = Span {
                    lo: to.saturating_sub(from + blur),
                    hi: (to + blur).saturating_sub(from),
                };
                let all = if says == Says::Ack { &mut answered.acks } else { &mut answered.naks };
                all.push((*reply, span));
            }
            (None, _) if !seen(due.ready) => {}
            (None, Says::Ack) => faults.push(Fault::MissingAck { packet }),
            (None, Says::Nak | Says::NotReady { .. }) => faults.push(Fault::MissingNak { packet }),
        }
    }
    faults.sort_unstable();
    answered
}

fn named(due: &Reply, answer: &Answer) -> bool {
    (due.says, due.psn) == (answer.says, answer.psn)
}

/// Whether it is a NAK of a hole that a NAK has told of, and that is not filled yet.
fn second(told: &[&Reply], packets: &[Packet], answer: &Answer) -> bool {
    let Some(nak) = told.iter().rfind(|due| named(due, answer)) else {
        return false;
    };
    let filled = packets[nak.packet..].iter().find(|packet| packet.psn == nak.psn);
    nak.says == Says::Nak
        && answer.at >= nak.ready.from
        && filled.is_none_or(|packet| answer.at < packet.at)
}

/// Which of them acknowledge a number before one that was acknowledged.
fn going_back(answers: &[Answer]) -> Vec<bool> {
    let mut furthest: Option<Psn> = None;
    let mut back = |answer: &Answer| {
        if answer.says == Says::Nak {
            return false;
        }
        let back = furthest.is_some_and(|furthest| answer.psn.ahead_of(furthest).is_none());
        if !back {
            furthest = Some(answer.psn);
        }
        back
    };
    answers.iter().map(&mut back).collect()
}

/// Replies that are due, and those that were sent, until they are told which belong to each other.
struct Open<'a> {
    due: &'a [Reply],
    answers: &'a [Answer],
    /// The answers of each name, in order.
    by_name: BTreeMap<(Says, u32), Vec<usize>>,
    /// By what is due: the reply.
    of: Vec<Option<usize>>,
    /// Whether a later one left in its place.
    stood_for: Vec<bool>,
    used: Vec<bool>,
}

impl<'a> Open<'a> {
    fn new(due: &'a [Reply], answers: &'a [Answer]) -> Open<'a> {
        let mut by_name: BTreeMap<(Says, u32), Vec<usize>> = BTreeMap::new();
        for (reply, answer) in answers.iter().enumerate() {
            by_name.entry((answer.says, answer.psn.get())).or_default().push(reply);
        }
        let (of, stood_for) = (vec![None; due.len()], vec![false; due.len()]);
        Open { due, answers, by_name, of, stood_for, used: vec![false; answers.len()] }
    }

    /// The longest that the port keeps any of them.
    fn keeps(&self, sight: &Sight) -> Dur {
        let behind = self.answers.iter().map(|answer| answer.behind).max();
        sight.busy.max(behind.unwrap_or(Dur::ZERO))
    }

    /// Lets what was due and left stand for acknowledgements that did not leave, if it did in time and says as much.
    fn stand_in(&mut self, packets: &[Packet], sight: &Sight) {
        for (index, due) in self.due.iter().enumerate() {
            if self.of[index].is_some() || due.says == Says::Nak {
                continue;
            }
            let came = packets[due.packet].at;
            // Answers are in order but for what stamps are off.
            let first = self.answers.partition_point(|answer| answer.at + sight.blur() * 2 < came);
            let until = due.ready.by + self.keeps(sight) + sight.blur() * 2;
            let mut near =
                (first..self.answers.len()).take_while(|&reply| self.answers[reply].at <= until);
            self.stood_for[index] = near.any(|reply| {
                let Answer { at, says, psn, behind } = self.answers[reply];
                let answers = Ready { from: came, by: due.ready.by };
                let in_time = sight.on_time(answers, at, behind);
                self.used[reply] && in_time && says_as_much(due.psn, says, psn)
            });
        }
    }

    /// The acknowledgements that left and stood for none before them, each with its reply. One that stands for another leaves when that
    /// one has been held for long enough.
    fn alone(&self) -> impl Iterator<Item = (&Reply, usize)> {
        let mut stands = false;
        let acks = self.due.iter().enumerate().filter(|(_, due)| due.says == Says::Ack);
        acks.filter_map(move |(index, due)| {
            let stood = core::mem::replace(&mut stands, self.stood_for[index]);
            self.of[index].filter(|_| !stood).map(|reply| (due, reply))
        })
    }

    /// Pairs what is left of one name, in order, where the time fits.
    fn pair_named(
        &mut self,
        fits: impl Fn(&Reply, &Answer) -> bool,
        mut found: impl FnMut(&Reply, usize),
    ) {
        let Open { due, answers, by_name, of, stood_for, used } = self;
        for (due, of) in left(due, of, stood_for) {
            let Some(named) = by_name.get(&(due.says, due.psn.get())) else { continue };
            let free = |reply: &&usize| !used[**reply] && fits(due, &answers[**reply]);
            if let Some(&reply) = named.iter().find(free) {
                used[reply] = true;
                *of = Some(reply);
                found(due, reply);
            }
        }
    }

    /// Pairs what is left and says the same at the right time, whatever number it names.
    fn pair_timed(&mut self, sight: &Sight, mut found: impl FnMut(&Reply, usize)) {
        let keeps = self.keeps(sight);
        let Open { due, answers, of, stood_for, used, .. } = self;
        for (due, of) in left(due, of, stood_for) {
            // Answers are in order but for what stamps are off.
            let first =
                answers.partition_point(|answer| answer.at + sight.blur() * 2 < due.ready.from);
            let latest = due.ready.by + keeps + sight.blur() * 2;
            let mut near = (first..answers.len()).take_while(|&reply| answers[reply].at <= latest);
            let fits = |answer: &Answer| {
                due.says == answer.says && sight.on_time(due.ready, answer.at, answer.behind)
            };
            if let Some(reply) = near.find(|&reply| !used[reply] && fits(&answers[reply])) {
                used[reply] = true;
                *of = Some(reply);
                found(due, reply);
            }
        }
    }

    /// Takes away replies that nothing was due for.
    fn others(&mut self, is: impl Fn(usize) -> bool, mut found: impl FnMut(usize)) {
        for reply in 0..self.answers.len() {
            if !self.used[reply] && is(reply) {
                self.used[reply] = true;
                found(reply);
            }
        }
    }
}

/// What is due and has neither left nor been stood for.
fn left<'a>(
    due: &'a [Reply],
    of: &'a mut [Option<usize>],
    stood_for: &'a [bool],
) -> impl Iterator<Item = (&'a Reply, &'a mut Option<usize>)> {
    let all = due.iter().zip(of).zip(stood_for);
    all.filter(|((_, of), stood_for)| of.is_none() && !**stood_for).map(|(one, _)| one)
}
