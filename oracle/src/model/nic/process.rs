//! What comes in: frames, one after the other, and what has been waiting for its time.

use super::alike;
use super::answers::Answer;
use super::np::cnp;
use super::receive::takes_spoilt;
use super::requester::Unready;
use super::responder::Taken;
use super::{Later, Nic};
use crate::model::packet::{ACK_SIZE, Packet, PacketKind};
use rig_capture::CompletionStatus;
use rig_lab::Recovery;
use rig_units::{Dur, Time, Within};

impl Nic {
    /// Takes in a packet of data where nothing is thrown away that comes behind a hole.
    #[inline(never)]
    pub(super) fn places(&mut self, packet: &Packet, slot: u16) -> Taken {
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let kept = self.kept.entry(slot).or_default();
        let responder = &mut self.pairs[usize::from(slot)].responder;
        responder.places(packet.seq, packet.is_last(), rc.ack_every, kept, faults)
    }

    /// A frame arrives whose last bit is here at `now`; no PFC. Whether anything may have to be done at another time than before.
    #[inline(always)]
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) -> bool {
        if packet.bad_icrc() {
            self.counters.rx_icrc_encapsulated += 1;
            if !takes_spoilt(&self.config.faults.rc, packet) {
                return false;
            }
        }
        if let Some(buffer) = &mut self.buffer
            && packet.kind == PacketKind::Data
        {
            buffer.arrives(now, packet);
        }
        !self.pipeline.takes(&self.config.receive, now, packet) || self.process(now, packet)
    }

    /// When [`on_wake`](Self::on_wake) has to be called next; [`Time::MAX`] if nothing waits for its time.
    #[inline]
    pub(crate) fn wake(&self) -> Time {
        let effect = self.cnps.first().map_or(Time::MAX, |&(at, ..)| at);
        self.stirs().min(effect)
    }

    /// The same for what may make a frame leave earlier than is foreseen. The effect of a CNP never does.
    #[inline]
    pub(crate) fn stirs(&self) -> Time {
        let later = self.later.first().map_or(Time::MAX, |&(at, ..)| at);
        let word = self.buffer.as_ref().map_or(Time::MAX, |buffer| buffer.wake());
        self.pipeline.next().min(later).min(word)
    }

    /// The least time from the arrival of data to a frame that leaves because of it.
    pub(crate) fn reaction(&self) -> Dur {
        if self.reads || self.buffer.is_some() {
            return Dur::ZERO;
        }
        let rc = &self.config.rc;
        let latencies = [rc.ack_latency, rc.nak_latency, self.config.np.latency];
        latencies.map(Within::least).into_iter().min().unwrap_or(Dur::ZERO)
    }

    /// Whether an acknowledgement may bring a frame forth at once, or a CNP: one with a mark a CNP, and one for an atomic operation, or
    /// before a fence, the next.
    pub(crate) const fn answers_answers(&self) -> [bool; 2] {
        [
            self.config.np.ack_earns || self.atomics || self.completions.is_some(),
            self.config.faults.np.cnp_on_cnp,
        ]
    }

    /// Does what is due at `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_wake(&mut self, now: Time) {
        if let Some(buffer) = &mut self.buffer {
            buffer.on_wake(now);
        }
        while let Some(packet) = self.pipeline.pop(now) {
            self.process(now, &packet);
        }
        while let Some(&(at, _, stream, source)) = self.cnps.first()
            && at <= now
        {
            self.cnps.pop_first();
            self.notified(now, stream, source);
        }
        while let Some(&(at, slot, what)) = self.later.first()
            && at <= now
        {
            self.later.pop_first();
            match what {
                Later::Resend => self.released(now, slot),
                Later::Timeout => self.watched(now, slot),
                Later::Core => self.poll(now),
                Later::Polled => self.polled(now, slot),
                Later::Step => self.run_apps(now),
            }
        }
    }

    /// The link went down: what waits to go out or to come in is lost.
    pub(crate) fn cut_off(&mut self) {
        self.pipeline.clear();
        self.answers.clear();
        if let Some(buffer) = &mut self.buffer {
            buffer.clear(&self.config);
        }
    }

    /// Whether anything may have to be done at another time than before.
    #[inline]
    fn process(&mut self, now: Time, packet: &Packet) -> bool {
        if self.apps.is_some() {
            self.process_for_apps(now, packet);
            return true;
        }
        self.process_one(now, packet)
    }

    #[inline(always)]
    pub(super) fn process_one(&mut self, now: Time, packet: &Packet) -> bool {
        match packet.kind {
            PacketKind::Data => self.data(now, packet),
            PacketKind::Ack => return self.ack(now, packet),
            PacketKind::Nak => self.nak(now, packet),
            PacketKind::NotReady => self.not_ready(now, packet),
            PacketKind::Cnp => self.cnp(now, packet),
            PacketKind::ReadRequest => self.read_request(now, packet),
            PacketKind::Pfc => {}
        }
        true
    }

    #[inline(always)]
    fn data(&mut self, now: Time, packet: &Packet) {
        let slot = self.pair(packet.stream, packet.sender());
        if packet.ce() || self.config.faults.np.cnp_without_mark {
            self.may_be_marked(now, packet, slot);
        }
        if packet.is_response() {
            return self.response(now, packet, slot);
        }
        if self.receives.is_some() && self.refuses(now, packet, slot) {
            return;
        }
        if self.unreliable.is_some() && self.is_unreliable(now, packet, slot) {
            return;
        }
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let responder = &mut self.pairs[usize::from(slot)].responder;
        let taken = match rc.recovery {
            Some(Recovery::SelectiveRepeat) => self.places(packet, slot),
            _ => responder.takes_data(packet.seq, packet.is_last(), rc.ack_every, faults),
        };
        match taken {
            Taken::Here { acks: false } => {}
            Taken::Here { acks: true } if packet.atomic().is_none() => {
                let last = self.pairs[usize::from(slot)].responder.last();
                self.acknowledge(now, packet, last);
            }
            other => self.unusual(now, packet, slot, other),
        }
    }

    /// A packet that carries a mark, or to which a fault may answer as if it did.
    #[cold]
    #[inline(never)]
    fn may_be_marked(&mut self, now: Time, packet: &Packet, slot: u16) {
        let faults = &self.config.faults.np;
        if packet.ce() {
            let misses = packet.is_response() && faults.cnp_missed_on_read
                || packet.is_v6() && faults.cnp_missed_on_ipv6;
            self.counters.np_ecn_marked_roce_packets += 1;
            if !misses {
                self.marked(now, packet, slot);
            }
        } else if packet.ect() {
            self.marked(now, packet, slot);
        }
    }

    /// A packet that is no plain one in its turn.
    #[cold]
    #[inline(never)]
    fn unusual(&mut self, now: Time, packet: &Packet, slot: u16, taken: Taken) {
        let last = self.pairs[usize::from(slot)].responder.last();
        match taken {
            Taken::Here { .. } => self.operate(now, packet, slot, packet.atomic().flatten()),
            Taken::Ahead { naks } => self.hole(now, packet, slot, naks),
            Taken::HereBeforeAHole => self.ask(now, packet, slot),
            Taken::Kept => self.counters.duplicate_request += 1,
            Taken::Behind => {
                let itself = self.config.faults.rc.duplicate_acked_as_itself;
                let again = if itself { packet.seq } else { last };
                self.counters.duplicate_request += 1;
                match packet.atomic() {
                    None => self.acknowledge(now, packet, again),
                    Some(compare) => self.operate_again(now, packet, slot, compare),
                }
            }
        }
    }
    #[inline(always)]
    fn acknowledge(&mut self, now: Time, packet: &Packet, last: u32) {
        let mut ack = packet.ack(self.config.ack_size());
        if !self.config.acks_echo_marks() {
            ack = ack.with_ect(false).with_ce(false);
        }
        ack.src = self.host;
        ack.seq = last;
        if self.config.faults.rc.answers_in_class_0 {
            ack.dscp = 0;
        }
        ack = alike::like(packet, &self.config, ack);
        let mut ready = now + self.draws.next(self.config.rc.ack_latency);
        if let Some(us) = self.config.faults.rc.acks_stall {
            ready += self.stands_still(us);
        }
        let Some(held) = self.config.rc.ack_held else {
            return self.answers.push(Answer::Ack, ready, &ack);
        };
        if !self.answers.coalesces(ready, &ack) {
            let held = self.draws.next(held);
            self.answers.push(Answer::Ack, ready + held, &ack);
        }
    }

    #[cold]
    #[inline(never)]
    fn hole(&mut self, now: Time, packet: &Packet, slot: u16, naks: bool) {
        self.counters.out_of_sequence += 1;
        if !naks && !self.config.faults.rc.nak_repeated {
            return;
        }
        self.holes = self.holes.wrapping_add(u32::from(naks));
        let left_out = self.config.faults.rc.nak_left_out;
        if naks && left_out.is_some_and(|each| self.holes.is_multiple_of(each)) {
            return;
        }
        self.ask(now, packet, slot);
    }

    /// Says which packet is missing.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, now: Time, packet: &Packet, slot: u16) {
        let mut nak = packet.ack(ACK_SIZE).with_ect(false).with_ce(false);
        nak.kind = PacketKind::Nak;
        nak.src = self.host;
        nak.seq = self.pairs[usize::from(slot)].responder.expected();
        if self.config.faults.rc.answers_in_class_0 {
            nak.dscp = 0;
        }
        nak = alike::like(packet, &self.config, nak);
        let latency = self.draws.next(self.config.rc.nak_latency);
        self.answers.push(Answer::Nak, now + latency, &nak);
        if self.config.np.nak_earns {
            self.marked(now, packet, slot);
        }
    }

    /// A mark: a CNP answers it, if it is answered.
    #[cold]
    #[inline(never)]
    pub(super) fn marked(&mut self, now: Time, packet: &Packet, slot: u16) {
        if self.ignores_mark(slot) {
            return;
        }
        let mut stranger = None;
        let answered = match self.pairs.get_mut(usize::from(slot)) {
            Some(pair) => &mut pair.answered,
            None => &mut stranger,
        };
        if self.np.answers(&self.config, now, packet.src, answered) {
            let cnp = cnp(&self.config, self.host, packet);
            let latency = self.draws.next(self.config.np.latency);
            self.answers.push(Answer::Cnp, now + latency, &cnp);
        }
    }

    #[inline(always)]
    fn ack(&mut self, now: Time, packet: &Packet) -> bool {
        let slot = self.table.get(packet.stream);
        if packet.ce() {
            self.marked_answer(now, packet, slot);
        }
        let earns = packet.ce() && self.config.np.ack_earns;
        let Some(pair) = self.pairs.get_mut(usize::from(slot)) else { return earns };
        let Some(requester) = &mut pair.requester else { return earns };
        let skips = requester.acknowledged(now, packet.seq, &self.config.faults.rc);
        let goes_on = requester.waits() && requester.is_ready();
        if skips || goes_on {
            pair.prepare();
        }
        if goes_on && !self.holds_fenced(now, slot) {
            self.send_queues.enqueue(&mut self.pairs, slot, now);
        }
        let adapts = self.each_frame.adapts;
        if adapts {
            self.watch_anew(now, slot);
        }
        let is_told = self.completions.is_some();
        if is_told {
            self.completes(now, slot);
        }
        earns || skips || goes_on || adapts || is_told
    }

    /// A mark on an acknowledgement or a NAK.
    #[cold]
    #[inline(never)]
    fn marked_answer(&mut self, now: Time, packet: &Packet, slot: u16) {
        #[cfg(feature = "ns3")]
        if self.notified_by_ack(now, slot) {
            return;
        }
        self.counters.np_ecn_marked_roce_packets += 1;
        if self.config.np.ack_earns {
            self.marked(now, packet, slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn nak(&mut self, now: Time, packet: &Packet) {
        if packet.is_denial() {
            return self.denied(packet);
        }
        let slot = self.table.get(packet.stream);
        if packet.ce() {
            self.marked_answer(now, packet, slot);
        }
        self.counters.packet_seq_err += 1;
        let Some(pair) = self.pairs.get_mut(usize::from(slot)) else { return };
        let latency = self.draws.next(self.config.rc.resend_latency);
        if let Some(requester) = &mut pair.requester
            && requester.refused(
                now,
                packet.seq,
                latency,
                &self.config.rc,
                (&self.config.faults.rc, &mut self.draws),
            )
        {
            let until = requester.held_until();
            self.later.insert((until, slot, Later::Resend));
            pair.prepare();
            if self.config.faults.rc.nak_holds_all {
                self.hold_all(until);
            }
        }
        if self.config.faults.rp.cut_on_loss {
            self.cut_on_loss(now, slot);
        }
        if self.each_frame.adapts {
            self.watch_anew(now, slot);
        }
        self.completes(now, slot);
    }

    #[cold]
    #[inline(never)]
    fn not_ready(&mut self, now: Time, packet: &Packet) {
        self.counters.rnr_nak_retry_err += 1;
        let slot = self.table.get(packet.stream);
        let Some(pair) = self.pairs.get_mut(usize::from(slot)) else { return };
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let takes = match faults.rnr_not_waited {
            true => self.draws.next(rc.resend_latency),
            false => {
                let wait = packet.rnr_timer().wait();
                // Where nothing is declared of it the standard has no end: up to as long again.
                let late = self.draws.next(rc.rnr_late.unwrap_or(Within::at_most(wait)));
                self.config.clock.lasting(wait) + late
            }
        };
        let until = now + takes;
        let Some(requester) = &mut pair.requester else { return };
        let made = requester.not_ready(now, packet.seq, until, rc, faults);
        match made {
            Unready::Nothing => {}
            Unready::GivesUp => {
                let counts = !faults.given_up_not_counted;
                self.counters.req_rnr_retries_exceeded += u64::from(counts);
            }
            Unready::Waits => {
                self.later.insert((until, slot, Later::Resend));
                pair.prepare();
                if faults.rnr_nak_holds_all {
                    self.hold_all(until);
                }
            }
        }
        self.completes(now, slot);
        if made == Unready::GivesUp {
            self.gives_up(now, slot, CompletionStatus::RnrRetryExceeded);
        }
        if self.each_frame.adapts {
            self.watch_anew(now, slot);
        }
    }

    fn response(&mut self, now: Time, packet: &Packet, slot: u16) {
        let pair = &mut self.pairs[usize::from(slot)];
        let Some(requester) = &mut pair.requester else { return };
        let (faults, latency) = (&self.config.faults.rc, self.config.rc.nak_latency);
        if requester.brought(now, packet.seq, || self.draws.next(latency), faults) {
            self.counters.implied_nak_seq_err += u64::from(!faults.implied_nak_not_counted);
            self.later.insert((requester.held_until(), slot, Later::Resend));
        }
        let is_ready = requester.is_ready();
        pair.prepare();
        if is_ready {
            self.send_queues.enqueue(&mut self.pairs, slot, now);
        }
        self.completes(now, slot);
        if self.each_frame.adapts {
            self.watch_anew(now, slot);
        }
    }

    #[cold]
    #[inline(never)]
    fn read_request(&mut self, now: Time, packet: &Packet) {
        let slot = self.pair(packet.stream, packet.sender());
        self.join(slot);
        let pair = &mut self.pairs[usize::from(slot)];
        let (wanted, mtu) = (packet.wanted(), pair.mtu);
        let faults = &self.config.faults.rc;
        match pair.responder.takes_read(packet.seq, wanted, mtu, faults) {
            Taken::Here { .. } | Taken::HereBeforeAHole | Taken::Kept => {}
            Taken::Ahead { naks } => return self.hole(now, packet, slot, naks),
            Taken::Behind => {
                self.counters.duplicate_request += 1;
                if faults.duplicate_read_ignored {
                    return;
                }
            }
        }
        pair.answer_like(packet, faults.answers_from_first_gid);
        pair.prepare();
        self.send_queues.enqueue(&mut self.pairs, slot, now);
    }

    /// A queue pair that was told to go back may send again.
    fn released(&mut self, now: Time, slot: u16) {
        let pair = &mut self.pairs[usize::from(slot)];
        if let Some(requester) = &mut pair.requester
            && requester.held_until() <= now
        {
            requester.is_held = false;
            self.send_queues.enqueue(&mut self.pairs, slot, now);
        }
    }

    /// Looks whether a queue pair has made no progress for too long.
    fn watched(&mut self, now: Time, slot: u16) {
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let pair = &mut self.pairs[usize::from(slot)];
        let Some(requester) = &mut pair.requester else { return };
        requester.is_watched = false;
        if !requester.is_waiting() {
            return;
        }
        let since = (requester.idle_since, requester.tries);
        let Some(due) = requester.timer.due(rc, faults, since, &mut self.draws) else { return };
        if due > now {
            requester.is_watched = true;
            self.later.insert((due, slot, Later::Timeout));
            return;
        }
        self.counters.local_ack_timeout_err += u64::from(!faults.timeout_not_counted);
        if !requester.timed_out(now, rc, (faults, &mut self.draws)) {
            let counts = !faults.given_up_not_counted;
            self.counters.req_transport_retries_exceeded += u64::from(counts);
            self.gives_up(now, slot, CompletionStatus::RetryExceeded);
        } else if let Some(due) =
            requester.timer.due(rc, faults, (now, requester.tries), &mut self.draws)
        {
            requester.is_watched = true;
            pair.prepare();
            self.later.insert((due, slot, Later::Timeout));
            self.send_queues.enqueue(&mut self.pairs, slot, now);
        }
    }
}
