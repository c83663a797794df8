//! A NIC that finds no receive for a message: which packets it does not take, and the RNR NAK that says so.

use super::alike;
use super::answers::Answer;
use super::psn::Place;
use super::receives::Posted;
use super::{Nic, Verb};
use crate::model::packet::{ACK_SIZE, Packet, PacketKind};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::RnrTimer;
use rig_units::Time;

impl Nic {
    /// Learns what comes by this connection: for SENDs its application posts receives.
    pub(crate) fn expect_requests(&mut self, id: u16, from: u16, verb: Verb) {
        if verb.is_unreliable() {
            return self.expect_unreliable(id, from, verb);
        }
        let takes = verb.takes_receive() || self.config.faults.rc.rnr_for_writes;
        if self.receives.is_none() || !takes {
            return;
        }
        let slot = self.pair(id, from);
        if let Some(receives) = &mut self.receives {
            let free = receives.each;
            receives.posted.entry(slot).or_insert(Posted { free, ..Posted::default() });
        }
    }

    /// A packet of data is here at `now`: whether it finds no receive, and is not taken.
    #[cold]
    #[inline(never)]
    pub(super) fn refuses(&mut self, now: Time, packet: &Packet, slot: u16) -> bool {
        let Some(receives) = &mut self.receives else { return false };
        let Some(posted) = receives.posted.get_mut(&slot) else { return false };
        let faults = &self.config.faults.rc;
        match self.pairs[usize::from(slot)].responder.stands(packet.seq, faults) {
            Place::Here => {}
            // What follows a message that was refused is dropped, and is no hole.
            Place::Ahead(_) => return posted.refused,
            Place::Behind(_) => return false,
        }
        if packet.is_first() {
            posted.come(now);
            posted.is_held = posted.free > u16::from(faults.rnr_keeps_one_back);
            posted.refused = !posted.is_held && !faults.rnr_takes_anyway;
            posted.free -= u16::from(posted.is_held);
        }
        if posted.refused {
            if !faults.rnr_silent {
                let timer = receives.timer;
                self.say_not_ready(now, packet, timer);
            }
            return true;
        }
        if packet.is_last() && core::mem::take(&mut posted.is_held) {
            posted.busy = posted.busy.max(now) + self.draws.next(receives.again);
            posted.coming.push_back(posted.busy);
        }
        false
    }

    pub(super) fn say_not_ready(&mut self, now: Time, packet: &Packet, timer: RnrTimer) {
        let faults = &self.config.faults.rc;
        let mut answer = packet.ack(ACK_SIZE).with_ect(false).with_ce(false);
        answer.kind = PacketKind::NotReady;
        answer.src = self.host;
        answer.seq = Psn::new(packet.seq).advance(u32::from(faults.rnr_names_next)).get();
        if faults.answers_in_class_0 {
            answer.dscp = 0;
        }
        answer = alike::like(packet, &self.config, answer);
        let next = RnrTimer::new(timer.get() + 1).unwrap_or_default();
        let timer = if faults.rnr_timer_of_next_code { next } else { timer };
        let latency = self.draws.next(self.config.rc.nak_latency);
        self.answers.push(Answer::Nak, now + latency, &answer.with_rnr_timer(timer));
    }
}
