//! The headers of each packet: where it goes, of which message it is, and whether it was sent before.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::read_headers::of_reads;
use super::{End, Flow, OF_FLOW, of_either, reading};
use crate::spec::blue_rdma::{SOURCE, near};
use rig_capture::blue_rdma::{Frame, OVERHEAD, Says};
use rig_testcases::Verb;
use rig_testcases::vocabulary::Entry;

/// `blue_rdma.headers`.
pub(in super::super) static HEADERS: Known = Known {
    entry: Entry {
        name: "blue_rdma.headers",
        about: "the headers of each packet of a WRITE or a SEND: a RETH with its own address and length, the number of its message, isRetry where it had left before, and immediate data in the last one of a message that has any; of a READ its request's, with a second RETH that says where the answer goes, and those of each packet of the answer, which goes there",
        sense: of_either,
        ..OF_FLOW
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("lost-packet-of-a-window", "deviation=retry_not_marked"),
    expected: |_, _, _| by_source("in each packet its own address and length", SOURCE),
    judge: |measure, done, judged| headers(done, measure.named("flow"), judged),
    ..Known::USUAL
};

/// What the first packet says, by which the others go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) address: u64,
    pub(super) msn: u16,
}

/// What the opcode and the RETH of a packet with a payload say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) first: bool,
    pub(super) last: bool,
    pub(super) address: u64,
    pub(super) length: u32,
}

impl Flow<'_> {
    /// What is wrong with the headers of a packet of a WRITE or a SEND, if anything is; `again`: it had left before.
    fn unlike(&self, frame: &Frame, number: i64, again: bool, base: Base) -> Option<String> {
        let Says::Data { first, last, address, length } = frame.says else { return None };
        if frame.is_send != self.spec.verb.takes_buffer() {
            return Some("another verb's opcode".to_owned());
        }
        let said = Place { first, last, address, length };
        let wrong = self.misplaced(frame, said, (number, again), base);
        wrong.or_else(|| self.other_data(frame, last))
    }

    /// What is wrong with the immediate data of a packet: the last of a message has its own number for that, where the flow has any.
    fn other_data(&self, frame: &Frame, last: bool) -> Option<String> {
        let due = (last && self.spec.verb.has_tail()).then_some(frame.psn);
        match (frame.immediate, due) {
            (said, due) if said == due => None,
            (Some(said), Some(due)) => {
                Some(format!("immediate data {said:#010x} where {due:#010x} is due"))
            }
            (Some(said), None) => Some(format!("immediate data {said:#010x} where none is due")),
            (None, _) => Some("no immediate data".to_owned()),
        }
    }

    /// What is wrong with the headers of a packet with a payload that says of its place in its message what it does.
    pub(super) fn misplaced(
        &self,
        frame: &Frame,
        Place { first, last, address, length }: Place,
        (number, again): (i64, bool),
        base: Base,
    ) -> Option<String> {
        let (message, place) = (
            (number - self.first).div_euclid(self.packets),
            (number - self.first).rem_euclid(self.packets),
        );
        let before = u32::try_from(place).unwrap_or(0) * self.spec.mtu;
        let payload = (self.spec.message - before.min(self.spec.message)).min(self.spec.mtu);
        let due = base.address + u64::from(before);
        let said = if first { self.spec.message } else { payload };
        if (first, last) != (place == 0, place + 1 == self.packets) {
            return Some(format!(
                "packet {} of {} of a message with another one's opcode",
                place + 1,
                self.packets
            ));
        }
        if address == 0 && length == 0 {
            return Some("no RETH".to_owned());
        }
        if address != due || length != said {
            return Some(format!("{length}B at {address:#x} where {said}B at {due:#x} are due"));
        }
        // A payload begins as far behind a multiple of four as its address does.
        let behind = u32::from(due.to_be_bytes()[7] & 3);
        if u32::from(frame.size) != payload + behind + u32::from(OVERHEAD) {
            return Some(format!("{}B of frame for {payload}B of payload", frame.size));
        }
        unmarked(frame, (message, again), base)
    }
}

/// What is wrong with the number of its message, or with isRetry.
pub(super) fn unmarked(frame: &Frame, (message, again): (i64, bool), base: Base) -> Option<String> {
    let msn = base.msn.wrapping_add(u16::try_from(message & 0xffff).unwrap_or(0));
    if frame.msn != msn {
        return Some(format!("MSN {} where {msn} is due", frame.msn));
    }
    (frame.is_retry != again).then(|| match again {
        true => "isRetry is clear, and it had left before".to_owned(),
        false => "isRetry is set, and it had not left before".to_owned(),
    })
}

fn headers(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.headers", flow, judged, |trial| {
        if trial.flow(flow)?.1.verb == Verb::Read {
            return Ok(of_reads(trial, flow)?);
        }
        let seen = Flow::of(trial, flow, End::Sender)?;
        let (mut reached, mut base, mut count) = (seen.first, None, 0);
        let mut wrong = Vec::new();
        for one in seen.left().filter(|one| one.frame.is_data()) {
            let number = near(one.frame.psn, reached);
            let Says::Data { address, .. } = one.frame.says else { continue };
            let base = *base.get_or_insert(Base { address, msn: one.frame.msn });
            count += 1;
            if let Some(unlike) = seen.unlike(&one.frame, number, number < reached, base) {
                wrong.push((one.record, format!("PSN {}: {unlike}", one.frame.psn)));
            }
            reached = reached.max(number + 1);
        }
        let text = format!("each of {count} packets with the headers of its place in its message");
        Ok(reading(text, wrong, (count, "packets")))
    });
}
