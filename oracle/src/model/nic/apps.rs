//! Applications above a NIC. Of each the NIC's host knows its own half: when its own messages are complete, and what came of the other end's. It hands a
//! message over once what it waits for is complete. By a queue pair that serves all steps it hands over its own round after round: what is behind a SEND or
//! a WRITE of its own waits for nothing else, and a READ until nothing before it is under way.
//!
//! Left out on purpose: what the host itself takes beyond what the case says, and what the messages say to one another.

use super::Verb;
use super::keys::Keys;
use super::landed::Landed;
use super::seldom::Kind;
use super::stream::Stream;
use rig_capture::{HostCheck, HostReport};
use rig_lab::RcFaults;
use rig_testcases::AppStep;
use rig_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// The halves of all applications of a NIC, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Apps {
    pub(super) all: BTreeMap<u16, App>,
    /// What they found as they looked at checksums, and were not asked for.
    pub(super) checks: Vec<HostCheck>,
}

/// The half of one.
#[derive(Debug, Clone, Default)]
pub(super) struct App {
    /// Its steps in their order, once all have been told.
    pub(super) steps: Vec<Step>,
    /// The keys that its messages tell of.
    pub(super) keys: Keys,
    /// What its messages are of a stream, where they are one.
    pub(super) stream: Option<Stream>,
}

/// A step of an application.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) id: u16,
    pub(super) slot: u16,
    pub(super) shape: AppStep,
    pub(super) is_own: bool,
    /// What its messages are, those of a round.
    pub(super) kind: Kind,
    pub(super) psn: u32,
    /// Packets of a round by its queue pair from its end, and those of them that are before its own.
    pub(super) round: u32,
    pub(super) ahead: u32,
    /// Messages that it decided to send.
    pub(super) posted: u32,
    /// When those of them are handed over that are not.
    pub(super) due: VecDeque<Time>,
    /// Packets that are acknowledged, or that came; and whole messages.
    pub(super) came: u64,
    pub(super) complete: u32,
    /// Packets of its end up to the last whose message ended, whatever was missing before it; a fault counts by it.
    pub(super) furthest: u64,
    /// Its data in memory, where an application at this end looks at their checksum.
    pub(super) landed: Option<Landed>,
}

impl Step {
    const fn in_a_round(&self) -> u32 {
        self.kind.packets * self.kind.messages
    }

    /// Packets of it among the first so many of its end.
    pub(super) fn within(&self, all: u64) -> u64 {
        let [round, ahead] = [self.round, self.ahead].map(u64::from);
        let own = u64::from(self.in_a_round());
        all / round * own + (all % round).saturating_sub(ahead).min(own)
    }

    /// Messages that were handed over.
    pub(super) fn handed(&self) -> u32 {
        self.posted - u32::try_from(self.due.len()).unwrap_or(u32::MAX)
    }

    /// The round that a packet of its end is of, if it is one of this step's.
    pub(super) fn round_of(&self, psn: u32) -> Option<u32> {
        let packet = psn.wrapping_sub(self.psn) & 0xff_ffff;
        let place = (packet % self.round).checked_sub(self.ahead)?;
        (place < self.in_a_round()).then_some(packet / self.round)
    }

    /// Whether its messages are READs.
    pub(super) const fn reads(&self) -> bool {
        matches!(self.kind.verb, Verb::Read)
    }
}

/// Tells steps of one queue pair where they stand among what their end sends by it.
pub(super) fn place(steps: &mut [Step]) {
    for is_own in [true, false] {
        let all = || steps.iter().filter(|step| step.is_own == is_own).map(Step::in_a_round);
        let round = all().sum();
        let mut ahead = 0;
        for step in steps.iter_mut().filter(|step| step.is_own == is_own) {
            (step.round, step.ahead) = (round, ahead);
            ahead += step.in_a_round();
        }
    }
}

/// What one end sends by it in a round.
pub(super) fn round(steps: &[Step], faults: &RcFaults) -> Vec<Kind> {
    let mut all: Vec<Kind> =
        steps.iter().filter(|step| step.is_own).map(|step| step.kind).collect();
    if faults.app_says_done_first && all.len() > 1 {
        all.swap(0, 1);
    }
    all
}

impl Apps {
    /// Whether any of them says something of its data.
    pub(super) fn say_something(&self) -> bool {
        let steps = self.all.values().flat_map(|app| &app.steps);
        self.all.values().any(|app| app.stream.is_some())
            || steps.into_iter().any(|step| step.landed.is_some())
    }

    /// Adds what they say since they were asked last.
    pub(super) fn tell(&mut self, report: &mut HostReport) {
        report.checks.append(&mut self.checks);
        for stream in self.all.values_mut().filter_map(|app| app.stream.as_mut()) {
            report.gave.append(&mut stream.gave);
            report.read.append(&mut stream.read);
        }
    }

    /// Whether a flow is a step that begins at this end.
    pub(super) fn holds(&self, id: u16) -> bool {
        self.all.values().flat_map(|app| &app.steps).any(|step| step.id == id && step.is_own)
    }
}

/// Whether the next message of step `nth` may be sent.
pub(super) fn may_go(steps: &[Step], nth: usize, faults: &RcFaults) -> bool {
    let step = &steps[nth];
    let AppStep { rounds, credits, chunks, at_once, .. } = step.shape;
    let (round, chunk) = (step.posted / chunks, step.posted % chunks);
    if round >= rounds {
        return false;
    }
    let under_way = step.posted.saturating_sub(step.complete);
    if chunks > 1 && !faults.app_chunks_at_once && under_way >= at_once {
        return false;
    }
    if chunk > 0 {
        return true;
    }
    if step.shape.one_pair && !is_next(steps, nth, round) {
        return false;
    }
    let last = &steps[steps.len() - 1];
    let over = last.complete / last.shape.chunks;
    let is_free = |buffers: u32| round < buffers.saturating_add(over) || faults.app_buffer_reused;
    if !step.shape.buffers.is_none_or(is_free) {
        return false;
    }
    let is_last = nth + 1 == steps.len();
    if is_last && faults.app_reply_forgotten.is_some_and(|each| (round + 1).is_multiple_of(each)) {
        return false;
    }
    let Some(before) = nth.checked_sub(1).map(|before| &steps[before]) else {
        let lost = faults.app_credit_lost.map_or(0, |each| over / each);
        return faults.app_credits_ignored || round < credits + over - lost;
    };
    let wanted = (round + 1) * before.shape.chunks;
    match before.is_own {
        true if faults.app_done_too_soon => before.posted >= wanted,
        true if step.shape.is_stream && leaves_under_way(faults) => before.posted >= wanted,
        // The queue pair keeps their order.
        true if step.shape.one_pair && !before.reads() => before.posted >= wanted,
        false if faults.app_answers_first_packet => {
            before.came > u64::from(wanted - 1) * u64::from(before.kind.packets)
        }
        _ => before.complete >= wanted,
    }
}

/// Whether a stream goes on by another connection though something is under way by the one before.
const fn leaves_under_way(faults: &RcFaults) -> bool {
    faults.app_under_way_repeated || faults.app_under_way_dropped
}

/// Whether all that its end does before it by the same queue pair was handed over.
fn is_next(steps: &[Step], nth: usize, round: u32) -> bool {
    let own = |step: &&Step| step.is_own;
    let before = steps[..nth].iter().rfind(own).map(|step| (step, round + 1));
    let before = before.or_else(|| steps[nth..].iter().rfind(own).map(|step| (step, round)));
    before.is_none_or(|(step, rounds)| step.handed() >= rounds * step.shape.chunks)
}
