//! Applications above a NIC. Of each the NIC's host knows its own half: when its own messages are complete, and what came of the other end's. It hands a
//! message over once what it waits for is complete.
//!
//! Left out on purpose: what the host itself takes beyond what the case says, and what the messages say to one another.

use super::{Flow, Later, Nic};
use crate::model::packet::Packet;
use rig_lab::RcFaults;
use rig_testcases::AppStep;
use rig_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// The halves of all applications of a NIC, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Apps {
    all: BTreeMap<u16, Vec<Step>>,
}

/// A step of an application.
#[derive(Debug, Clone)]
struct Step {
    id: u16,
    slot: u16,
    shape: AppStep,
    is_own: bool,
    /// Packets of a message.
    packets: u32,
    psn: u32,
    /// Messages that it decided to send.
    posted: u32,
    /// When those of them are handed over that are not.
    due: VecDeque<Time>,
    /// Packets that are acknowledged, or that came; and whole messages.
    came: u64,
    complete: u32,
}

impl Apps {
    /// Whether a flow is a step that begins at this end.
    pub(super) fn holds(&self, id: u16) -> bool {
        self.all.values().flatten().any(|step| step.id == id && step.is_own)
    }
}

/// Whether the next message of step `nth` may be sent.
fn may_go(steps: &[Step], nth: usize, faults: &RcFaults) -> bool {
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
    if is_last && faults.app_reply_forgotten.is_some_and(|each| (round + 1) % each == 0) {
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

impl Nic {
    /// Learns of a step of an application, of which `flow` is; `is_own`: it is done at this end, and by the host `far` otherwise.
    pub(crate) fn learn_step(&mut self, flow: &Flow, shape: AppStep, (is_own, far): (bool, u16)) {
        let slot = self.pair(flow.id, far);
        if !is_own {
            self.pairs[usize::from(slot)].responder.begin_at(flow.psn);
        }
        let packets = flow.message.div_ceil(flow.mtu.max(1)).max(1);
        let (due, psn) = (VecDeque::new(), flow.psn);
        let step = Step {
            id: flow.id,
            slot,
            shape,
            is_own,
            packets,
            psn,
            posted: 0,
            due,
            came: 0,
            complete: 0,
        };
        let steps = self.apps.get_or_insert_default().all.entry(shape.app).or_default();
        if steps.len() >= usize::from(shape.of) {
            steps.clear();
        }
        steps.push(step);
        steps.sort_by_key(|step| step.shape.nth);
        // What comes may let a message go at once.
        (self.reads, self.atomics) = (true, true);
    }

    /// Does with a packet what is done anyway; then applications look at what is complete.
    #[cold]
    #[inline(never)]
    pub(super) fn process_for_apps(&mut self, now: Time, packet: &Packet) {
        self.process_one(now, packet);
        self.run_apps(now);
    }

    /// Applications go on as far as they can.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_apps(&mut self, now: Time) {
        let Some(mut apps) = self.apps.take() else { return };
        for steps in apps.all.values_mut() {
            for step in steps.iter_mut() {
                step.came = self.come(step);
                let complete = step.came / u64::from(step.packets);
                step.complete = u32::try_from(complete).unwrap_or(u32::MAX);
            }
            if steps.iter().all(|step| steps.len() == usize::from(step.shape.of)) {
                self.go_on(now, steps);
            }
        }
        self.apps = Some(apps);
    }

    /// Packets of a step that are acknowledged, where it is done here, or that came in their order.
    fn come(&self, step: &Step) -> u64 {
        let Some(pair) = self.pairs.get(usize::from(step.slot)) else { return 0 };
        match &pair.requester {
            Some(requester) if step.is_own => requester.acked(),
            _ if step.is_own => 0,
            _ => (pair.responder.expected().wrapping_sub(step.psn) & 0xff_ffff).into(),
        }
    }

    fn go_on(&mut self, now: Time, steps: &mut [Step]) {
        for nth in (0..steps.len()).filter(|nth| steps[*nth].is_own).collect::<Vec<_>>() {
            while may_go(steps, nth, &self.config.faults.rc) {
                let step = &mut steps[nth];
                let begins = step.posted % step.shape.chunks == 0;
                let thinks = begins && !self.config.faults.rc.app_never_thinks;
                let at =
                    if thinks { now + self.config.clock.lasting(step.shape.think) } else { now };
                step.posted += 1;
                step.due.push_back(at);
            }
            let step = &mut steps[nth];
            while step.due.pop_front_if(|due| *due <= now).is_some() {
                let pair = &mut self.pairs[usize::from(step.slot)];
                if let Some(requester) = &mut pair.requester {
                    requester.hand();
                }
                pair.prepare();
                self.send_queues.enqueue(&mut self.pairs, step.slot, now);
            }
            self.later.extend(step.due.front().map(|due| (*due, step.slot, Later::Step)));
        }
    }
}
