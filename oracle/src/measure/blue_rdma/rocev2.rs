//! What a NIC of blue-rdma does with a packet of RoCEv2 in the place of one of its own: nothing, as no key stands where it expects one.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, Passed, packets, reading};
use crate::spec::blue_rdma::{SOURCE, come, near, psn};
use crate::trials::trial::Trial;
use rig_capture::blue_rdma::Says;
use rig_capture::{Dir, What};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Roce, RoceKind};
use rig_units::Time;
use std::collections::BTreeSet;

/// `blue_rdma.rocev2`.
pub(in super::super) static ROCEV2: Known = Known {
    entry: Entry {
        name: "blue_rdma.rocev2",
        about: "what becomes of packets of RoCEv2 that reach a queue pair: none is answered, and nothing says that one has come",
        ..OF_FLOW
    },
    tells: Tells::Each("packet of RoCEv2"),
    red: Red::Mutated("rocev2-among-them", "deviation=answers_rocev2"),
    expected: |_, _, _| {
        by_source("nothing: what stands where the key should be is none of its own", SOURCE)
    },
    judge: |measure, done, judged| rocev2(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

/// A packet of RoCEv2 at the port of the NIC that receives the flow.
struct Other {
    record: usize,
    at: Time,
    sent: bool,
    roce: Roce,
}

/// Those of the flow's connection, in order.
fn others(trial: &Trial, seen: &Flow<'_>, connection: u16) -> Vec<Other> {
    let port = seen.spec.to;
    let all = trial.observation.records.iter().enumerate();
    let own = all.filter_map(|(record, one)| match one.what {
        What::Roce(roce) if (one.port, roce.connection) == (port, connection) => {
            let (sent, way) = (one.dir == Dir::Rx, seen.trace.way(roce.size));
            let at = if sent { one.at.saturating_sub(way) } else { one.at + way };
            Some(Other { record, at, sent, roce })
        }
        _ => None,
    });
    own.collect()
}

/// The number of a packet that an acknowledgement says has come, among `foreign`, which never came as one of the NIC's own; all before `first` count as come.
fn taken(said: &Passed, (first, foreign): (i64, &BTreeSet<i64>)) -> Option<i64> {
    let Says::Report { by_driver, lost, before, now, before_psn, .. } = said.frame.says else {
        return None;
    };
    let near = |one: u32| near(one, foreign.last().copied().unwrap_or(first));
    let [old, new] = [before_psn, said.frame.psn].map(near);
    if by_driver {
        let base = if lost { old } else { new };
        return foreign.range(..base).next().copied();
    }
    let mut all = come(old, before.into()).chain(come(new, now.into()));
    all.find(|number| foreign.contains(number))
}

fn rocev2(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.rocev2", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Receiver)?;
        let (index, _) = trial.flow(flow)?;
        let others = others(trial, &seen, trial.script.connection(index));
        let (answers, came): (Vec<_>, Vec<_>) = others.into_iter().partition(|one| one.sent);
        let mut wrong: Vec<(usize, String)> = answers
            .iter()
            .map(|one| {
                let what = match one.roce.kind {
                    RoceKind::Ack => "an acknowledgement",
                    RoceKind::Nak => "a NAK",
                    _ => "a packet",
                };
                (one.record, format!("{what} of RoCEv2 of PSN {} leaves the NIC", one.roce.psn))
            })
            .collect();
        let (mut foreign, mut own) = (BTreeSet::new(), BTreeSet::new());
        let mut arrives = came.iter().peekable();
        for one in &seen.passed {
            while let Some(other) = arrives.next_if(|other| other.at <= one.at) {
                let number = near(other.roce.psn, seen.first);
                if !own.contains(&number) {
                    foreign.insert(number);
                }
            }
            if one.frame.is_data() && !one.sent {
                let number = near(one.frame.psn, seen.first);
                foreign.remove(&number);
                own.insert(number);
            } else if let Some(number) = taken(one, (seen.first, &foreign)).filter(|_| one.sent) {
                let what = "has come by an acknowledgement, and only a packet of RoCEv2 had";
                wrong.push((one.record, format!("PSN {} {what}", psn(number))));
            }
        }
        let text = format!("none of {} packets of RoCEv2 taken or answered", came.len());
        Ok(reading(text, wrong, (came.len(), "packets of RoCEv2")))
    });
}
