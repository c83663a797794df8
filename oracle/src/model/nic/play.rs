//! What a NIC does for the applications above it: it tells them what is complete, and sends what they hand over.

use super::apps::{Step, may_go};
use super::{Flow, Later, Nic};
use crate::model::packet::Packet;
use rig_testcases::AppStep;
use rig_units::Time;
use std::collections::VecDeque;

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
                let begins = step.posted.is_multiple_of(step.shape.chunks);
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
