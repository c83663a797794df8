//! Whether the steps of an application above two NICs come in their order, within its credits, and all of them.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::super::stamps;
use super::end::says;
use super::receives::turned_away;
use super::{BEHIND, OF_FLOW, Passage, spoilt};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::app::{Awaits, Misstep, StepMessage, missteps};
use crate::judge::nic::rc::{Event, Progress, Sent, acknowledged, brought};
use crate::spec::nic::app::{SOURCE, WaitsFor, awaited};
use crate::spec::nic::rc::Packet;
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Dir, Span, Unit, What};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{AppStep, Case, FlowSpec, Measure, RoceKind, Verb};
use rig_units::{Quanta, Time};
use std::collections::BTreeMap;

/// `app.protocol`.
pub(in super::super) static PROTOCOL: Known = Known {
    entry: Entry {
        name: "app.protocol",
        parts: Some(&[Part::Rc]),
        about: "messages of a step of an application: each once the step before it is complete, within the credits, and none missing",
        source: SOURCE,
        sense: is_step,
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
    of_nic: |measure, case| Some(case.flows.get(measure.named("flow"))?.nic.clone()),
    crosses: |_, _| BEHIND,
    knows_class_limits: true,
    ..Known::USUAL
};

/// What is due of a step, for people.
fn told(step: AppStep) -> String {
    let AppStep { nth, rounds, credits, chunks, think, .. } = step;
    let mut text = match nth {
        0 => format!("{rounds} rounds, at most {credits} of them begun and not over"),
        _ => format!("once in each of {rounds} rounds, behind the step before it"),
    };
    if chunks > 1 {
        text += &format!(", in {chunks} chunks of which one is under way at a time");
    }
    if think > rig_units::Dur::ZERO {
        text += &format!(", {think} later");
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

/// An application, and what either end saw of it.
struct Played<'a> {
    /// Its steps: the flow of each, with its connection.
    steps: Vec<(&'a FlowSpec, AppStep, u16)>,
    /// What passed the NIC behind each of the two ports.
    ends: BTreeMap<u16, Passage<'a>>,
}

impl<'a> Played<'a> {
    fn of(done: &JudgeContext<'a>, trial: &'a Trial, app: u16) -> Played<'a> {
        let mut steps: Vec<(&FlowSpec, AppStep, u16)> = (0..)
            .zip(&trial.script.flows)
            .filter_map(|(index, flow)| Some((flow, flow.app?, trial.script.connection(index))))
            .filter(|(_, step, _)| step.app == app)
            .collect();
        steps.sort_by_key(|(_, step, _)| step.nth);
        let ports = steps.iter().flat_map(|(flow, ..)| [flow.nic, flow.to]);
        let ends = ports.map(|port| (port, Passage::of(done, trial, port))).collect();
        Played { steps, ends }
    }

    /// When the NIC behind a port had so many packets of a step whole: those of the other end as they came, its own as they were acknowledged, or brought.
    fn progress(&self, trial: &Trial, (flow, connection): (&FlowSpec, u16), port: u16) -> Progress {
        let seen = &self.ends[&port];
        let (first, is_own) = (Psn::new(flow.psn), flow.nic == port);
        let came = || seen.counted().filter(|(one, _)| one.connection == connection);
        let left = seen.left.iter().filter(|one| one.roce.connection == connection);
        if !is_own || flow.verb == Verb::Read {
            let refused = turned_away(trial, seen);
            let data = came().filter(|(one, _)| match one.kind {
                RoceKind::Data { response, .. } => {
                    response == is_own && !refused.contains(&one.record)
                }
                _ => false,
            });
            let data = data.map(|(one, at)| {
                let last = matches!(one.kind, RoceKind::Data { last: true, .. });
                Packet { at, psn: Psn::new(one.psn), last }
            });
            return brought(first, u64::MAX, &data.collect::<Vec<_>>());
        }
        let data = left.filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
        let sent = data.map(|one| Sent { at: one.at, psn: Psn::new(one.roce.psn) });
        let answers = came().filter_map(|(one, at)| {
            Some(Event { at, says: says(one.kind)?, psn: Psn::new(one.psn) })
        });
        acknowledged(first, &sent.collect::<Vec<_>>(), &answers.collect::<Vec<_>>(), seen.bound * 2)
    }

    /// When each message of a step left for the first time, with the record of that.
    fn begun(&self, flow: &FlowSpec, connection: u16) -> BTreeMap<u32, (Time, usize)> {
        let mut begun = BTreeMap::new();
        let packets = packets(flow);
        for one in &self.ends[&flow.nic].left {
            let asks = match one.roce.kind {
                RoceKind::Data { response, .. } => !response,
                kind => kind == RoceKind::ReadRequest,
            };
            let ahead = Psn::new(one.roce.psn).ahead_of(Psn::new(flow.psn));
            let ahead = ahead.filter(|ahead| {
                one.roce.connection == connection && asks && ahead.is_multiple_of(packets)
            });
            if let Some(ahead) = ahead {
                begun.entry(ahead / packets).or_insert((one.at, one.record));
            }
        }
        begun
    }

    /// The name of a message, counted from 1.
    fn name(&self, step: usize, message: u32) -> String {
        let (flow, shape, _) = self.steps[step];
        let (round, chunk) = (message / shape.chunks + 1, message % shape.chunks + 1);
        match shape.chunks {
            1 => format!("{} of round {round}", flow.name),
            _ => format!("chunk {chunk} of {} of round {round}", flow.name),
        }
    }

    /// That a message is complete, for whom it is.
    fn complete(&self, of: &Awaits, port: u16) -> String {
        let how = match self.steps[of.step].0 {
            flow if flow.nic != port => "received in whole",
            flow if flow.verb == Verb::Read => "brought in whole",
            _ => "acknowledged",
        };
        format!("{} was {how}", self.name(of.step, of.message))
    }

    fn told(&self, (step, message): (usize, u32), found: &Misstep) -> String {
        let (flow, shape, _) = self.steps[step];
        let name = self.name(step, message);
        match found {
            Misstep::TooSoon(of, by) => {
                let complete = self.complete(of, flow.nic);
                let before = match by {
                    Some(by) => format!("{by} before {complete}"),
                    None => format!("though it never came to that {complete}"),
                };
                match of.why {
                    WaitsFor::StepBefore => format!("{name} left {before}"),
                    WaitsFor::ChunkBefore => {
                        format!("{name} left {before}: more than one chunk was under way")
                    }
                    WaitsFor::Credit => format!(
                        "{name} left {before}: more than {} rounds were begun and not over",
                        shape.credits
                    ),
                }
            }
            Misstep::NoThought(of, thought) => format!(
                "{name} left {thought} after {}, where its sender has {} to do before",
                self.complete(of, flow.nic),
                shape.think
            ),
            Misstep::Never(Some(of), _) => match of.why {
                WaitsFor::Credit => format!(
                    "{name} never left, though {}: its credit was not given back",
                    self.complete(of, flow.nic)
                ),
                _ => format!("{name} never left, though {}", self.complete(of, flow.nic)),
            },
            Misstep::Never(None, _) => format!("{name} never left, and waits for nothing"),
        }
    }
}

/// Packets of a message.
fn packets(flow: &FlowSpec) -> u32 {
    flow.message.div_ceil(flow.mtu.max(1)).max(1)
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
        for (.., connection) in &played.steps {
            spoilt::by_whom(trial, seen, *connection)?;
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

fn protocol(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    done.each("app.protocol", name, judged, |trial| {
        let (_, spec) = trial.flow(name)?;
        let Some(shape) = spec.app else {
            return Err(Unread::NotApplicable(format!("{name} is no step of an application")));
        };
        let played = Played::of(done, trial, shape.app);
        shown(trial, &played)?;
        let nth = usize::from(shape.nth);
        let (_, _, connection) = played.steps[nth];
        let seen = &played.ends[&spec.nic];
        let chunks: Vec<u32> = played.steps.iter().map(|(_, step, _)| step.chunks).collect();
        let progress: Vec<Progress> = (played.steps.iter())
            .map(|(flow, _, connection)| played.progress(trial, (flow, *connection), spec.nic))
            .collect();
        let complete = |step: usize, message: u32| {
            let through = u64::from(message + 1) * u64::from(packets(played.steps[step].0));
            progress[step].reached(through).map(|step| step.at)
        };
        let begun = played.begun(spec, connection);
        let apart = seen.apart;
        let messages: Vec<StepMessage> = (0..shape.rounds * shape.chunks)
            .map(|message| {
                let awaits = awaited(&chunks, shape.credits, nth, message).into_iter();
                let awaits = awaits.map(|one| Awaits {
                    step: one.step,
                    message: one.message,
                    why: one.why,
                    complete: complete(one.step, one.message),
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
        if let Some((message, Misstep::Never(_, due))) = found.last() {
            // What is before it in its queue pair has to be over, and its port to have had nothing to send for a while.
            let waits =
                message.checked_sub(1).is_some_and(|before| complete(nth, before).is_none());
            let last = seen.left.iter().map(|one| one.at).filter(|at| *at < seen.until).max();
            let quiet = seen.until.since(last.unwrap_or_default().max(*due)).unwrap_or_default();
            if waits || quiet <= seen.busy + seen.turn + blur {
                let why = format!("it ended before {} was to be seen", played.name(nth, *message));
                return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
            }
            all += 1;
        }
        let first = found.first().map(|(message, wrong)| played.told((nth, *message), wrong));
        let got = first.map(|first| match found.len() {
            1 => first,
            more => format!("{first}; and {} messages more", more - 1),
        });
        let text = told(shape);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text,
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(found.len()).unwrap_or(u64::MAX));
        let record = found.first().and_then(|(message, _)| begun.get(message));
        let records = record.map(|(_, record)| *record).into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "messages") })
    });
}
