//! What a sender has outstanding: no more packets than the one window of its driver holds, no more messages than the other, and the next message as soon as
//! there is room. Answers to READs are in no window: whoever asks has one.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::completions::Answers;
use super::{Come, End, Flow, OF_FLOW, Passed, beside, of_either, packets, reading};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::blue_rdma::{SOURCE, fits, near, psn};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::What;
use rig_capture::blue_rdma::{Frame, Says};
use rig_lab::declared::BlueRdma;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Action, Verb};
use rig_units::{Dur, Time};
use std::collections::BTreeSet;

/// `blue_rdma.windows`.
pub(in super::super) static WINDOWS: Known = Known {
    entry: Entry {
        name: "blue_rdma.windows",
        about: "what a sender has outstanding: no more packets and messages than its driver's windows hold, the next message as soon as there is room, and an answer to each READ",
        sense: of_either,
        ..OF_FLOW
    },
    tells: Tells::Each("message"),
    red: Red::Mutated("window-of-packets", "deviation=window_overrun"),
    expected: |_, context, _| {
        let declared = context.seen().blue_rdma();
        let windows = declared.map_or([0; 2], |of| [of.psn_window, of.msn_window]);
        let [packets, messages] = windows;
        by_source(format!("at most {packets} packets and {messages} messages"), SOURCE)
    },
    judge: |measure, done, judged| windows(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

/// What a sender has outstanding, by what it sent and what it was told.
struct Outstanding<'a> {
    declared: &'a BlueRdma,
    first: i64,
    /// Numbers of a message, of a READ that of its request.
    of_message: i64,
    reads: bool,
    come: Come,
    /// All before it have come, by what a NAK says beside.
    base: i64,
    answers: Answers,
    /// All before it were sent.
    reached: i64,
    /// When the last of its packets left.
    left: Time,
    /// Since when both windows have had room for the next message.
    room: Option<Time>,
    /// How late that may leave; `None` where something else may hold it back.
    wait: Option<Dur>,
    /// Most packets and messages that were outstanding.
    most: [i64; 2],
    /// How often one of the windows was full.
    full: usize,
    wrong: Vec<(usize, String)>,
}

impl Outstanding<'_> {
    /// Packets and messages that are outstanding with the next message, where all before `base` have come.
    fn with_next(&self, base: i64) -> [i64; 2] {
        let message = (self.reached - self.first).div_euclid(self.of_message);
        let acknowledged = (base - self.first).div_euclid(self.of_message);
        let answered = i64::try_from(self.answers.whole).unwrap_or(i64::MAX);
        let over = if self.reads { acknowledged.min(answered) } else { acknowledged };
        [self.first + (message + 1) * self.of_message - base, message + 1 - over]
    }

    /// Looks whether there is room, once something has passed at `at`.
    fn look(&mut self, at: Time) {
        let [packets, messages] = self.with_next(self.come.base);
        let had = self.room.is_some();
        self.room = fits(self.declared, packets, messages).then(|| self.room.unwrap_or(at));
        self.full += usize::from(had && self.room.is_none());
    }

    fn see(&mut self, one: &Passed) {
        match one.frame.says {
            _ if one.sent && one.frame.is_own() => self.sent(one),
            Says::Response { last, .. } if !one.sent => self.answers.came(one.frame.psn, last),
            Says::Report { .. } if !one.sent => self.told(&one.frame),
            _ => {}
        }
        self.look(one.at);
    }

    fn told(&mut self, frame: &Frame) {
        self.come.told(frame, self.reached);
        let Says::Report { by_driver, before_psn, .. } = frame.says else { return };
        let said = near(before_psn, self.base);
        // A NAK says how far all has come, which a driver may heed or not.
        let more = if by_driver && said <= self.reached { said } else { self.base };
        self.base = self.base.max(self.come.base).max(more);
    }

    fn sent(&mut self, one: &Passed) {
        let number = near(one.frame.psn, self.reached);
        let since = core::mem::replace(&mut self.left, one.at);
        if number < self.reached {
            return;
        }
        self.reached = number;
        if (number - self.first).rem_euclid(self.of_message) == 0 {
            let [packets, messages] = self.with_next(self.base);
            self.most = [self.most[0].max(packets), self.most[1].max(messages)];
            if !fits(self.declared, packets, messages) {
                let text = format!(
                    "with PSN {} {packets} packets and {messages} messages are outstanding",
                    psn(number)
                );
                self.wrong.push((one.record, text));
            }
            let waits = self.waits(since, one.at);
            self.wrong.extend(
                waits.map(|text| (one.record, format!("PSN {} waits {text}", psn(number)))),
            );
        }
        self.reached = number + 1;
    }

    /// That the next message waits, where there is room, the last packet left at `left`, and it is `now`.
    fn waits(&self, left: Time, now: Time) -> Option<String> {
        let since = self.room.filter(|_| self.reached > self.first)?.max(left);
        let waits = now.since(since).filter(|waits| self.wait.is_some_and(|wait| *waits > wait))?;
        Some(format!("{waits}, though its windows have room"))
    }
}

