//! Whether the keys that an application's messages tell of are those that are used, that memory is touched with none that is revoked, and that each is revoked
//! that should be.

use super::super::super::judge_context::{JudgeContext, TrialReading};
use super::super::super::judged::{Judged, Unread, looked};
use super::super::super::measurement::{Known, Red, Tells, by_source};
use super::super::super::stamps;
use super::super::{OF_FLOW, end};
use super::played::{Instants, Played, asks};
use super::{OF_APP, shown};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::keys::{KeyWorth, Registration, SOURCE, worth};
use crate::spec::nic::rc::Says;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{AppKey, Case, Measure, RoceKind, SendPlace};
use rig_units::Time;
use std::collections::BTreeMap;

/// `app.keys`.
pub(in super::super::super) static KEYS: Known = Known {
    entry: Entry {
        name: "app.keys",
        parts: Some(&[Part::Rc]),
        about: "keys of registered memory: each message tells of its own, the other end names that one and revokes that one, and what is revoked is refused",
        source: SOURCE,
        sense: has_key,
        shares_pairs: true,
        ..OF_FLOW
    },
    tells: Tells::Each("message; of an access at the instant of a revocation, nothing"),
    red: Red::Mutated("each-request-its-key", "deviation=app_key_never_changes"),
    expected: |measure, context, _| {
        let step = context.case.flows.get(measure.named("flow")).and_then(|flow| flow.app);
        by_source(step.and_then(|step| step.key).map_or("", told).to_owned(), SOURCE)
    },
    judge: |measure, done, judged| keys(done, measure.named("flow"), judged),
    stamps: Some(|measure, context, script| stamps::turns(context, script, measure.named("flow"))),
    knows_class_limits: true,
    ..OF_APP
};

/// What is due of a step, for people.
const fn told(role: AppKey) -> &'static str {
    match role {
        AppKey::Registers => "each message with a key that nothing else is registered by",
        AppKey::Names => "the key of its round, and taken as long as that is registered",
        AppKey::Revokes => "the key of its round",
    }
}

