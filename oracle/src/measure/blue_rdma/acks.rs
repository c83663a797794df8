//! What the driver acknowledges: each message when all up to its end has come, and nothing before.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, packets, reading};
use crate::spec::blue_rdma::{SOURCE, near, psn};
use rig_capture::blue_rdma::Says;
use rig_testcases::vocabulary::Entry;
use rig_units::Dur;
use std::collections::BTreeSet;

/// `blue_rdma.acks`.
pub(in super::super) static ACKS: Known = Known {
    entry: Entry {
        name: "blue_rdma.acks",
        about: "acknowledgements by the driver, by the packets that reached its NIC, in whatever order: each message that came whole, and none of which something is missing",
        ..OF_FLOW
    },
    tells: Tells::Each("message"),
    red: Red::Mutated("lost-packet-of-a-window", "deviation=completes_early"),
    expected: |_, _, _| by_source("each message once all up to its end has come", SOURCE),
    judge: |measure, done, judged| acks(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

fn acks(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.acks", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Receiver)?;
        let driver = done.context.seen().blue_rdma().map_or(Dur::ZERO, |declared| declared.driver);
        let due = done.context.apart().most(driver) + seen.slots(seen.passed.len().min(64));
        let (mut come, mut base, mut acked) = (BTreeSet::new(), seen.first, seen.first);
        // All before it had come early enough to be acknowledged within the trial.
        let (mut in_time, mut last) = (seen.first, 0);
        let mut wrong = Vec::new();
        for one in &seen.passed {
            match one.frame.says {
                Says::Data { .. } if !one.sent => {
                    let number = near(one.frame.psn, base);
                    if number >= base {
                        come.insert(number);
                    }
                    while come.remove(&base) {
                        base += 1;
                    }
                    if one.at + due < seen.until {
                        (in_time, last) = (base, one.record);
                    }
                }
                Says::Report { by_driver: true, lost, before_psn, .. } if one.sent => {
                    let said = if lost { before_psn } else { one.frame.psn };
                    let said = near(said, base);
                    if said > base {
                        let what = if lost { "a NAK" } else { "an acknowledgement" };
                        wrong.push((
                            one.record,
                            format!(
                                "{what} of all before PSN {}, where {} has not come",
                                psn(said),
                                psn(base)
                            ),
                        ));
                    }
                    acked = if lost { acked } else { acked.max(said) };
                }
                _ => {}
            }
        }
        let whole = |until: i64| (until - seen.first).div_euclid(seen.packets);
        let (came, told) = (whole(in_time), whole(acked.min(base)));
        if told < came {
            let text = format!("{came} messages came whole, and {told} of them are acknowledged");
            wrong.push((last, text));
        }
        let text = format!("{came} messages acknowledged, each when it was whole");
        let count = usize::try_from(came.max(0)).unwrap_or(0) + wrong.len();
        Ok(reading(text, wrong, (count, "messages")))
    });
}
