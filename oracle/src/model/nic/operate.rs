//! What a responder says to an atomic operation: what was there, each time it is asked.

use super::Nic;
use super::alike;
use super::answers::Answer;
use crate::model::packet::{ATOMIC_ACK_SIZE, Packet};
use rig_units::Time;

impl Nic {
    /// Executes an operation, and says what was there.
    #[cold]
    #[inline(never)]
    pub(super) fn operate(&mut self, now: Time, packet: &Packet, slot: u16, compare: Option<u32>) {
        let there = self.pairs[usize::from(slot)].seldom.get_or_insert_default();
        let found = there.atomics.execute(packet.seq, compare);
        self.tell(now, packet, found);
    }

    /// Says once more what was there; of one that is not kept nothing.
    #[cold]
    #[inline(never)]
    pub(super) fn operate_again(
        &mut self,
        now: Time,
        packet: &Packet,
        slot: u16,
        compare: Option<u32>,
    ) {
        if self.config.faults.rc.atomic_executed_twice {
            return self.operate(now, packet, slot, compare);
        }
        let there = self.pairs[usize::from(slot)].seldom.as_ref();
        if let Some(found) = there.and_then(|there| there.atomics.kept(packet.seq)) {
            self.tell(now, packet, found);
        }
    }

    /// The answer waits for no other: each has something to say.
    fn tell(&mut self, now: Time, packet: &Packet, found: u32) {
        let mut ack = packet.ack(ATOMIC_ACK_SIZE).with_ect(false).with_ce(false);
        ack = ack.with_found(Some(found));
        ack.src = self.host;
        if self.config.faults.rc.answers_in_class_0 {
            ack.dscp = 0;
        }
        ack = alike::like(packet, &self.config, ack);
        let ready = now + self.draws.next(self.config.rc.ack_latency);
        self.answers.push(Answer::Ack, ready, &ack);
    }
}
