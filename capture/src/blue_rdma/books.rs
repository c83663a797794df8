//! Goes through what passed in order of time, and counts.

use super::seen::{Posted, Seen, Stands};
use super::{Placed, Reported};
use rig_frames::blue_rdma::Ext;
use rig_frames::blue_rdma::ack::{self, STRIDE, WINDOW};
use rig_frames::psn::Psn;
use rig_frames::roce::Opcode;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers further away than so many are those of another connection.
const REACH: i64 = 1 << 16;
/// How many runs of missing numbers are told.
const RUNS: usize = 32;
/// Numbers before they begin again.
const SPACE: i64 = 1 << 24;

/// A PSN that does not begin again.
type Number = i64;

/// What is known by now.
#[derive(Debug, Default)]
pub(super) struct Books {
    placed: Placed,
    reported: Reported,
    /// What passed of this connection, and whether a receiver sets its bit.
    passed: BTreeMap<Number, (Posted, Stands, bool)>,
    highest: Option<Number>,
    msn: Option<u16>,
    /// What was said to be missing of it, and whether it had passed.
    missing: BTreeMap<Number, bool>,
    /// What was said to have come and had not passed.
    unseen: BTreeSet<Number>,
}

impl Books {
    /// What was sent, and what was said of it, each in order of time.
    pub(super) fn of(data: &[Seen], reports: &[Seen]) -> (Placed, Reported) {
        let mut books = Books::default();
        let (mut data, mut reports) = (data.iter().peekable(), reports.iter().peekable());
        loop {
            let next = match (data.peek(), reports.peek()) {
                (Some(sent), Some(said)) if said.at < sent.at => reports.next(),
                (Some(_), _) => data.next(),
                (None, _) => reports.next(),
            };
            let Some(next) = next else { break };
            match next.posted() {
                Some(posted) => books.sent(next, posted),
                None => books.said(next),
            }
        }
        books.close();
        (books.placed, books.reported)
    }

    fn sent(&mut self, seen: &Seen, posted: (Posted, Stands)) {
        let bth = &seen.header.bth;
        let mut number = near(self.highest.unwrap_or(Number::from(bth.psn.get())), bth.psn);
        if self.highest.is_some_and(|highest| (number - highest).abs() > REACH) {
            self.close();
            self.placed.restarts += 1;
            number = Number::from(bth.psn.get());
        }
        let placed = &mut self.placed;
        placed.packets += 1;
        placed.bytes += seen.payload;
        placed.ack_requests += u64::from(bth.ack_req);
        placed.ce += u64::from(seen.ce);
        placed.unlike += u64::from(seen.unlike);
        placed.msn_changes += u64::from(self.msn.is_some_and(|msn| msn != bth.msn));
        self.msn = Some(bth.msn);
        let (posted, stands) = posted;
        let fresh = self.passed.insert(number, (posted, stands, seen.is_marked())).is_none();
        let behind = self.highest.is_some_and(|highest| number < highest);
        placed.retries += u64::from(bth.is_retry);
        placed.retries_of_lost += u64::from(bth.is_retry && fresh);
        placed.unmarked_copies += u64::from(!bth.is_retry && !fresh);
        placed.out_of_order += u64::from(!bth.is_retry && fresh && behind);
        self.highest = self.highest.max(Some(number));
    }

    fn said(&mut self, seen: &Seen) {
        let reported = &mut self.reported;
        reported.wrong_ip_checksum += u64::from(!seen.sound);
        reported.unlike += u64::from(seen.unlike);
        match seen.header.ext {
            Ext::Ack(ack) if seen.by_driver() && ack.lost => reported.driver_naks += 1,
            Ext::Ack(_) if seen.by_driver() => reported.driver_acks += 1,
            Ext::Ack(ack) => {
                reported.hardware_acks += 1;
                self.windows(seen.header.bth.psn, &ack);
            }
            _ => reported.cnps += u64::from(seen.header.bth.opcode == Opcode::Cnp),
        }
    }

