//! What the driver sends again: the range that each acknowledgement of a loss asks for, and all that is missing when its timer runs out;
//! nothing else.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{Come, End, Flow, OF_FLOW, Passed, packets, reading};
use crate::spec::blue_rdma::{self as spec, SOURCE, STRIDE, lowest, near, psn};
use rig_capture::blue_rdma::{Frame, Says};
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time, Within};
use std::collections::VecDeque;

/// `blue_rdma.resent`.
pub(in super::super) static RESENT: Known = Known {
    entry: Entry {
        name: "blue_rdma.resent",
        about: "packets that are sent again, by the acknowledgements that reached the sender: the range that each asks for, and all that is missing once the driver's timer has run out",
        ..OF_FLOW
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("lost-packet-of-a-window", "deviation=resends_a_stride_less"),
    expected: |_, _, _| {
        by_source(
            "from the first of the window before to the end of the newest stride, of messages that begin there",
            SOURCE,
        )
    },
    judge: |measure, done, judged| resent(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

/// What the sender owes, by what it sent and what it was told.
struct Owes {
    /// Number of the first packet, and packets of a message.
    messages: (i64, i64),
    /// All before it were sent.
    reached: i64,
    come: Come,
    /// What is due next: which number, whether it must be sent, and since when.
    due: VecDeque<(i64, bool, Time)>,
    /// How long the timer lasts, and how often it may run out in a row.
    timer: (Option<Within>, u8),
    /// Since when there has been no progress: as early and as late as that may be.
    since: [Time; 2],
    rounds: u8,
    /// Acknowledgements that moved `base`: when they came, and what that and the time of the last progress were before.
    moved: VecDeque<(Time, i64, Time)>,
    /// What the driver takes to look at an acknowledgement, and two frames at the port.
    driver: Dur,
    wrong: Vec<(usize, String)>,
}

impl Owes {
    fn see(&mut self, one: &Passed) {
        if one.sent && one.frame.is_data() {
            let number = near(one.frame.psn, self.reached);
            if number < self.reached {
                return self.sent_again(number, one);
            }
            if self.come.base == self.reached {
                self.since = [one.at; 2];
            }
            // What leaves for the first time once the driver has looked is none of what it sends again for that.
            let driver = self.driver;
            self.due
                .retain(|&(due, must, since)| must || due != number || since + driver >= one.at);
            self.reached = number + 1;
        } else if !one.sent {
            self.told(&one.frame, one.at);
        }
    }

    fn sent_again(&mut self, number: i64, one: &Passed) {
        while let Some(&(due, must, _)) = self.due.front() {
            if due == number || !must {
                self.due.pop_front();
            }
            if due == number {
                return;
            }
            if must {
                break;
            }
        }
        let (timer, most) = self.timer;
        // Or that from which it went on before what the driver has not looked at.
        while self.moved.front().is_some_and(|(at, ..)| *at + self.driver < one.at) {
            self.moved.pop_front();
        }
        let before = self.moved.iter().map(|&(_, base, since)| (base, since));
        let ran_out = timer.and_then(|timer| {
            let mut all = before.chain([(self.come.base, self.since[0])]);
            let own =
                |(base, since): &(i64, Time)| *base == number && *since + timer.least() <= one.at;
            all.find(own).map(|(_, since)| since + timer.least())
        });
        if let Some(ran_out) = ran_out.filter(|_| self.rounds < most) {
            (self.rounds, self.since) = (self.rounds + 1, [ran_out, one.at]);
            // What the driver had not looked at comes behind, and it may have looked at it.
            let driver = self.driver;
            self.due.retain(|(.., since)| *since + driver >= one.at);
            let behind = self.due.drain(..).map(|(due, _, since)| (due, false, since));
            let again = (number + 1..self.reached).map(|due| (due, true, one.at));
            self.due = again.chain(behind).collect();
            return;
        }
        if self.may_have_given_up(one.at) {
            return;
        }
        let why = match self.due.front() {
            Some((due, ..)) => format!("where {} is due", psn(*due)),
            None => "and nothing asks for it".to_owned(),
        };
        self.wrong.push((one.record, format!("PSN {} is sent again, {why}", psn(number))));
    }

    /// Whether the timer may have run out once more than the driver bears: then it owes nothing any more.
    fn may_have_given_up(&self, at: Time) -> bool {
        let (timer, most) = self.timer;
        timer.is_some_and(|timer| self.rounds >= most && self.since[0] + timer.least() <= at)
    }

    /// An acknowledgement has come.
    fn told(&mut self, frame: &Frame, at: Time) {
        let Says::Report { by_driver, lost, before_psn, .. } = frame.says else { return };
        let base = self.come.base;
        let [old, new] = [before_psn, frame.psn].map(|one| near(one, base));
        self.come.told(frame, self.reached);
        if self.come.base > base {
            self.moved.push_back((at, base, self.since[0]));
            (self.since, self.rounds) = ([at, at + self.driver], 0);
        }
        if lost {
            let range = if by_driver { [old, new] } else { [lowest(old), new + STRIDE] };
            // What leaves while the driver looks at it may be among them or not.
            let again = spec::again(range, self.messages, self.come.base);
            let reached = self.reached;
            self.due.extend(again.map(|number| (number, number < reached, at)));
        }
    }

    /// The trial ends: what had to be sent again by `until`, where the driver takes so long.
    fn close(&mut self, until: Time, takes: Dur, last: usize) {
        if self.may_have_given_up(until) {
            return;
        }
        let late = self.due.iter().find(|(_, must, since)| *must && *since + takes < until);
        if let Some((due, ..)) = late {
            let text =
                format!("PSN {} is not sent again, and an acknowledgement asks for it", psn(*due));
            return self.wrong.push((last, text));
        }
        let (timer, most) = self.timer;
        let Some(timer) = timer.filter(|_| self.come.base < self.reached && self.rounds < most)
        else {
            return;
        };
        let silent = self.due.is_empty() && self.since[1] + timer.most() + takes < until;
        if silent {
            let text = format!(
                "nothing is sent again from PSN {} on, {} after the last that is known to have come",
                psn(self.come.base),
                timer.most()
            );
            self.wrong.push((last, text));
        }
    }
}

fn resent(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.resent", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let Some(declared) = done.context.seen().blue_rdma() else {
            return Err(trial.doubt("it is no NIC of blue-rdma").into());
        };
        let apart = done.context.apart();
        let mut owes = Owes {
            messages: (seen.first, seen.packets),
            reached: seen.first,
            come: Come::none_before(seen.first),
            due: VecDeque::new(),
            timer: (spec::timeout(declared).map(|lasts| apart.range(lasts)), declared.retries),
            since: [Time::ZERO; 2],
            moved: VecDeque::new(),
            driver: apart.most(declared.driver) + seen.slots(2),
            rounds: 0,
            wrong: Vec::new(),
        };
        seen.passed.iter().for_each(|one| owes.see(one));
        let takes = apart.most(declared.driver) + seen.slots(seen.passed.len());
        let last = seen.passed.last().map_or(0, |one| one.record);
        owes.close(seen.until, takes, last);
        let sent = usize::try_from(owes.reached - seen.first).unwrap_or(0);
        let text =
            "what acknowledgements of a loss ask for, and what a timer does, and nothing else"
                .to_owned();
        Ok(reading(text, owes.wrong, (sent, "packets")))
    });
}
