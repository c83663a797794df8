//! CNPs: hardware sends one for a packet that came marked, no sooner after the last than it is declared to.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, Passed, packets, reading};
use crate::spec::blue_rdma::{SOURCE, notified};
use rig_capture::blue_rdma::Says;
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time, Within};

/// `blue_rdma.cnps`.
pub(in super::super) static CNPS: Known = Known {
    entry: Entry {
        name: "blue_rdma.cnps",
        about: "CNPs of a NIC, by the packets that reached it marked: one for each, or one in each interval where it keeps one",
        ..OF_FLOW
    },
    tells: Tells::Each("CNP"),
    red: Red::Mutated("cnp-for-each-mark", "deviation=cnp_never"),
    expected: |_, _, _| by_source("one for a mark, `cnp_interval` apart", SOURCE),
    judge: |measure, done, judged| cnps(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

fn cnps(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.cnps", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Receiver)?;
        let Some(declared) = done.context.seen().blue_rdma() else {
            return Err(trial.doubt("it is no NIC of blue-rdma").into());
        };
        let apart = done.context.apart();
        let interval = apart.range(Within::exactly(declared.cnp_interval));
        let due = apart.most(declared.hardware) + seen.slots(4);
        let of = |is: &dyn Fn(&Passed) -> bool| -> Vec<Passed> {
            seen.passed.iter().filter(|one| is(one)).copied().collect()
        };
        let marked = of(&|one| !one.sent && one.frame.is_data() && one.frame.ce);
        let sent = of(&|one| one.sent && one.frame.says == Says::Cnp);
        let times: Vec<Time> = marked.iter().map(|one| one.at).collect();
        let told = notified(&times, interval, |before, at| {
            sent.get(before).is_some_and(|cnp| cnp.at >= at && cnp.at <= at + due)
        });
        let mut wrong = Vec::new();
        for (number, &cause) in told.iter().enumerate() {
            let cause = &marked[cause];
            match sent.get(number) {
                Some(cnp) if cnp.at < cause.at => {
                    let psn = cause.frame.psn;
                    let text = format!("CNP {} left before PSN {psn} came marked", number + 1);
                    wrong.push((cnp.record, text));
                }
                None if cause.at + due + waits(&seen, cause.at) < seen.until => {
                    let text = format!("no CNP for PSN {}, which came marked", cause.frame.psn);
                    wrong.push((cause.record, text));
                }
                _ => {}
            }
        }
        for cnp in sent.iter().skip(told.len()) {
            wrong.push((cnp.record, "a CNP that no mark asks for".to_owned()));
        }
        let text = format!("{} CNPs for {} packets that came marked", told.len(), marked.len());
        Ok(reading(text, wrong, (marked.len(), "marked packets")))
    });
}

/// What is behind it at the port: other answers.
fn waits(seen: &Flow<'_>, from: Time) -> Dur {
    seen.slots(seen.passed.iter().filter(|one| one.sent && one.at >= from).count())
}
