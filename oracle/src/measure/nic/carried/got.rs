//! What of a flow got through in one trial, as the wire shows it.

use super::super::super::judge_context::JudgeContext;
use super::super::rc::{End, says};
use super::super::{Passage, spoilt};
use super::unready::Unready;
use crate::judge::nic::rc::{Event, Progress, Sent, Step, acknowledged, brought};
use crate::spec::nic::rc::Packet;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_frames::psn::Psn;
use rig_testcases::{Action, FlowSpec, RoceKind, Verb};
use rig_units::{Bytes, Dur, Time};

/// What of a flow got through in one trial.
pub(super) struct Carried<'a> {
    pub(super) spec: &'a FlowSpec,
    pub(super) progress: Progress,
    /// Records of what shows it, in the order of its steps' indices.
    pub(super) shown_by: Vec<usize>,
    /// Packets of a message.
    pub(super) packets: u64,
    /// What RNR NAKs leave open of when it is done.
    pub(super) unready: Unready,
    /// How far each stamp may be off.
    pub(super) bound: Dur,
    /// Until when the flow was to send, if it did not end by itself.
    pub(super) until: Time,
    /// The trial's end.
    pub(super) end: Time,
}

impl<'a> Carried<'a> {
    pub(super) fn of(
        done: &JudgeContext<'_>,
        trial: &'a Trial,
        flow: &str,
    ) -> Result<Carried<'a>, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let connection = trial.script.connection(index);
        let first = End::sender(trial, flow)?.first;
        let packets = u64::from(spec.message.div_ceil(spec.mtu));
        let bound = trial.observation.bound();
        let seen = Passage::of(done, trial, spec.nic);
        spoilt::by_whom(trial, &seen, connection)?;
        let left = seen.left.iter().filter(|one| one.roce.connection == connection);
        let reached = seen.reached.iter().filter(|one| one.connection == connection);
        let (shown_by, progress) = if spec.verb == Verb::Read {
            let (records, came): (Vec<usize>, Vec<Packet>) = reached
                .filter_map(|one| data(one.kind, one.at, one.psn).map(|data| (one.record, data)))
                .unzip();
            let asked = left.filter(|one| one.roce.kind == RoceKind::ReadRequest);
            let ahead = asked.filter_map(|one| Psn::new(one.roce.psn).ahead_of(first));
            // A request is for its whole message, or for what is left of it.
            let messages = ahead.map(|ahead| u64::from(ahead) / packets + 1).max();
            (records, brought(first, messages.unwrap_or(0) * packets, &came))
        } else if spec.nic == spec.to {
            let (records, came): (Vec<usize>, Vec<Packet>) = left
                .filter_map(|one| {
                    data(one.roce.kind, one.at, one.roce.psn).map(|data| (one.record, data))
                })
                .unzip();
            let sent = u64::try_from(came.len()).unwrap_or(u64::MAX);
            (records, brought(first, sent, &came))
        } else {
            let (records, came): (Vec<usize>, Vec<Event>) = reached
                .filter_map(|one| {
                    let says = says(one.kind)?;
                    Some((one.record, Event { at: one.at, says, psn: Psn::new(one.psn) }))
                })
                .unzip();
            let sent: Vec<Sent> = left
                .filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }))
                .map(|one| Sent { at: one.at, psn: Psn::new(one.roce.psn) })
                .collect();
            (records, acknowledged(first, &sent, &came, bound * 2))
        };
        if progress.sent == 0 {
            return Err(trial.doubt(&format!("{flow} sent nothing")));
        }
        let end = Time::ZERO + trial.script.length;
        let stops = trial.script.steps.iter().filter(|step| step.action == Action::StopFlow(index));
        let until = stops.map(|step| Time::ZERO + step.at).max().unwrap_or(end);
        let unready = Unready::of(trial, spec, connection, &seen);
        Ok(Carried { spec, progress, shown_by, packets, unready, bound, until, end })
    }

    /// Whether the rig is its other end, which acknowledges nothing.
    pub(super) fn goes_to_the_rig(&self) -> bool {
        self.spec.nic == self.spec.to && self.spec.verb != Verb::Read
    }

    /// Messages that should get through: those that it is to send, or else those that it has sent whole.
    pub(super) fn messages(&self) -> u64 {
        self.spec.count.map_or(self.progress.sent / self.packets, u64::from)
    }

    /// Messages that did.
    pub(super) fn finished(&self) -> u64 {
        (self.progress.through() / self.packets).min(self.messages())
    }

    /// Payload of the flow's first packets, in bytes.
    pub(super) fn payload(&self, packets: u64) -> u64 {
        let (whole, rest) = (packets / self.packets, packets % self.packets);
        whole * u64::from(self.spec.message) + rest * u64::from(self.spec.mtu)
    }

    /// The payload that got through between the first step from `from` on and the last one, and how many packets had before each.
    pub(super) fn through(&self, from: Time) -> Option<(u64, [u64; 2])> {
        let steps = &self.progress.steps;
        let [first, .., last] = &steps[steps.partition_point(|step| step.at < from)..] else {
            return None;
        };
        let packets = [first.packets, last.packets];
        Some((self.payload(last.packets) - self.payload(first.packets), packets))
    }

    /// How long so many messages take the wire, at the speed of the port that they leave by.
    pub(super) fn least(&self, trial: &Trial, messages: u64) -> Dur {
        let speed = trial.observation.ports[usize::from(self.spec.nic)].speed;
        speed.serialise(Bytes(messages * u64::from(self.spec.message)))
    }

    /// Whether messages are left of which nothing got through for half of the time that there was.
    pub(super) fn hangs(&self) -> bool {
        let last = self.progress.steps.last().map_or(Time::ZERO, |step| step.at);
        self.finished() < self.messages() && (last - Time::ZERO) * 2 < self.until - Time::ZERO
    }

    pub(super) fn record(&self, step: Step) -> Option<usize> {
        self.shown_by.get(step.by).copied()
    }
}

/// A packet of data.
fn data(kind: RoceKind, at: Time, psn: u32) -> Option<Packet> {
    let RoceKind::Data { last, .. } = kind else { return None };
    Some(Packet { at, psn: Psn::new(psn), last })
}