/// READs that came so early that an answer to each must have begun to leave, and those of which none did.
fn unanswered(trial: &Trial, flow: &str, driver: Dur) -> Result<[usize; 2], Doubt> {
    let seen = Flow::of(trial, flow, End::Receiver)?;
    let due = driver + seen.slots(seen.passed.len());
    let (mut asked, mut begun) = (BTreeSet::new(), BTreeSet::new());
    for one in &seen.passed {
        let number = near(one.frame.psn, seen.first);
        match one.frame.says {
            Says::Request { .. } if !one.sent && one.at + due < seen.until => {
                asked.insert(number - seen.first);
            }
            Says::Response { .. } if one.sent => {
                begun.insert((number - seen.first).div_euclid(seen.packets));
            }
            _ => {}
        }
    }
    Ok([asked.len(), asked.difference(&begun).count()])
}

fn windows(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.windows", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let (index, spec) = trial.flow(flow)?;
        let Some(declared) = done.context.seen().blue_rdma() else {
            return Err(trial.doubt("it is no NIC of blue-rdma").into());
        };
        let driver = done.context.apart().most(declared.driver) + seen.slots(4);
        let is_pfc = |what: &What| matches!(what, What::Pfc { .. } | What::BadPfc { .. });
        let is_held = trial.observation.records.iter().any(|one| is_pfc(&one.what))
            || beside(trial, spec).is_some();
        let (first, reads) = (seen.first, spec.verb == Verb::Read);
        let mut of = Outstanding {
            declared,
            first,
            of_message: if reads { 1 } else { seen.packets },
            reads,
            come: Come::none_before(first),
            base: first,
            answers: Answers::none_before(first),
            reached: first,
            left: Time::ZERO,
            room: None,
            wait: (!is_held).then(|| driver + trial.observation.bound() * 2),
            most: [0; 2],
            full: 0,
            wrong: Vec::new(),
        };
        seen.passed.iter().for_each(|one| of.see(one));
        let sent = (of.reached - first).div_euclid(of.of_message);
        let last = seen.passed.last().map_or(0, |one| one.record);
        let is_stopped =
            trial.script.steps.iter().any(|step| step.action == Action::StopFlow(index));
        // Of a sender that waits for an acknowledgement nobody knows whether it has given up.
        let is_idle = of.come.base == of.reached && !is_stopped;
        let is_more = spec.count.is_some_and(|count| sent < i64::from(count));
        if let Some(text) = of.waits(of.left, seen.until).filter(|_| is_idle && is_more) {
            of.wrong.push((last, format!("message {} waits {text}", sent + 1)));
        }
        if reads && !is_held {
            let [asked, never] = unanswered(trial, flow, driver)?;
            let text = format!("{never} of {asked} READs that came are never answered");
            of.wrong.extend((never > 0).then_some((last, text)));
        }
        if of.full == 0 && of.wrong.is_empty() {
            let why = "neither window of the driver was ever full";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
        let [packets, messages] = of.most;
        let text = format!(
            "at most {} packets and {} messages outstanding, of which there were {packets} and {messages}",
            declared.psn_window, declared.msn_window
        );
        Ok(reading(text, of.wrong, (usize::try_from(sent).unwrap_or(0), "messages")))
    });
}
