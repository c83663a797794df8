//! What a NIC does for the applications above it: it tells them what is complete, and sends what they hand over.

use super::alike;
use super::answers::Answer;
use super::apps::{self, App, Apps, Step, may_go};
use super::keys::Keys;
use super::landed::Landed;
use super::psn::Place;
use super::requester::Requester;
use super::seldom::Kind;
use super::stream::Stream;
use super::{Flow, Later, Nic, Verb};
use crate::model::packet::{ACK_SIZE, Packet, PacketKind};
use rig_capture::HostCheck;
use rig_lab::RcFaults;
use rig_testcases::{AppKey, AppStep};
use rig_units::Time;
use std::collections::VecDeque;

/// What a packet has to do with keys.
enum KeyUse {
    /// Nothing that matters.
    Fine,
    /// It names memory that may not be touched, by this queue pair.
    Refused(u16),
    /// It comes by a queue pair that refused one.
    Dropped,
    /// It revokes one, by this queue pair.
    Revokes(u16),
}

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
        // What a READ brings is with who asks for it.
        let takes = is_own == matches!(verb, Verb::Read);
        let landed = (shape.checksum && takes).then(Landed::default);
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
            landed,
        };
        let app = self.apps.get_or_insert_default().all.entry(shape.app).or_default();
        if app.steps.len() >= usize::from(shape.of) {
            *app = App::default();
        }
        if shape.is_stream {
            app.stream.get_or_insert_default();
        }
        let steps = &mut app.steps;
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
        let taken = self.taken(packet);
        match self.use_of_key(packet) {
            KeyUse::Refused(slot) => self.deny(now, packet, slot),
            KeyUse::Dropped => {}
            KeyUse::Fine => {
                self.process_one(now, packet);
            }
            KeyUse::Revokes(slot) => {
                self.process_one(now, packet);
                self.revoke(packet, slot);
            }
        }
        if let Some(before) = taken.filter(|before| self.taken(packet) > Some(*before)) {
            self.land(packet, before);
        }
        self.run_apps(now);
    }

    /// How many packets of data of a queue pair were taken that go the way of this one, where an application looks at what they bring.
    fn taken(&self, packet: &Packet) -> Option<u64> {
        let slot = self.table.get(packet.stream);
        let step = self.apps.iter().flat_map(|apps| apps.all.values()).flat_map(|app| &app.steps);
        let step = step.filter(|step| packet.kind == PacketKind::Data && step.landed.is_some());
        let like = |step: &&Step| (step.slot, step.is_own) == (slot, packet.is_response());
        step.into_iter().find(like).map(|step| self.through(step))
    }

    /// What a packet brings is written to memory, which so many of its queue pair were before it.
    fn land(&mut self, packet: &Packet, before: u64) {
        let slot = self.table.get(packet.stream);
        let faults = &self.config.faults.rc;
        let steps = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut());
        for step in steps.flat_map(|app| &mut app.steps) {
            if (step.slot, step.is_own) == (slot, packet.is_response()) {
                step.lands(before, packet.bad_icrc(), faults);
            }
        }
    }

    /// What a packet has to do with keys of registered memory. What is not the next of its queue pair is as ever.
    fn use_of_key(&mut self, packet: &Packet) -> KeyUse {
        let data = packet.kind == PacketKind::Data && !packet.is_response();
        if !data && packet.kind != PacketKind::ReadRequest {
            return KeyUse::Fine;
        }
        let slot = self.table.get(packet.stream);
        let faults = &self.config.faults.rc;
        let Some(pair) = self.pairs.get_mut(usize::from(slot)) else { return KeyUse::Fine };
        let is_next = pair.responder.stands(packet.seq, faults) == Place::Here;
        let all = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut());
        for App { steps, keys, .. } in all {
            let far = |step: &&Step| !step.is_own && step.slot == slot;
            let Some(step) =
                steps.iter().filter(far).find(|step| step.round_of(packet.seq).is_some())
            else {
                continue;
            };
            if keys.is_dead(slot) {
                return KeyUse::Dropped;
            }
            let (round, key) = (step.round_of(packet.seq).unwrap_or(0), packet.key());
            if !is_next || key == 0 {
                return KeyUse::Fine;
            }
            match step.shape.key {
                Some(AppKey::Registers) => keys.learn(round, key, step.shape.credits),
                Some(AppKey::Names) if keys.refuses(key, faults) => return KeyUse::Refused(slot),
                Some(AppKey::Revokes) if packet.is_last() => return KeyUse::Revokes(slot),
                _ => {}
            }
            return KeyUse::Fine;
        }
        KeyUse::Fine
    }

    /// Refuses an access to memory that may not be touched: its queue pair takes nothing any more.
    fn deny(&mut self, now: Time, packet: &Packet, slot: u16) {
        let faults = &self.config.faults.rc;
        let mut nak = packet.ack(ACK_SIZE).with_ect(false).with_ce(false).with_key(0);
        (nak.kind, nak.src) = (PacketKind::Nak, self.host);
        if faults.answers_in_class_0 {
            nak.dscp = 0;
        }
        nak = alike::like(packet, &self.config, nak);
        if !faults.denial_asks_again {
            nak = nak.with_denial();
            let all = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut());
            all.filter(|app| app.steps.iter().any(|step| step.slot == slot))
                .for_each(|app| app.keys.bury(slot));
        }
        let latency = self.draws.next(self.config.rc.nak_latency);
        self.answers.push(Answer::Nak, now + latency, &nak);
    }

    /// A key is revoked once the message has come in whole that says so.
    fn revoke(&mut self, packet: &Packet, slot: u16) {
        let faults = &self.config.faults.rc;
        let all = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut());
        for app in all.filter(|app| app.steps.iter().any(|step| step.slot == slot)) {
            app.keys.revoke(packet.key(), faults);
        }
    }

    /// Its access was refused: the queue pair is in error.
    pub(super) fn denied(&mut self, packet: &Packet) {
        let slot = self.table.get(packet.stream);
        let pair = self.pairs.get_mut(usize::from(slot));
        if let Some(requester) = pair.and_then(|pair| pair.requester.as_mut()) {
            requester.denied();
        }
    }

    /// What is sent with a packet is told to its application, though something may be missing before it.
    fn overtakes(&mut self, packet: &Packet) {
        let is_last = packet.is_last() && !packet.is_response();
        if packet.kind != PacketKind::Data || !is_last || packet.bad_icrc() {
            return;
        }
        let apps = self.apps.iter_mut().flat_map(|apps| apps.all.values_mut());
        let steps = apps.flat_map(|app| &mut app.steps);
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
        let Apps { all, checks } = &mut *apps;
        for app in all.values_mut() {
            for step in &mut app.steps {
                step.came = self.come(step);
                let (before, complete) = (step.complete, step.came / u64::from(step.kind.packets));
                step.complete = u32::try_from(complete).unwrap_or(u32::MAX);
                if let Some(stream) = app.stream.as_mut().filter(|_| !step.is_own) {
                    stream.reads(step, before);
                }
                let found = step.looks(&self.config.faults.rc).into_iter();
                let connection = step.id;
                checks.extend(found.map(|(message, fits)| HostCheck { connection, message, fits }));
            }
            if app.steps.iter().all(|step| app.steps.len() == usize::from(step.shape.of)) {
                self.go_on(now, app);
            }
        }
        self.apps = Some(apps);
    }

    /// Packets of a step that are acknowledged, where it is done here, or that came in their order.
    fn come(&self, step: &Step) -> u64 {
        step.within(self.through(step).max(step.furthest))
    }

    /// The same of all that its end sends by its queue pair.
    fn through(&self, step: &Step) -> u64 {
        let Some(pair) = self.pairs.get(usize::from(step.slot)) else { return 0 };
        match &pair.requester {
            Some(requester) if step.is_own => requester.acked(),
            _ if step.is_own => 0,
            _ => (pair.responder.expected().wrapping_sub(step.psn) & 0xff_ffff).into(),
        }
    }

    fn go_on(&mut self, now: Time, app: &mut App) {
        // By one queue pair what is done last may let something go that is done sooner.
        let one_pair = app.steps.first().is_some_and(|step| step.shape.one_pair);
        while self.goes_on(now, app) && one_pair {}
        for step in &app.steps {
            let due = step.due.front().filter(|due| **due > now);
            self.later.extend(due.map(|due| (*due, step.slot, Later::Step)));
        }
    }

    /// Whether anything was handed over.
    fn goes_on(&mut self, now: Time, app: &mut App) -> bool {
        let App { steps, keys, stream } = app;
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
            let is_due = |step: &Step| step.due.front().is_some_and(|due| *due <= now);
            while is_due(&steps[nth]) && self.may_be_handed(&steps[nth]) {
                let key = self.key_for(&steps[nth], keys);
                if let Some(stream) = stream.as_mut() {
                    self.gives(stream, steps, nth);
                }
                let step = &mut steps[nth];
                step.due.pop_front();
                handed = true;
                let pair = &mut self.pairs[usize::from(step.slot)];
                if let Some(requester) = &mut pair.requester {
                    if let Some((key, by_last)) = key {
                        let seldom = pair.seldom.get_or_insert_default();
                        seldom.says(requester.total(), requester.acked(), key, by_last);
                    }
                    requester.hand_packets(step.kind.packets);
                }
                pair.prepare();
                self.send_queues.enqueue(&mut self.pairs, step.slot, now);
            }
        }
        handed
    }

    /// The next message of a step takes up a stream where the one before it ended.
    fn gives(&mut self, stream: &mut Stream, steps: &[Step], nth: usize) {
        let before = nth.checked_sub(1).map(|before| usize::from(steps[before].slot));
        let before = before.and_then(|slot| self.pairs.get_mut(slot)?.requester.as_mut());
        stream.gives((steps, nth), before, &self.config.faults.rc);
    }

    /// The key that the next message of a step says, and whether its last packet does.
    fn key_for(&self, step: &Step, keys: &mut Keys) -> Option<(u8, bool)> {
        let (round, faults) = (step.handed() / step.shape.chunks, &self.config.faults.rc);
        match step.shape.key? {
            AppKey::Registers => Some((keys.register(round, faults), false)),
            AppKey::Names => Some((keys.of(round, faults), false)),
            AppKey::Revokes => Some((keys.of(round, &RcFaults::NONE), true)),
        }
    }

    /// Whether nothing is under way by its queue pair that a READ would have to wait for.
    fn may_be_handed(&self, step: &Step) -> bool {
        let requester = self.pairs[usize::from(step.slot)].requester.as_ref();
        let waits = step.shape.one_pair && step.reads();
        !waits || requester.is_none_or(Requester::is_done)
    }
}
