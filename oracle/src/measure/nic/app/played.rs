//! An application as either end saw it: what of its messages left when, and when it was complete for whom.

use super::super::super::judge_context::JudgeContext;
use super::super::Passage;
use super::super::end::says;
use super::super::receives::turned_away;
use crate::judge::nic::app::{Awaits, Misstep};
use crate::judge::nic::rc::{Event, Progress, Sent, acknowledged, brought};
use crate::spec::nic::app::WaitsFor;
use crate::spec::nic::rc::{Packet, Says, before};
use crate::trials::trial::Trial;
use rig_frames::psn::Psn;
use rig_testcases::{AppStep, FlowSpec, RoceKind, SendOrder, SendPlace, Verb};
use rig_units::Time;
use std::collections::BTreeMap;

/// A step of an application, as it was played.
#[derive(Clone, Copy)]
pub(super) struct PlayedStep<'a> {
    pub(super) flow: &'a FlowSpec,
    /// Its place among the script's flows.
    pub(super) index: u16,
    pub(super) shape: AppStep,
    pub(super) connection: u16,
}

/// An application, and what either end saw of it.
pub(super) struct Played<'a> {
    pub(super) steps: Vec<PlayedStep<'a>>,
    /// What passed the NIC behind each of the two ports.
    pub(super) ends: BTreeMap<u16, Passage<'a>>,
    /// What each of the NICs sends by the one queue pair of all steps, where there is one.
    orders: BTreeMap<u16, SendOrder>,
}