    /// An acknowledgement by hardware, whose window is around `psn` now.
    fn windows(&mut self, psn: Psn, ack: &ack::Repr) {
        let moved = psn.ahead_of(ack.before_psn);
        let within = [psn, ack.before_psn].iter().any(|psn| !psn.get().is_multiple_of(STRIDE));
        let Some(moved) = moved.filter(|_| !within) else {
            self.reported.odd_windows += 1;
            return;
        };
        self.reported.leaps += u64::from(moved > WINDOW);
        let Some(highest) = self.highest else { return };
        let before = near(highest, ack::first_of(ack.before_psn));
        let now = near(highest, ack::first_of(psn));
        // What moved out of the window has its last word in the one before.
        for bit in (0..WINDOW).take_while(|&bit| bit < moved) {
            self.bit(before + Number::from(bit), ack.before >> bit & 1 == 1);
        }
        // Above the highest that came nothing is missing yet.
        for bit in 0..WINDOW - ack.now.leading_zeros().min(WINDOW) {
            self.bit(now + Number::from(bit), ack.now >> bit & 1 == 1);
        }
    }

    /// What a bitmap says of a packet. Of those before the first that passed nobody knows.
    fn bit(&mut self, number: Number, has_come: bool) {
        let Some((&first, _)) = self.passed.first_key_value() else { return };
        let passed = self.passed.get(&number);
        if passed.is_some_and(|(.., is_marked)| !is_marked) {
            return;
        }
        let passed = passed.is_some();
        match (number >= first, has_come) {
            (true, false) => {
                self.missing.entry(number).or_insert(passed);
            }
            (true, true) if !passed => {
                self.unseen.insert(number);
            }
            _ => {}
        }
    }

    /// A connection ends: what is known of its numbers is counted and forgotten.
    fn close(&mut self) {
        let Books { placed, reported, passed, missing, unseen, .. } = self;
        if let (Some((first, _)), Some((last, _))) =
            (passed.first_key_value(), passed.last_key_value())
        {
            let all = u64::try_from(last - first + 1).unwrap_or(0);
            placed.never_seen += all - count(passed.len());
        }
        let mut begun: Option<(Posted, Number)> = None;
        for (&number, &(posted, stands, _)) in &*passed {
            let goes_on = begun.is_some_and(|of| of == (posted, number - 1));
            let ends = match stands {
                Stands::Only => true,
                Stands::Last => goes_on,
                Stands::First | Stands::Middle => false,
            };
            *placed.messages.entry(posted).or_default() += u64::from(ends);
            let open = stands == Stands::First || (stands == Stands::Middle && goes_on);
            begun = open.then_some((posted, number));
        }
        placed.messages.retain(|_, count| *count > 0);
        reported.missing += count(missing.len());
        reported.missing_but_passed += count(missing.values().filter(|&&passed| passed).count());
        reported.come_but_not_passed += count(unseen.len());
        for run in runs(missing.keys().copied()) {
            if reported.missing_runs.len() < RUNS {
                reported.missing_runs.push(run);
            }
        }
        passed.clear();
        missing.clear();
        unseen.clear();
        self.highest = None;
    }
}

/// The number of `psn` that is nearest to `highest`.
fn near(highest: Number, psn: Psn) -> Number {
    let ahead = (Number::from(psn.get()) - highest).rem_euclid(SPACE);
    highest + if ahead < SPACE / 2 { ahead } else { ahead - SPACE }
}

/// Numbers that follow each other, first and last, as they stand in packets.
fn runs(numbers: impl Iterator<Item = Number>) -> Vec<[u32; 2]> {
    let mut all: Vec<(Number, Number)> = Vec::new();
    for number in numbers {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => all.push((number, number)),
        }
    }
    let psn = |number: Number| u32::try_from(number.rem_euclid(SPACE)).unwrap_or(0);
    all.into_iter().map(|(first, last)| [psn(first), psn(last)]).collect()
}

fn count(of: usize) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}
