//! The responder of atomic operations: each is executed once, and what was there before is kept for whoever asks again (IBTA volume 1,
//! 9.4.5 and 9.7.5.1.5).

use super::Nic;
use super::answers::Answer;
use crate::model::packet::{ATOMIC_ACK_SIZE, Packet};
use rig_units::Time;
use std::collections::VecDeque;

/// How many answers are kept of a queue pair.
const KEPT: usize = 16;

/// The eight bytes of a queue pair, of which the model has 24 bits, and what was found there lately, by packet sequence number.
#[derive(Debug, Clone, Default)]
pub(super) struct Atomics {
    there: u32,
    found: VecDeque<(u32, u32)>,
}

impl Atomics {
    /// Adds one, or swaps for one more where it is what is compared with; what was there.
    fn execute(&mut self, psn: u32, compare: Option<u32>) -> u32 {
        let found = self.there;
        if compare.is_none_or(|compare| compare == found) {
            self.there = found.wrapping_add(1) & 0xff_ffff;
        }
        self.found.truncate(KEPT - 1);
        self.found.push_front((psn, found));
        found
    }

    /// What was there when the operation of that number was executed, if that is kept.
    fn kept(&self, psn: u32) -> Option<u32> {
        self.found.iter().find(|(of, _)| *of == psn).map(|&(_, found)| found)
    }
}

impl Nic {
    /// Executes an operation, and says what was there.
    #[cold]
    #[inline(never)]
    pub(super) fn operate(&mut self, now: Time, packet: &Packet, slot: u16, compare: Option<u32>) {
        let found = self.pairs[usize::from(slot)].atomics.execute(packet.seq, compare);
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
        if let Some(found) = self.pairs[usize::from(slot)].atomics.kept(packet.seq) {
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
        let ready = now + self.draws.next(self.config.rc.ack_latency);
        self.answers.push(Answer::Ack, ready, &ack);
    }
}
