//! What comes with a message beside its payload: immediate data and keys to revoke, and what atomic operations find.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::end::End;
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::rc::{Packet, before};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, RoceKind, Verb};

/// `rc.immediate`.
pub(in super::super) static IMMEDIATE: Known = Known {
    entry: Entry {
        name: "rc.immediate",
        parts: Some(&[Part::Rc]),
        about: "immediate data, or a key to revoke, with the last packet of each message that has it",
        source: IMMEDIATE_BY,
        sense: |measure, case| is_of(measure, case, Verb::has_tail, "immediate data or a key"),
        ..OF_FLOW
    },
    tells: Tells::Each("message"),
    red: Red::Mutated("immediate-of-each-message", "deviation=immediate_dropped"),
    expected: |_, _, _| by_source("with the last packet of each message", IMMEDIATE_BY),
    judge: |measure, done, judged| immediate(done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    knows_class_limits: true,
    ..Known::USUAL
};

const IMMEDIATE_BY: &str =
    "IBTA volume 1, 9.4.1 and 9.4.3: in the last packet of a message, or its only one";

/// `rc.atomic`.
pub(in super::super) static ATOMIC: Known = Known {
    entry: Entry {
        name: "rc.atomic",
        parts: Some(&[Part::Rc]),
        about: "what atomic operations find: each was executed once, whoever asked again for its answer",
        source: ATOMIC_BY,
        sense: |measure, case| is_of(measure, case, Verb::is_atomic, "an atomic operation"),
        ..OF_FLOW
    },
    tells: Tells::Each("answer"),
    red: Red::Mutated("atomic-operation-that-comes-twice", "deviation=atomic_executed_twice"),
    expected: |_, _, _| {
        by_source(
            "one more with each operation, and the same again for one that comes again",
            ATOMIC_BY,
        )
    },
    judge: |measure, done, judged| atomic(done, measure.named("flow"), judged),
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.to.clone()),
    ..Known::USUAL
};

const ATOMIC_BY: &str = "IBTA volume 1, 9.4.5 and 9.7.5.1.5: a duplicate is answered from what was saved, and not executed";

/// The flow that it looks at has what it looks for.
fn is_of(measure: &Measure, case: &Case, has: fn(Verb) -> bool, what: &str) -> Vec<Fault> {
    let name = measure.named("flow");
    let fault = case.flows.get(name).filter(|flow| !has(flow.verb)).map(|flow| {
        let word = Verb::NAMES.iter().find(|(_, verb)| *verb == flow.verb).map(|(word, _)| *word);
        let found =
            format!("`{}` of `{name}`, with `verb: {}`", measure.name(), word.unwrap_or(""));
        let verbs = Verb::NAMES.iter().filter(|(_, verb)| has(*verb));
        let verbs: Vec<&str> = verbs.map(|(word, _)| *word).collect();
        case.fault("measure", found, format!("a flow with {what}: {}", verbs.join(", ")))
    });
    fault.into_iter().collect()
}

/// An atomic operation that comes again when a later one was taken is answered with its own number, as no other message is. `free` is the
/// part of the NIC that asks, where that may send again more than what is missing.
pub(super) fn none_late(
    trial: &Trial,
    name: &str,
    first: Psn,
    packets: &[Packet],
    free: Option<&str>,
) -> Result<(), Unread> {
    let is_atomic = trial.flow(name).is_ok_and(|(_, spec)| spec.verb.is_atomic());
    let mut next = first;
    let late = packets.iter().any(|packet| {
        if packet.psn == next {
            next = next.advance(1);
        }
        packet.psn.ahead_of(next).is_none() && packet.psn != before(next)
    });
    if !is_atomic || !late {
        return Ok(());
    }
    let why = format!(
        "{name}: an atomic operation came again after a later one: what it found `rc.atomic` judges, and which number its answer has is left open"
    );
    Err(match free {
        Some(of) => {
            Unread::NotApplicable(format!("{why}; `{of}.rc.resend_extra` lets it come again"))
        }
        None => Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into(),
    })
}

fn immediate(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rc.immediate", flow, judged, |trial| {
        let end = End::sender(trial, flow)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::data(&seen, end.connection) {
            return spoilt.read(trial);
        }
        let own = seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let last = own.filter(|one| {
            matches!(one.roce.kind, RoceKind::Data { last: true, response: false, .. })
        });
        let (mut all, mut without) = (0, Vec::new());
        for one in last {
            all += 1;
            if !one.roce.tail {
                without.push(one);
            }
        }
        let got = without.first().map(|first| {
            format!("{} of {all} without, the first at PSN {}", without.len(), first.roce.psn)
        });
        let want = Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "",
            text: format!("each of {all} last packets of messages with what belongs to it"),
            source: IMMEDIATE_BY,
        };
        let span = Span::exactly(u64::try_from(without.len()).unwrap_or(u64::MAX));
        let records = without.iter().map(|one| one.record).collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "messages") })
    });
}

fn atomic(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rc.atomic", flow, judged, |trial| {
        // What the operations leave of the memory, the end that they are done at says.
        let end = End::receiver(trial, flow)?;
        let seen = Passage::of(done, trial, end.port);
        if let Some(spoilt) = spoilt::answers(&seen, end.connection) {
            return spoilt.read(trial);
        }
        let own = seen.left.iter().filter(|one| one.roce.connection == end.connection);
        let acks = own.filter(|one| one.roce.kind == RoceKind::Ack);
        // What was there before the first operation nobody knows: the first answer tells.
        let mut before = None;
        let (mut all, mut wrong) = (0, Vec::new());
        for one in acks {
            all += 1;
            let psn = one.roce.psn;
            let place = Psn::new(psn).ahead_of(end.first).unwrap_or(0);
            let Some(found) = one.roce.found else {
                wrong.push((one.record, format!("PSN {psn} was acknowledged without what it found")));
                continue;
            };
            let due = before.get_or_insert(found.wrapping_sub(place)).wrapping_add(place);
            if found != due {
                wrong.push((one.record, format!("PSN {psn} found {found} where {due} was due, one more than the one before it: one was executed twice, or not at all")));
            }
        }
        let got = wrong.first().map(|(_, first)| match wrong.len() {
            1 => first.clone(),
            some => format!("{first}; and {} answers more", some - 1),
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "found(n) = found(0) + n",
            text: format!("each of {all} answers with one more than the operation before it found"),
            source: ATOMIC_BY,
        };
        let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        let records = wrong.into_iter().map(|(record, _)| record).collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "answers") })
    });
}