/// It is of a step that has to do with keys.
fn has_key(measure: &Measure, case: &Case) -> Vec<Fault> {
    let name = measure.named("flow");
    let step = |name: &str| case.flows.get(name).map(|flow| flow.app.and_then(|step| step.key));
    let fault = (step(name) == Some(None)).then(|| {
        let found = format!("`app.keys` of `{name}`, which has to do with no key");
        let want = "a step with `verb: send-registered` of an application, or one of the other end with write, read or send-invalidate";
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// What is wrong with a message, and the record that shows it.
type Wrong = (usize, String);

/// An application whose one end registers memory.
struct Keyed<'p, 'a> {
    played: &'p Played<'a>,
    /// The step that registers, and the port of its end.
    register: usize,
    owner: u16,
    /// The key of each of its messages.
    keys: BTreeMap<u32, (Time, usize, u8)>,
    /// All that it registered, in rounds.
    all: Vec<Registration>,
}

impl<'p, 'a> Keyed<'p, 'a> {
    fn of(played: &'p Played<'a>, trial: &Trial) -> Option<Keyed<'p, 'a>> {
        let has = |role| played.steps.iter().position(|step| step.shape.key == Some(role));
        let register = has(AppKey::Registers)?;
        let owner = played.steps[register].flow.nic;
        let keys = said(played, register, |place| place.packet == 0);
        let instants = Instants::of(trial, played, owner);
        let revoked = |round: u32| {
            let step = has(AppKey::Revokes)?;
            let chunks = played.steps[step].shape.chunks;
            instants.complete(played, step, (round + 1) * chunks - 1)
        };
        let all = keys.iter().map(|(round, (told, _, key))| {
            let (told, revoked) = (*told, revoked(*round));
            Registration { key: *key, told, revoked }
        });
        let all = all.collect();
        Some(Keyed { played, register, owner, keys, all })
    }

    /// The round of a message of a step, from 0, and its name.
    fn round(&self, step: usize, message: u32) -> (u32, String) {
        (message / self.played.steps[step].shape.chunks, self.played.name(step, message))
    }

    /// Messages whose key something else is registered by, or that have none.
    fn of_register(&self) -> (usize, Vec<Wrong>) {
        let blur = self.played.ends[&self.owner].bound * 2;
        let mut wrong = Vec::new();
        let mut last: BTreeMap<u8, (u32, Registration)> = BTreeMap::new();
        for ((round, (told, record, key)), own) in self.keys.iter().zip(&self.all) {
            let name = self.played.name(self.register, *round);
            if *key == 0 {
                wrong.push((*record, format!("{name} tells of no key")));
                continue;
            }
            let Some((other, one)) = last.insert(*key, (*round, *own)) else { continue };
            if one.revoked.is_none_or(|revoked| *told + blur < revoked) {
                let other = self.played.name(self.register, other);
                wrong.push((*record, format!("{name} tells of key {key}, by which {other} had registered memory that was not revoked: who revokes one revokes both")));
            }
        }
        (self.keys.len(), wrong)
    }

    /// Messages of the other end that name another key than that of their round. `is`: the packet that names it.
    fn named(&self, step: usize, is: impl Fn(SendPlace) -> bool) -> (usize, Vec<Wrong>) {
        let said = said(self.played, step, is);
        let wrong = said.iter().filter_map(|(message, (_, record, key))| {
            let (round, name) = self.round(step, *message);
            let (_, _, due) = self.keys.get(&round)?;
            let register = self.played.name(self.register, round);
            (key != due).then(|| {
                (*record, format!("{name} names key {key}, and {register} told of key {due}"))
            })
        });
        (said.len(), wrong.collect())
    }

    /// Accesses that were refused with a key that is registered, or taken with one that is not; and how many could be told.
    fn answered(&self, step: usize) -> (usize, Vec<Wrong>) {
        let of = self.played.steps[step];
        let seen = &self.played.ends[&self.owner];
        let blur = seen.bound * 2;
        let mut first: BTreeMap<u32, (Time, u32, u8)> = BTreeMap::new();
        for (one, at) in
            seen.counted().filter(|(one, _)| one.connection == of.connection && asks(one.kind))
        {
            let place = self.played.place(of, one.psn).filter(|place| place.flow == of.index);
            if let Some(place) = place.filter(|place| place.packet == 0) {
                first.entry(place.message).or_insert((at, one.psn, one.key));
            }
        }
        let (mut told, mut wrong) = (0, Vec::new());
        for (message, (at, psn, key)) in first {
            let worth = worth(&self.all, key, at, blur);
            let answers =
                seen.left.iter().filter(|one| one.roce.connection == of.connection && one.at >= at);
            let first = Psn::new(psn);
            let packets = self.played.packets(step);
            let answers = answers.filter_map(|one| {
                let ahead = Psn::new(one.roce.psn).ahead_of(first);
                let answer = match one.roce.kind {
                    RoceKind::Denied if ahead == Some(0) => Answer::Denied,
                    RoceKind::Data { response: true, .. }
                        if ahead.is_some_and(|by| by < packets) =>
                    {
                        Answer::Taken
                    }
                    RoceKind::Ack if ahead.is_some_and(|by| by + 1 >= packets) => Answer::Taken,
                    kind if end::says(kind) == Some(Says::Nak) && ahead == Some(0) => Answer::Hole,
                    _ => return None,
                };
                Some((one.record, answer))
            });
            // One that is missing is asked for before it is answered: more than once, and it was there.
            let said: Vec<(usize, Answer)> = answers.collect();
            let last = said.iter().find(|(_, answer)| *answer != Answer::Hole).or(said.get(1));
            let Some(&(record, answer)) = last else { continue };
            let name = self.played.name(step, message);
            let text = match (worth, answer) {
                (KeyWorth::Open, _) => continue,
                (KeyWorth::Live, Answer::Denied) => Some(format!(
                    "{name} named key {key}, which was registered and not revoked, and was refused: NAK, remote access error"
                )),
                (KeyWorth::Revoked(ago), Answer::Taken) => Some(format!(
                    "{name} named key {key}, which had been revoked {ago} before, and was taken"
                )),
                (KeyWorth::Unknown, Answer::Taken) => {
                    Some(format!("{name} named key {key}, of which nobody was told, and was taken"))
                }
                (KeyWorth::Revoked(_) | KeyWorth::Unknown, Answer::Hole) => Some(format!(
                    "{name} named key {key}, which is worth nothing, and was answered by a NAK of a packet that is missing: its sender sends it for ever"
                )),
                _ => None,
            };
            told += 1;
            wrong.extend(text.map(|text| (record, text)));
        }
        (told, wrong)
    }
}

/// What an access was answered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Taken,
    Denied,
    Hole,
}

/// The key that each message of a step says in a packet of its, when that left first, and the record of it.
fn said(
    played: &Played<'_>,
    step: usize,
    is: impl Fn(SendPlace) -> bool,
) -> BTreeMap<u32, (Time, usize, u8)> {
    let end = &played.ends[&played.steps[step].flow.nic];
    let left = played.left(step, is).into_iter();
    left.filter_map(|(message, (at, record))| {
        let at_record = end.left.binary_search_by_key(&record, |one| one.record).ok()?;
        let one = &end.left[at_record];
        Some((message, (at, record, one.roce.key)))
    })
    .collect()
}

fn keys(done: &JudgeContext<'_>, name: &str, judged: &mut Judged) {
    done.each("app.keys", name, judged, |trial| {
        let (_, spec) = trial.flow(name)?;
        let Some((shape, role)) = spec.app.and_then(|step| Some((step, step.key?))) else {
            return Err(Unread::NotApplicable(format!("{name} has to do with no key")));
        };
        let played = Played::of(done, trial, shape.app);
        shown(trial, &played)?;
        let step = usize::from(shape.nth);
        let Some(keyed) = Keyed::of(&played, trial) else {
            return Err(Unread::NotApplicable(format!("{name} has to do with no key")));
        };
        let (all, wrong) = match role {
            AppKey::Registers => keyed.of_register(),
            AppKey::Revokes => keyed.named(step, |place| place.packet + 1 == place.of),
            AppKey::Names => {
                let (_, mut wrong) = keyed.named(step, |place| place.packet == 0);
                let (told, more) = keyed.answered(step);
                wrong.extend(more);
                (told, wrong)
            }
        };
        if all == 0 && wrong.is_empty() {
            let why = format!("no message of {name} was answered whose key says anything");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let got = wrong.first().map(|(_, first)| match wrong.len() {
            1 => first.clone(),
            some => format!("{first}; and {} messages more", some - 1),
        });
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: told(role).to_owned(),
            source: SOURCE,
        };
        let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        let records = wrong.first().map(|(record, _)| *record).into_iter().collect();
        Ok(TrialReading { span, want, got, records, looked: looked(all, "messages") })
    });
}
