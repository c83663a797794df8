//! Whether the steps of an application above two NICs come in their order, within its credits, and all of them.

pub(in super::super) mod checksums;
pub(in super::super) mod keys;
mod played;
pub(in super::super) mod stream;

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::super::stamps;
use super::{BEHIND, OF_FLOW, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::app::{Awaits, Misstep, StepMessage, missteps};
use crate::spec::nic::app::{SOURCE, StepShape, WaitsFor, awaited};
use crate::spec::nic::rc::timeout_after;
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use played::{Instants, Played};
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{AppStep, Case, Measure, RoceKind, Verb};
use rig_units::Quanta;
use std::collections::BTreeMap;

/// What every measure of an application is: of the NIC that the flow it is about belongs to, whatever passes frames on before that.
const OF_APP: Known = Known {
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `app.protocol`.
pub(in super::super) static PROTOCOL: Known = Known {
    entry: Entry {
        name: "app.protocol",
        parts: Some(&[Part::Rc]),
        about: "messages of a step of an application: each once the step before it is complete, within the credits, and none missing",
        source: SOURCE,
        sense: is_step,
        shares_pairs: true,
        ..OF_FLOW
    },
    tells: Tells::Each("message; of the time before a step, what stamps leave open"),
    red: Red::Mutated("medium-writes-and-then-says-so", "deviation=app_done_too_soon"),
    expected: |measure, context, _| {
        let step = context.case.flows.get(measure.named("flow")).and_then(|flow| flow.app);
        let text = step.map_or(String::new(), told);
        by_source(text, SOURCE)
    },
    judge: |measure, done, judged| protocol(done, measure.named("flow"), judged),
    stamps: Some(|measure, context, script| stamps::turns(context, script, measure.named("flow"))),
    knows_class_limits: true,
    ..OF_APP
};

/// What is due of a step, for people.
fn told(step: AppStep) -> String {
    let AppStep { nth, rounds, credits, chunks, at_once, think, one_pair, buffers, .. } = step;
    let mut text = match nth {
        0 => format!("{rounds} rounds, at most {credits} of them begun and not over"),
        _ => format!("once in each of {rounds} rounds, behind the step before it"),
    };
    if chunks > 1 {
        let many = if at_once == 1 { "one is" } else { &format!("{at_once} are") };
        text += &format!(", in {chunks} chunks of which {many} under way at a time");
    }
    if think > rig_units::Dur::ZERO {
        text += &format!(", {think} later");
    }
    if let Some(buffers) = buffers {
        text += &format!(", into one of {buffers} buffers that is free");
    }
    if one_pair {
        text += ", by the one queue pair of all steps in their order";
    }
    text
}

/// It is of a flow of an application.
fn is_step(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let other = case.flows.get(name).filter(|flow| flow.app.is_none());
    let fault = other.map(|_| {
        let found = format!("`app.protocol` of `{name}`, which is no step of an application");
        case.fault(
            "measure",
            found,
            "an application of the case that is started, or one of its flows",
        )
    });
    fault.into_iter().collect()
}

/// Nothing is said of when messages are complete where what a NIC keeps, or throws away, does not show.
fn shown(trial: &Trial, played: &Played<'_>) -> Result<(), Unread> {
    for (port, seen) in &played.ends {
        if selective::is_kept(&seen.nic.rc) {
            let part = seen.part;
            let why = format!(
                "`{part}` keeps what comes behind a hole: when a message is complete is left open"
            );
            return Err(Unread::NotApplicable(why));
        }
        for step in &played.steps {
            spoilt::by_whom(trial, seen, step.connection)?;
        }
        let stops = trial.observation.records.iter().any(|one| match one.what {
            What::Pfc { quanta, .. } => {
                (one.port, one.dir) == (*port, Dir::Tx) && quanta.iter().any(|all| *all > Quanta(0))
            }
            _ => false,
        });
        let slowed = seen.reached.iter().any(|one| matches!(one.kind, RoceKind::Cnp { .. }));
        if stops || slowed {
            let why = "a NIC of it was paused, or slowed down by CNPs";
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(why) }.into());
        }
    }
    Ok(())
}