impl<'a> Played<'a> {
    pub(super) fn of(done: &JudgeContext<'a>, trial: &'a Trial, app: u16) -> Played<'a> {
        let script = &trial.script;
        let mut steps: Vec<PlayedStep<'_>> = (0..)
            .zip(&script.flows)
            .filter_map(|(index, flow)| {
                let (shape, connection) = (flow.app?, script.connection(index));
                Some(PlayedStep { flow, index, shape, connection })
            })
            .filter(|step| step.shape.app == app)
            .collect();
        steps.sort_by_key(|step| step.shape.nth);
        let ports: Vec<u16> = steps.iter().flat_map(|step| [step.flow.nic, step.flow.to]).collect();
        let connection = steps.first().map_or(0, |step| step.connection);
        let order = |port: &u16| Some((*port, SendOrder::of(script, connection, *port)?));
        let orders = ports.iter().filter_map(order).collect();
        let ends = ports.iter().map(|port| (*port, Passage::of(done, trial, *port))).collect();
        Played { steps, ends, orders }
    }

    /// Packets of a message of a step.
    pub(super) fn packets(&self, step: usize) -> u32 {
        packets(self.steps[step].flow)
    }

    /// Packets that its end sends by its queue pair before a message of a step.
    fn before(&self, step: usize, message: u32) -> u32 {
        let PlayedStep { flow, index, .. } = self.steps[step];
        let order = self.orders.get(&flow.nic);
        order.and_then(|order| order.before(index, message)).unwrap_or(message * packets(flow))
    }

    /// Which packet of which message has a number, of what the end of a step sends by its queue pair.
    pub(super) fn place(&self, of: PlayedStep<'_>, psn: u32) -> Option<SendPlace> {
        let ahead = Psn::new(psn).ahead_of(Psn::new(of.flow.psn))?;
        let packets = packets(of.flow);
        match self.orders.get(&of.flow.nic) {
            Some(order) => order.packet_at(ahead),
            None => Some(SendPlace {
                flow: of.index,
                message: ahead / packets,
                packet: ahead % packets,
                of: packets,
            }),
        }
    }

    /// The numbers that a frame of an end takes, and when: a request for a READ has those of all that it still asks for.
    fn numbers(
        &self,
        of: PlayedStep<'_>,
        (at, kind, psn): (Time, RoceKind, u32),
    ) -> impl Iterator<Item = Packet> + use<> {
        let asked = match kind {
            RoceKind::ReadRequest => self.place(of, psn).map_or(1, |place| place.of - place.packet),
            RoceKind::Data { response: false, .. } => 1,
            _ => 0,
        };
        let last = matches!(kind, RoceKind::Data { last: true, .. });
        (0..asked).map(move |more| Packet { at, psn: Psn::new(psn).advance(more), last })
    }

    /// When the NIC behind a port had so many packets of the end of a step whole: those of the other end as they came, its own as they were acknowledged.
    fn progress(&self, trial: &Trial, of: PlayedStep<'_>, port: u16) -> Progress {
        let seen = &self.ends[&port];
        let (first, is_own) = (Psn::new(of.flow.psn), of.flow.nic == port);
        let came = || seen.counted().filter(|(one, _)| one.connection == of.connection);
        if !is_own {
            let refused = turned_away(trial, seen);
            let taken = came().filter(|(one, _)| !refused.contains(&one.record));
            let all = taken.flat_map(|(one, at)| self.numbers(of, (at, one.kind, one.psn)));
            return brought(first, u64::MAX, &all.collect::<Vec<_>>());
        }
        let left = seen.left.iter().filter(|one| one.roce.connection == of.connection);
        let numbers = left.flat_map(|one| self.numbers(of, (one.at, one.roce.kind, one.roce.psn)));
        let sent: Vec<Sent> = numbers.map(|one| Sent { at: one.at, psn: one.psn }).collect();
        let answers = came().filter_map(|(one, at)| {
            let psn = Psn::new(one.psn);
            match one.kind {
                // All before a READ was taken, whose answer comes.
                RoceKind::Data { response: true, .. } => {
                    Some(Event { at, says: Says::Ack, psn: before(psn) })
                }
                kind => Some(Event { at, says: says(kind)?, psn }),
            }
        });
        acknowledged(first, &sent, &answers.collect::<Vec<_>>(), seen.bound * 2)
    }

    /// When each READ of a step had brought all, packet after packet.
    fn read(&self, trial: &Trial, step: usize) -> BTreeMap<u32, Time> {
        let of = self.steps[step];
        let seen = &self.ends[&of.flow.nic];
        let refused = turned_away(trial, seen);
        let (mut there, mut whole) = (BTreeMap::new(), BTreeMap::new());
        for (one, at) in seen.counted().filter(|(one, _)| one.connection == of.connection) {
            let brings = matches!(one.kind, RoceKind::Data { response: true, .. });
            if !brings || refused.contains(&one.record) {
                continue;
            }
            let Some(place) = self.place(of, one.psn).filter(|place| place.flow == of.index) else {
                continue;
            };
            let next: &mut u32 = there.entry(place.message).or_default();
            if *next == place.packet {
                *next += 1;
                if *next == place.of {
                    whole.insert(place.message, at);
                }
            }
        }
        whole
    }

    /// When packets of each message of a step left for the first time, with the record of that: those that are at this place of it.
    pub(super) fn left(
        &self,
        step: usize,
        is: impl Fn(SendPlace) -> bool,
    ) -> BTreeMap<u32, (Time, usize)> {
        let of = self.steps[step];
        let mut left = BTreeMap::new();
        for one in &self.ends[&of.flow.nic].left {
            if one.roce.connection != of.connection || !asks(one.roce.kind) {
                continue;
            }
            let place = self.place(of, one.roce.psn);
            if let Some(place) = place.filter(|place| place.flow == of.index && is(*place)) {
                left.entry(place.message).or_insert((one.at, one.record));
            }
        }
        left
    }

    /// What left by the one queue pair of all steps where something of a step was due, and is not of its form.
    pub(super) fn misplaced(&self, step: usize) -> Vec<(usize, String)> {
        let of = self.steps[step];
        let own = self.ends[&of.flow.nic].left.iter();
        let own = own.filter(|one| one.roce.connection == of.connection && asks(one.roce.kind));
        let own = own.filter(|_| self.orders.contains_key(&of.flow.nic));
        let wrong = own.filter_map(|one| {
            let place = self.place(of, one.roce.psn).filter(|place| place.flow == of.index)?;
            let found = match (one.roce.kind, of.flow.verb) {
                (RoceKind::ReadRequest, Verb::Read) => return None,
                (RoceKind::Data { first, last, .. }, verb) if verb != Verb::Read => {
                    let due = (place.packet == 0, place.packet + 1 == place.of);
                    if (first, last) == due {
                        return None;
                    }
                    match (first, last) {
                        (true, true) => "a message of one packet",
                        (true, false) => "the first packet of a message",
                        (false, true) => "the last packet of a message",
                        (false, false) => "a packet from the middle of a message",
                    }
                }
                (RoceKind::ReadRequest, _) => "a READ",
                _ => "data",
            };
            let name = self.name(step, place.message);
            let psn = one.roce.psn;
            Some((
                one.record,
                format!("{found} left at PSN {psn}, where packet {} of {} of {name} was due: its end sends by its queue pair in another order than agreed", place.packet + 1, place.of),
            ))
        });
        wrong.collect()
    }

    /// The name of a message, counted from 1.
    pub(super) fn name(&self, step: usize, message: u32) -> String {
        let PlayedStep { flow, shape, .. } = self.steps[step];
        let (round, chunk) = (message / shape.chunks + 1, message % shape.chunks + 1);
        match shape.chunks {
            1 => format!("{} of round {round}", flow.name),
            _ => format!("chunk {chunk} of {} of round {round}", flow.name),
        }
    }

    /// That a message is complete, for whom it is.
    pub(super) fn complete(&self, of: &Awaits, port: u16) -> String {
        let how = match self.steps[of.step].flow {
            _ if of.why == WaitsFor::QueueBefore => "sent, before it in its queue pair",
            flow if flow.nic != port => "received in whole",
            flow if flow.verb == Verb::Read => "brought in whole",
            _ => "acknowledged",
        };
        format!("{} was {how}", self.name(of.step, of.message))
    }

    /// Whether the last packet of a message was at the other end of its queue pair at that instant: what is missing was sent before it.
    fn is_overtaken(&self, of: &Awaits, port: u16, at: Time) -> bool {
        let step = self.steps[of.step];
        let (through, seen) =
            (self.before(of.step, of.message) + packets(step.flow), &self.ends[&port]);
        let last = before(Psn::new(step.flow.psn).advance(through));
        let came = seen.counted().any(|(one, came)| {
            let is_it = (one.connection, Psn::new(one.psn)) == (step.connection, last);
            is_it && asks(one.kind) && came <= at + seen.bound * 2
        });
        step.flow.nic != port && self.orders.contains_key(&port) && came
    }

    pub(super) fn told(
        &self,
        (step, message): (usize, u32),
        began: Option<Time>,
        found: &Misstep,
    ) -> String {
        let PlayedStep { flow, shape, .. } = self.steps[step];
        let name = self.name(step, message);
        match found {
            Misstep::TooSoon(of, by) => {
                let complete = self.complete(of, flow.nic);
                let before = match by {
                    Some(by) => format!("{by} before {complete}"),
                    None => format!("though it never came to that {complete}"),
                };
                match of.why {
                    _ if began.is_some_and(|at| self.is_overtaken(of, flow.nic, at)) => format!(
                        "{name} left {before}: that had come, and what was sent before it by the same queue pair had not: a SEND overtook a WRITE"
                    ),
                    WaitsFor::StepBefore | WaitsFor::QueueBefore => format!("{name} left {before}"),
                    WaitsFor::ChunkBefore => {
                        let most = match shape.at_once {
                            1 => "one chunk was".to_owned(),
                            most => format!("{most} chunks were"),
                        };
                        format!("{name} left {before}: more than {most} under way")
                    }
                    WaitsFor::Buffer => format!(
                        "{name} left {before}: of {} registered buffers none was free",
                        shape.buffers.unwrap_or_default()
                    ),
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
                WaitsFor::Buffer => format!(
                    "{name} never left, though {}: its buffer was not given back",
                    self.complete(of, flow.nic)
                ),
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

/// Whether it is of what an end sends by itself: no answer.
pub(super) const fn asks(kind: RoceKind) -> bool {
    matches!(kind, RoceKind::Data { response: false, .. } | RoceKind::ReadRequest)
}

/// When messages of each step were complete for one end, and had left.
pub(super) struct Instants {
    progress: Vec<Progress>,
    read: Vec<Option<BTreeMap<u32, Time>>>,
    left: Vec<BTreeMap<u32, (Time, usize)>>,
}

impl Instants {
    pub(super) fn of(trial: &Trial, played: &Played<'_>, port: u16) -> Instants {
        let all = 0..played.steps.len();
        let progress = all.clone().map(|step| played.progress(trial, played.steps[step], port));
        let read = |step: usize| {
            let flow = played.steps[step].flow;
            let reads = flow.nic == port && flow.verb == Verb::Read;
            reads.then(|| played.read(trial, step))
        };
        let is_last = |reads: bool, place: SendPlace| reads || place.packet + 1 == place.of;
        let left = |step: usize| {
            let reads = played.steps[step].flow.verb == Verb::Read;
            played.left(step, |place| is_last(reads, place))
        };
        Instants {
            progress: progress.collect(),
            read: all.clone().map(read).collect(),
            left: all.map(left).collect(),
        }
    }

    /// When a message was complete: those of the other end when all before it in its queue pair were, too.
    pub(super) fn complete(&self, played: &Played<'_>, step: usize, message: u32) -> Option<Time> {
        if let Some(read) = &self.read[step] {
            return read.get(&message).copied();
        }
        let through = played.before(step, message) + packets(played.steps[step].flow);
        self.progress[step].reached(through.into()).map(|step| step.at)
    }

    /// When the last packet of a message left for the first time.
    pub(super) fn left(&self, step: usize, message: u32) -> Option<Time> {
        self.left[step].get(&message).map(|(at, _)| *at)
    }
}

/// Packets of a message.
fn packets(flow: &FlowSpec) -> u32 {
    flow.message.div_ceil(flow.mtu.max(1)).max(1)
}
