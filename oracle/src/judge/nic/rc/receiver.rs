//! A receiver's replies against those that are due.

use super::{Fault, Sight};
use crate::spec::nic::Ready;
use crate::spec::nic::rc::{Data, Packet, Reply, Says, replies};
use rig_capture::Span;
use rig_frames::psn::Psn;
use rig_lab::Rc;
use rig_units::Time;
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
    /// Of a READ, how often its requester's timeout ran out; `None` where it may have done so once more.
    pub expired: Option<usize>,
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
    open.pair_named(|due, answer| sight.on_time(due.ready, answer.at), |_, _| ());
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
    let seen = |ready: Ready| ready.by + sight.busy + sight.blur() <= sight.until;
    for (due, reply) in due.iter().zip(&open.of) {
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
            (None, Says::Nak) => faults.push(Fault::MissingNak { packet }),
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
    used: Vec<bool>,
}

impl<'a> Open<'a> {
    fn new(due: &'a [Reply], answers: &'a [Answer]) -> Open<'a> {
        let mut by_name: BTreeMap<(Says, u32), Vec<usize>> = BTreeMap::new();
        for (reply, answer) in answers.iter().enumerate() {
            by_name.entry((answer.says, answer.psn.get())).or_default().push(reply);
        }
        Open { due, answers, by_name, of: vec![None; due.len()], used: vec![false; answers.len()] }
    }

    /// Pairs what is left of one name, in order, where the time fits.
    fn pair_named(
        &mut self,
        fits: impl Fn(&Reply, &Answer) -> bool,
        mut found: impl FnMut(&Reply, usize),
    ) {
        for (due, of) in self.due.iter().zip(&mut self.of).filter(|(_, of)| of.is_none()) {
            let Some(named) = self.by_name.get(&(due.says, due.psn.get())) else { continue };
            let free = |reply: &&usize| !self.used[**reply] && fits(due, &self.answers[**reply]);
            if let Some(&reply) = named.iter().find(free) {
                self.used[reply] = true;
                *of = Some(reply);
                found(due, reply);
            }
        }
    }

    /// Pairs what is left and says the same at the right time, whatever number it names.
    fn pair_timed(&mut self, sight: &Sight, mut found: impl FnMut(&Reply, usize)) {
        for (due, of) in self.due.iter().zip(&mut self.of).filter(|(_, of)| of.is_none()) {
            // Answers are in order but for what stamps are off.
            let first = self
                .answers
                .partition_point(|answer| answer.at + sight.blur() * 2 < due.ready.from);
            let latest = due.ready.by + sight.busy + sight.blur() * 2;
            let mut near =
                (first..self.answers.len()).take_while(|&reply| self.answers[reply].at <= latest);
            let fits =
                |answer: &Answer| due.says == answer.says && sight.on_time(due.ready, answer.at);
            if let Some(reply) = near.find(|&reply| !self.used[reply] && fits(&self.answers[reply]))
            {
                self.used[reply] = true;
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
