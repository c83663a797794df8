//! What a NIC does for the applications above it: it tells them what is complete, and sends what they hand over.

use super::apps::{self, Step, may_go};
use super::requester::Requester;
use super::seldom::Kind;
use super::{Flow, Later, Nic};
use crate::model::packet::{Packet, PacketKind};
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
        let Flow { verb, message, .. } = if is_own { self.heeded(flow) } else { *flow };
        let packets = message.div_ceil(flow.mtu.max(1)).max(1);
        let kind = Kind { verb, message, packets, messages: shape.chunks };
        let (round, ahead) = (packets * shape.chunks, 0);
        let (due, psn) = (VecDeque::new(), flow.psn);
        let (posted, came, complete, furthest) = (0, 0, 0, 0);
        let id = flow.id;
        let step = Step {
            id,
            slot,
            shape,
            is_own,
            kind,
            psn,
            round,
            ahead,
            posted,
            due,
            came,
            complete,
            furthest,
        };
        let steps = self.apps.get_or_insert_default().all.entry(shape.app).or_default();
        if steps.len() >= usize::from(shape.of) {
            steps.clear();
        }
        steps.push(step);
        steps.sort_by_key(|step| step.shape.nth);
        if shape.one_pair {
            apps::place(steps);
            let round = apps::round(steps, &self.config.faults.rc);
            self.pairs[usize::from(slot)].seldom.get_or_insert_default().round = round;
        }
        // What comes may let a message go at once.
        (self.reads, self.atomics) = (true, true);
    }

    /// Does with a packet what is done anyway; then applications look at what is complete.
    #[cold]
    #[inline(never)]
    pub(super) fn process_for_apps(&mut self, now: Time, packet: &Packet) {
        if self.config.faults.rc.send_overtakes_write {
            self.overtakes(packet);
        }
        self.process_one(now, packet);
        self.run_apps(now);
    }

    /// What is sent with a packet is told to its application, though something may be missing before it.
    fn overtakes(&mut self, packet: &Packet) {
        let is_last = packet.is_last() && !packet.is_response();
        if packet.kind != PacketKind::Data || !is_last || packet.bad_icrc() {
            return;
        }
        let steps = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut().flatten());
        for step in steps.filter(|step| !step.is_own && step.id == packet.stream) {
            let through = u64::from(packet.seq.wrapping_sub(step.psn) & 0xff_ffff) + 1;
            if (through - 1) % u64::from(step.round) + 1
                == u64::from(step.ahead + step.kind.packets)
            {
                step.furthest = step.furthest.max(through);
            }
        }
    }

    /// Applications go on as far as they can.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_apps(&mut self, now: Time) {
        let Some(mut apps) = self.apps.take() else { return };
        for steps in apps.all.values_mut() {
            for step in steps.iter_mut() {
                step.came = self.come(step);
                let complete = step.came / u64::from(step.kind.packets);
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
        let all = match &pair.requester {
            Some(requester) if step.is_own => requester.acked(),
            _ if step.is_own => 0,
            _ => (pair.responder.expected().wrapping_sub(step.psn) & 0xff_ffff).into(),
        };
        step.within(all.max(step.furthest))
    }

    fn go_on(&mut self, now: Time, steps: &mut [Step]) {
        // By one queue pair what is done last may let something go that is done sooner.
        let one_pair = steps.first().is_some_and(|step| step.shape.one_pair);
        while self.goes_on(now, steps) && one_pair {}
        for step in steps {
            let due = step.due.front().filter(|due| **due > now);
            self.later.extend(due.map(|due| (*due, step.slot, Later::Step)));
        }
    }

    /// Whether anything was handed over.
    fn goes_on(&mut self, now: Time, steps: &mut [Step]) -> bool {
        let mut handed = false;
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
            while step.due.front().is_some_and(|due| *due <= now) && self.may_be_handed(step) {
                step.due.pop_front();
                handed = true;
                let pair = &mut self.pairs[usize::from(step.slot)];
                if let Some(requester) = &mut pair.requester {
                    requester.hand_packets(step.kind.packets);
                }
                pair.prepare();
                self.send_queues.enqueue(&mut self.pairs, step.slot, now);
            }
        }
        handed
    }

    /// Whether nothing is under way by its queue pair that a READ would have to wait for.
    fn may_be_handed(&self, step: &Step) -> bool {
        let requester = self.pairs[usize::from(step.slot)].requester.as_ref();
        let waits = step.shape.one_pair && step.reads();
        !waits || requester.is_none_or(Requester::is_done)
    }
}
