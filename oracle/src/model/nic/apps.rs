//! Applications above a NIC. Of each the NIC's host knows its own half: when its own messages are complete, and what came of the other end's. It hands a
//! message over once what it waits for is complete.
//!
//! Left out on purpose: what the host itself takes beyond what the case says, and what the messages say to one another.

use rig_lab::RcFaults;
use rig_testcases::AppStep;
use rig_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// The halves of all applications of a NIC, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Apps {
    pub(super) all: BTreeMap<u16, Vec<Step>>,
}

/// A step of an application.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) id: u16,
    pub(super) slot: u16,
    pub(super) shape: AppStep,
    pub(super) is_own: bool,
    /// Packets of a message.
    pub(super) packets: u32,
    pub(super) psn: u32,
    /// Messages that it decided to send.
    pub(super) posted: u32,
    /// When those of them are handed over that are not.
    pub(super) due: VecDeque<Time>,
    /// Packets that are acknowledged, or that came; and whole messages.
    pub(super) came: u64,
    pub(super) complete: u32,
}

impl Apps {
    /// Whether a flow is a step that begins at this end.
    pub(super) fn holds(&self, id: u16) -> bool {
        self.all.values().flatten().any(|step| step.id == id && step.is_own)
    }
}

/// Whether the next message of step `nth` may be sent.
pub(super) fn may_go(steps: &[Step], nth: usize, faults: &RcFaults) -> bool {
    let step = &steps[nth];
    let AppStep { rounds, credits, chunks, .. } = step.shape;
    let (round, chunk) = (step.posted / chunks, step.posted % chunks);
    if round >= rounds {
        return false;
    }
    if chunks > 1 && !faults.app_chunks_at_once && step.complete < step.posted {
        return false;
    }
    if chunk > 0 {
        return true;
    }
    let is_last = nth + 1 == steps.len();
    if is_last && faults.app_reply_forgotten.is_some_and(|each| (round + 1).is_multiple_of(each)) {
        return false;
    }
    let Some(before) = nth.checked_sub(1).map(|before| &steps[before]) else {
        let last = &steps[steps.len() - 1];
        let over = last.complete / last.shape.chunks;
        let lost = faults.app_credit_lost.map_or(0, |each| over / each);
        return faults.app_credits_ignored || round < credits + over - lost;
    };
    let wanted = (round + 1) * before.shape.chunks;
    match before.is_own {
        true if faults.app_done_too_soon => before.posted >= wanted,
        false if faults.app_answers_first_packet => {
            before.came > u64::from(wanted - 1) * u64::from(before.packets)
        }
        _ => before.complete >= wanted,
    }
}
