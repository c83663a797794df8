//! The notification point: which marks are answered by a CNP, and when.
//!
//! Within one scope the marks that are answered form a renewal process: an answer shuts the scope for the interval I, and the
//! first mark from then on is the next. For marks every g the process is periodic: one CNP every ceil(I / g) g.

use super::Ready;
use super::rc::{Packet, Reply, Says};
use rig_lab::{Np, Scope};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// Where the forms come from, for reports.
pub const SOURCE: &str = "DCQCN: Zhu et al., SIGCOMM'15, 3.1 (NP); RoCEv2, IBTA volume 1 A17";

/// A packet that is marked, or a NAK that counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// When it counts as arrived: behind the receive pipeline.
    pub at: Time,
    /// The sender's queue pair.
    pub qp: u16,
    /// Who it came from: stands for the address.
    pub from: u16,
}

impl Mark {
    /// Which of its like it is kept apart from.
    pub const fn scoped(&self, scope: Scope) -> u16 {
        match scope {
            Scope::Qp => self.qp,
            Scope::DestIp => self.from,
            Scope::Port => 0,
        }
    }
}

/// The NAKs of one queue pair that count as marks: each arrived when the packet did that showed the hole.
pub fn of_naks(np: &Np, replies: &[Reply], packets: &[Packet], qp: u16, from: u16) -> Vec<Mark> {
    let naks = replies.iter().filter(|reply| np.nak_earns && reply.says == Says::Nak);
    naks.map(|reply| Mark { at: packets[reply.packet].at, qp, from }).collect()
}

/// A mark that earns a CNP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Which, of those given.
    pub mark: usize,
    /// When its CNP is ready.
    pub ready: Ready,
}

/// Which of the marks, in the order of their arrival, are answered: of each scope the first, and from each that is answered the first
/// that comes an interval later.
pub fn answered(np: &Np, marks: &[Mark]) -> Vec<Answer> {
    let mut scopes: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (mark, one) in marks.iter().enumerate().filter(|_| np.enable) {
        scopes.entry(one.scoped(np.scope)).or_default().push(mark);
    }
    let next = |of: &[usize], place: usize| {
        let from = marks[of[place]].at + np.interval;
        let later = &of[place + 1..];
        let next = place + 1 + later.partition_point(|&mark| marks[mark].at < from);
        (next < of.len()).then_some(next)
    };
    let renewals = scopes.values().flat_map(|of| {
        core::iter::successors(Some(0), |&place| next(of, place)).map(|place| of[place])
    });
    let mut answered: Vec<usize> = renewals.collect();
    answered.sort_unstable();
    let answer = |mark: usize| Answer { mark, ready: Ready::after(marks[mark].at, np.latency) };
    answered.into_iter().map(answer).collect()
}

/// One in how many marks is answered, when they come every `gap` in one scope: ceil(I / g), and at least one.
pub fn one_in(np: &Np, gap: Dur) -> u64 {
    if np.interval == Dur::ZERO || gap == Dur::ZERO { 1 } else { np.interval.div_ceil(gap) }
}

/// From one CNP to the next, when marks come every `gap` in one scope: ceil(I / g) g.
pub fn every(np: &Np, gap: Dur) -> Dur {
    gap * one_in(np, gap)
}

