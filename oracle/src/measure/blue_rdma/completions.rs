//! Completions: a WRITE when its acknowledgement has come, a READ when its answer has come whole as well, each behind all before it.
//!
//! They are not on the wire: the driver's own counter says how many there were, the wire how many there should have been.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Needs, Red, Tells, by_source};
use super::{Come, End, Flow, OF_FLOW, counter_of, of_either, reading};
use crate::spec::blue_rdma::{SOURCE, near};
use rig_capture::blue_rdma::Says;
use rig_testcases::Verb;
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// `blue_rdma.completions`.
pub(in super::super) static COMPLETIONS: Known = Known {
    entry: Entry {
        name: "blue_rdma.completions",
        about: "messages that the NIC's driver says are over: a WRITE once it is acknowledged, a READ once its answer has come whole, too, and each behind all before it",
        sense: of_either,
        ..OF_FLOW
    },
    needs: |_| Needs::Counters,
    tells: Tells::Each("message"),
    red: Red::Mutated("read-whose-answer-never-comes", "deviation=read_completes_early"),
    expected: |_, _, _| by_source("one for each message that is over, in order", SOURCE),
    judge: |measure, done, judged| completions(done, measure.named("flow"), judged),
    ..Known::USUAL
};

/// What answers to READs have come.
pub(super) struct Answers {
    /// All before it.
    base: i64,
    beyond: BTreeSet<i64>,
    /// Those that end an answer, and are not before a gap.
    ends: BTreeSet<i64>,
    /// Answers that came whole, and all before them.
    pub(super) whole: u64,
}

impl Answers {
    /// None, of those that begin with this number.
    pub(super) const fn none_before(first: i64) -> Answers {
        Answers { base: first, beyond: BTreeSet::new(), ends: BTreeSet::new(), whole: 0 }
    }

    /// A packet of one has come.
    pub(super) fn came(&mut self, psn: u32, last: bool) {
        let number = near(psn, self.base);
        if number < self.base {
            return;
        }
        self.beyond.insert(number);
        if last {
            self.ends.insert(number);
        }
        while self.beyond.remove(&self.base) {
            self.whole += u64::from(self.ends.remove(&self.base));
            self.base += 1;
        }
    }
}

fn completions(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.completions", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let name = counter_of(trial, seen.spec, rig_capture::blue_rdma::COMPLETIONS)?;
        let driver = done.context.seen().blue_rdma().map_or(Dur::ZERO, |declared| declared.driver);
        let blur = trial.observation.bound() * 2;
        let due = done.context.apart().most(driver) + seen.slots(2) + blur;
        let reads = seen.spec.verb == Verb::Read;
        let of_message = if reads { 1 } else { seen.packets };
        let mut come = Come::none_before(seen.first);
        let mut answers = Answers::none_before(seen.first);
        let (mut reached, mut least, mut most, mut last) = (seen.first, 0, 0, 0);
        for one in &seen.passed {
            match one.frame.says {
                _ if one.sent && one.frame.is_own() => {
                    reached = reached.max(near(one.frame.psn, reached) + 1);
                }
                Says::Response { last, .. } if !one.sent => answers.came(one.frame.psn, last),
                Says::Report { .. } if !one.sent => come.told(&one.frame, reached),
                _ => {}
            }
            let acknowledged = (come.base - seen.first).div_euclid(of_message);
            let acknowledged = u64::try_from(acknowledged).unwrap_or(0);
            most = if reads { acknowledged.min(answers.whole) } else { acknowledged };
            if one.at + due < Time::ZERO + trial.script.length {
                (least, last) = (most, one.record);
            }
        }
        let Some(got) = trial.observation.counters.grew(&name) else {
            return Err(trial.doubt(&format!("the device offers no counter {name}")).into());
        };
        let sent = (reached - seen.first).div_euclid(of_message);
        let over = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let text = format!("{name} grown by {over} for {sent} messages that left");
        let wrong = (got < least || got > most).then(|| {
            let text = format!("{name} grew by {got} where {over} of {sent} messages are over");
            (last, text)
        });
        let count = usize::try_from(sent.max(0)).unwrap_or(0);
        Ok(reading(text, wrong.into_iter().collect(), (count, "messages")))
    });
}