/// A NIC that has sent a packet as often as it tries may have given its connection up, and with it all that is still to come.
fn may_be_over(played: &Played<'_>) -> Option<String> {
    played.ends.values().find_map(|seen| {
        let rc = &seen.nic.rc;
        timeout_after(rc, 0)?;
        played.steps.iter().find_map(|step| {
            let mut sent: BTreeMap<u32, u32> = BTreeMap::new();
            for one in seen.left.iter().filter(|one| one.roce.connection == step.connection) {
                let asks = matches!(
                    one.roce.kind,
                    RoceKind::Data { response: false, .. } | RoceKind::ReadRequest
                );
                *sent.entry(one.roce.psn).or_default() += u32::from(asks);
            }
            let times = sent.into_values().max().filter(|times| *times > rc.retries.into())?;
            let (part, retries) = (seen.part, rc.retries);
            Some(format!(
                "a packet of `{part}` left {times} times, and it tries {retries} times again: it has given its connection up, or may have"
            ))
        })
    })
}

fn protocol(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    done.each("app.protocol", name, judged, |trial| {
        let (_, spec) = trial.flow(name)?;
        let Some(shape) = spec.app else {
            return Err(Unread::NotApplicable(format!("{name} is no step of an application")));
        };
        let played = Played::of(done, trial, shape.app);
        shown(trial, &played)?;
        if let Some(why) = may_be_over(&played) {
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let nth = usize::from(shape.nth);
        let seen = &played.ends[&spec.nic];
        let shapes: Vec<StepShape> = (played.steps.iter())
            .map(|step| StepShape {
                chunks: step.shape.chunks,
                at_once: step.shape.at_once,
                end: step.flow.nic,
                reads: step.flow.verb == Verb::Read,
                buffers: step.shape.buffers,
            })
            .collect();
        let instants = Instants::of(trial, &played, spec.nic);
        let apart = seen.apart;
        let begun = played.left(nth, |place| place.packet == 0);
        let messages: Vec<StepMessage> = (0..shape.messages())
            .map(|message| {
                let rule = (shape.credits, shape.one_pair);
                let awaits = awaited(&shapes, rule, nth, message).into_iter();
                let awaits = awaits.map(|one| Awaits {
                    step: one.step,
                    message: one.message,
                    why: one.why,
                    complete: match one.why {
                        WaitsFor::QueueBefore => instants.left(one.step, one.message),
                        _ => instants.complete(&played, one.step, one.message),
                    },
                });
                let thinks = message.is_multiple_of(shape.chunks);
                let think = if thinks { shape.think } else { rig_units::Dur::ZERO };
                StepMessage {
                    began: begun.get(&message).map(|(at, _)| *at),
                    awaits: awaits.collect(),
                    thinks: (apart.least(think), apart.most(think)),
                }
            })
            .collect();
        let blur = seen.bound * 2;
        let (mut all, found) = missteps(&messages, blur);
        let misplaced = played.misplaced(nth);
        if let Some((message, Misstep::Never(_, due))) = found.last()
            && misplaced.is_empty()
        {
            // What is before it in its queue pair has to be over, and its port to have had nothing to send for a while.
            let queued = messages.get(usize::try_from(*message).unwrap_or(usize::MAX));
            let queued = queued.iter().flat_map(|one| &one.awaits);
            let queued = queued.filter(|one| one.why == WaitsFor::QueueBefore);
            let ahead = queued.map(|one| (one.step, one.message));
            let own = message.checked_sub(1).map(|before| (nth, before));
            let waits = ahead
                .chain(own)
                .any(|(step, before)| instants.complete(&played, step, before).is_none());
            let last = seen.left.iter().map(|one| one.at).filter(|at| *at < seen.until).max();
            let quiet = seen.until.since(last.unwrap_or_default().max(*due)).unwrap_or_default();
            if waits || quiet <= seen.busy + seen.turn + blur {
                let why = format!("it ended before {} was to be seen", played.name(nth, *message));
                return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
            }
            all += 1;
        }
        let first = misplaced.first().map(|(_, wrong)| wrong.clone()).or_else(|| {
            let (message, wrong) = found.first()?;
            let began = begun.get(message).map(|(at, _)| *at);
            Some(played.told((nth, *message), began, wrong))
        });
        let (wrong, things) = match misplaced.len() {
            0 => (found.len(), "messages"),
            some => (some, "packets"),
        };
        let got = first.map(|first| match wrong {
            1 => first,
            more => format!("{first}; and {} {things} more", more - 1),
        });
        let text = told(shape);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text,
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(wrong).unwrap_or(u64::MAX));
        let record = misplaced.first().map(|(record, _)| *record);
        let record = record.or_else(|| Some(begun.get(&found.first()?.0)?.1));
        let records = record.into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "messages") })
    });
}