/// CNPs for `marks` of them every `gap` in one scope: ceil(n / ceil(I / g)).
pub fn count(np: &Np, gap: Dur, marks: u64) -> u64 {
    if np.enable { marks.div_ceil(one_in(np, gap)) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::rc::{Data, replies};
    use super::*;
    use proptest::prelude::*;
    use rig_frames::psn::Psn;
    use rig_lab::Nic;

    fn np(interval: Dur, scope: Scope) -> Np {
        Np { enable: true, interval, scope, latency: Dur(7).into(), ..Nic::quiet().np }
    }

    fn mark(at: u64, qp: u16, from: u16) -> Mark {
        Mark { at: Time(at), qp, from }
    }

    fn which(np: &Np, marks: &[Mark]) -> Vec<usize> {
        answered(np, marks).iter().map(|answer| answer.mark).collect()
    }

    #[test]
    fn a_mark_is_answered_from_the_interval_on_and_not_a_picosecond_before() {
        let marks = [0, 99, 100, 199, 200, 301].map(|at| mark(at, 1, 1));
        assert_eq!(which(&np(Dur(100), Scope::Qp), &marks), [0, 2, 4, 5]);
        // The interval runs from the mark that was answered, not from one that was not.
        let marks = [0, 60, 110, 170, 210].map(|at| mark(at, 1, 1));
        assert_eq!(which(&np(Dur(100), Scope::Qp), &marks), [0, 2, 4]);
        let off = Np { enable: false, ..np(Dur(100), Scope::Qp) };
        assert_eq!(which(&off, &marks), [0; 0]);
    }

    #[test]
    fn each_is_answered_without_an_interval_even_at_one_instant() {
        let marks = [5, 5, 6].map(|at| mark(at, 1, 1));
        let answers = answered(&np(Dur::ZERO, Scope::Port), &marks);
        let want = [(0, 12), (1, 12), (2, 13)];
        assert_eq!(answers, want.map(|(mark, ready)| Answer { mark, ready: Time(ready).into() }));
    }

    #[test]
    fn the_interval_is_kept_for_what_the_scope_says() {
        // Queue pairs 1 and 2 of one sender, 3 of another.
        let marks = [mark(0, 1, 1), mark(1, 2, 1), mark(2, 3, 2), mark(3, 1, 1), mark(100, 2, 1)];
        assert_eq!(which(&np(Dur(100), Scope::Qp), &marks), [0, 1, 2]);
        assert_eq!(which(&np(Dur(100), Scope::DestIp), &marks), [0, 2, 4]);
        assert_eq!(which(&np(Dur(100), Scope::Port), &marks), [0, 4]);
    }

    #[test]
    fn marks_every_microsecond_earn_a_cnp_every_fifty() {
        // ceil(50 / 1) = 50; ceil(50 / 0.7) = 72, 72 x 0.7 us = 50.4 us; of 1000 marks ceil(1000 / 72) = 14.
        let np = np(Dur::us(50), Scope::Qp);
        assert_eq!(every(&np, Dur::us(1)), Dur::us(50));
        assert_eq!(every(&np, Dur::ns(700)), Dur::ns(50_400));
        assert_eq!(count(&np, Dur::ns(700), 1_000), 14);
        assert_eq!(every(&np, Dur::us(80)), Dur::us(80));
    }

    #[test]
    fn a_nak_is_a_mark_when_the_packet_came_that_showed_the_hole() {
        let earns = Np { nak_earns: true, ..np(Dur(0), Scope::Qp) };
        let packets = [0, 2, 1].map(|psn| Packet {
            at: Time(10 + u64::from(psn)),
            psn: Psn::new(psn),
            last: false,
        });
        let due = replies(&Nic::quiet().rc, Data::Requests, Psn::new(0), &packets);
        assert_eq!(of_naks(&earns, &due, &packets, 4, 9), [mark(12, 4, 9)]);
        assert_eq!(of_naks(&np(Dur(0), Scope::Qp), &due, &packets, 4, 9), []);
    }

    proptest! {
        /// The rule as it is written down, of every mark by itself.
        #[test]
        fn a_mark_is_answered_exactly_if_none_of_its_scope_was_within_the_interval_before(
            steps in prop::collection::vec((0_u64..60, 0_u16..6), 0..60), interval in 0_u64..200,
            scope in prop_oneof![Just(Scope::Qp), Just(Scope::DestIp), Just(Scope::Port)],
        ) {
            let mut at = 0;
            let marks: Vec<Mark> = steps.iter().map(|&(step, qp)| { at += step; mark(at, qp, qp / 2) }).collect();
            let answers = which(&np(Dur(interval), scope), &marks);
            for (index, one) in marks.iter().enumerate() {
                let within = answers.iter().filter(|&&other| other < index).any(|&other| {
                    let before = marks[other];
                    before.scoped(scope) == one.scoped(scope) && one.at - before.at < Dur(interval)
                });
                prop_assert_eq!(answers.contains(&index), !within);
            }
        }

        #[test]
        fn the_closed_form_is_what_the_rule_gives(interval in 0_u64..200, gap in 1_u64..90, n in 0_u64..60) {
            let np = np(Dur(interval), Scope::Qp);
            let marks: Vec<Mark> = (0..n).map(|i| mark(5 + i * gap, 1, 1)).collect();
            let answers = answered(&np, &marks);
            prop_assert_eq!(answers.len() as u64, count(&np, Dur(gap), n));
            for pair in answers.windows(2) {
                prop_assert_eq!(pair[1].ready.from - pair[0].ready.from, every(&np, Dur(gap)));
            }
        }
    }
}
