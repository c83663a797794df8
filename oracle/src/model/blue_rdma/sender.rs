//! The sending side of a queue pair: what leaves, what is known to have come, and what the driver sends again.

use super::receiver::number;
use crate::model::nic::{Flow, Verb};
use crate::model::packet::{Packet, PacketKind, bit};
use rig_capture::blue_rdma::{ANSWERS, Frame, MEMORY, OVERHEAD, REPORT_SIZE, Says};
use rig_lab::BlueRdmaFaults;
use rig_lab::declared::BlueRdma;
use rig_units::Time;
use std::collections::{BTreeSet, VecDeque};

/// Packets below the newest stride in a window.
const BELOW: u32 = 112;
/// Packets of a stride.
const STRIDE: u32 = 16;

/// Most bytes of a message that one descriptor is for.
const CHUNK: u32 = 1 << 16;

/// What packets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Payload of WRITEs and SENDs.
    Write,
    /// READ requests.
    Request,
    /// What answers them.
    Response,
}

/// The sending side of one queue pair. Packets are counted from its first, in numbers that never wrap.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    flow: Flow,
    kind: Kind,
    /// Packets of a message.
    packets: u64,
    /// Packets in all.
    total: u64,
    /// The next that has not been sent.
    next: u64,
    /// What is to be sent again.
    again: VecDeque<u64>,
    /// All before it have come, as far as is known.
    base: u64,
    /// What is known to have come beyond.
    beyond: BTreeSet<u64>,
    /// The first packet of the first message that the driver has not forgotten.
    kept: u64,
    /// Since when there has been no progress.
    pub(super) since: Time,
    /// Times in a row that the timer ran out.
    tries: u8,
    /// Whether somebody will look at the timer.
    pub(super) is_watched: bool,
    /// Up to where all had come, as far as was known, when the driver gave up.
    gave_up: Option<u64>,
    /// Descriptors that the driver wrote.
    pub(super) descriptors: u64,
}

impl Sender {
    pub(super) fn new(flow: &Flow, now: Time) -> Sender {
        let of = if flow.verb == Verb::Read { Kind::Request } else { Kind::Write };
        Sender::of(flow, of, now)
    }

    /// That of the answers to READs, of which none has come.
    pub(super) fn answering(flow: &Flow, now: Time) -> Sender {
        Sender::of(&Flow { count: Some(0), ..*flow }, Kind::Response, now)
    }

    fn of(flow: &Flow, kind: Kind, now: Time) -> Sender {
        let packets = match kind {
            Kind::Request => 1,
            _ => u64::from(flow.message.div_ceil(flow.mtu.max(1)).max(1)),
        };
        Sender {
            flow: *flow,
            kind,
            packets,
            total: flow.count.map_or(u64::MAX, |count| u64::from(count) * packets),
            next: 0,
            again: VecDeque::new(),
            base: 0,
            beyond: BTreeSet::new(),
            kept: 0,
            since: now,
            tries: 0,
            is_watched: false,
            gave_up: None,
            descriptors: 0,
        }
    }

    /// A READ has come, and is answered.
    pub(super) fn answer(&mut self) {
        self.total += self.packets;
    }

    /// Whether the driver waits for acknowledgements: answers to READs ask for none.
    pub(super) fn has_timer(&self) -> bool {
        self.kind != Kind::Response
    }

    /// Messages that are over, of which so many were answered, if they are READs.
    pub(super) fn completed(&self, answered: u64, faults: &BlueRdmaFaults) -> u64 {
        let acknowledged = self.gave_up.unwrap_or(self.base) / self.packets;
        match self.kind {
            Kind::Response => 0,
            Kind::Request if !faults.read_completes_early => acknowledged.min(answered),
            Kind::Request | Kind::Write => acknowledged,
        }
    }

    /// Nothing new is sent from now on.
    pub(super) const fn stop(&mut self) {
        self.total = self.next;
    }

    /// Whether something is on its way that is not known to have come.
    pub(super) const fn is_waiting(&self) -> bool {
        self.base < self.next
    }

    /// Whether it has a packet to send, where the classes in `closed` are paused, and so many of its READs are answered.
    pub(super) fn is_ready(
        &self,
        closed: u8,
        answered: u64,
        (declared, faults): (&BlueRdma, &BlueRdmaFaults),
    ) -> bool {
        let has_new = || self.next < self.total && self.may_post(answered, declared, faults);
        closed & bit(self.flow.class) == 0 && (!self.again.is_empty() || has_new())
    }

    /// Whether the driver has posted the message that is next, or may: it looks at both windows before it does.
    fn may_post(&self, answered: u64, declared: &BlueRdma, faults: &BlueRdmaFaults) -> bool {
        let has_begun = !self.next.is_multiple_of(self.packets);
        let is_exempt = self.kind == Kind::Response && !faults.answers_fill_window;
        if has_begun || is_exempt || faults.window_overrun {
            return true;
        }
        let outstanding = self.next + self.packets - self.base;
        let open = self.next / self.packets - self.completed(answered, faults);
        outstanding <= u64::from(declared.psn_window) && open < u64::from(declared.msn_window)
    }

    /// The packet that leaves at `now`, and what it says.
    pub(super) fn send(
        &mut self,
        now: Time,
        host: u16,
        faults: &BlueRdmaFaults,
    ) -> (Packet, Frame) {
        if !self.is_waiting() {
            self.since = now;
        }
        let again = self.again.pop_front();
        let number = again.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        let (message, place) = (number / self.packets, number % self.packets);
        let (first, last) = (place == 0, place + 1 == self.packets);
        let before = u32::try_from(place).unwrap_or(u32::MAX).saturating_mul(self.flow.mtu);
        // What is sent again is sent packet by packet.
        let begins = before / CHUNK != before.wrapping_sub(self.flow.mtu) / CHUNK;
        if again.is_some() || begins || faults.descriptor_a_packet {
            self.descriptors += 1;
        }
        let (size, says) = self.says((first, last), before, faults);
        let psn = self.psn(number);
        let frame = Frame {
            connection: self.flow.id,
            psn,
            msn: u16::try_from(message & 0xffff).unwrap_or(0),
            size,
            is_retry: again.is_some() && !faults.retry_not_marked,
            ce: false,
            is_send: matches!(self.flow.verb, Verb::Send | Verb::SendWithTail),
            immediate: self.immediate(psn, last, faults),
            says,
        };
        let Flow { id, dst, class, dscp, ect, .. } = self.flow;
        let mut packet = Packet::data(id, host, dst, class, dscp, size).with_ect(ect);
        packet.seq = psn;
        packet = packet.with_place(first, last).with_response(self.kind == Kind::Response);
        if self.kind == Kind::Request {
            packet.kind = PacketKind::ReadRequest;
        }
        (packet, frame)
    }

    /// Size of a packet, and what it says, which so many bytes of its message are before.
    fn says(
        &self,
        (first, last): (bool, bool),
        before: u32,
        faults: &BlueRdmaFaults,
    ) -> (u16, Says) {
        let message = self.flow.message;
        if self.kind == Kind::Request {
            let answer = if faults.second_reth_missing { 0 } else { ANSWERS };
            let says = Says::Request { address: MEMORY, length: message, answer };
            return (REPORT_SIZE, says);
        }
        let payload = (message - before).min(self.flow.mtu);
        let is_answer = self.kind == Kind::Response;
        let is_bare = (faults.reth_missing_in_middle && !first && !last)
            || (faults.reth_missing_in_response && is_answer && !first && !last)
            || (faults.send_without_reth && self.flow.verb == Verb::Send);
        let length = if first { message } else { payload };
        let memory = if is_answer && !faults.answer_where_it_was_read { ANSWERS } else { MEMORY };
        let (address, length) = if is_bare { (0, 0) } else { (memory + u64::from(before), length) };
        // A payload begins as far behind a multiple of four as its address does.
        let behind = u32::try_from(address % 4).unwrap_or(0);
        let size = u16::try_from(payload + behind).unwrap_or(u16::MAX).saturating_add(OVERHEAD);
        let says = match self.kind {
            Kind::Response => Says::Response { first, last, address, length },
            _ => Says::Data { first, last, address, length },
        };
        (size, says)
    }

    /// Immediate data of the packet with this number, if it has any: that number.
    fn immediate(&self, psn: u32, last: bool, faults: &BlueRdmaFaults) -> Option<u32> {
        let has_any = last && self.kind == Kind::Write && self.flow.verb.has_tail();
        let data = if faults.immediate_swapped { psn.swap_bytes() } else { psn };
        (has_any && !faults.immediate_missing).then_some(data)
    }

    fn psn(&self, number: u64) -> u32 {
        let low = u32::try_from(number & 0xff_ffff).unwrap_or(0);
        self.flow.psn.wrapping_add(low) & 0xff_ffff
    }

    fn number(&self, psn: u32) -> Option<u64> {
        number(psn, self.flow.psn, self.base)
    }

    /// The driver looks at an acknowledgement.
    pub(super) fn heed(&mut self, now: Time, report: &Frame, faults: &BlueRdmaFaults) {
        let Says::Report { by_driver, lost, before, now: bitmap, before_psn, .. } = report.says
        else {
            return;
        };
        let base = self.base;
        match (by_driver, lost) {
            (true, false) => {
                let come = self.number(report.psn).filter(|&come| come <= self.next);
                self.base = self.base.max(come.unwrap_or(0));
            }
            (true, true) => {}
            (false, _) => {
                for (psn, bits) in [(before_psn, before), (report.psn, bitmap)] {
                    self.note(psn.wrapping_sub(BELOW) & 0xff_ffff, bits.into());
                }
            }
        }
        self.beyond = self.beyond.split_off(&self.base);
        while self.beyond.remove(&self.base) {
            self.base += 1;
        }
        if self.base > base {
            (self.since, self.tries) = (now, 0);
            // The message in which the last of them is stays.
            self.kept = (self.base - 1) / self.packets * self.packets;
        }
        if lost {
            let [low, high] = match by_driver {
                true => [before_psn, report.psn],
                false if faults.resends_a_stride_less => {
                    [before_psn.wrapping_sub(BELOW), report.psn]
                }
                false => [before_psn.wrapping_sub(BELOW), report.psn.wrapping_add(STRIDE)],
            };
            self.send_again(low & 0xff_ffff, high & 0xff_ffff);
        }
    }

    /// Notes the packets from `first` on whose bits are set.
    fn note(&mut self, first: u32, bits: u128) {
        for at in (0..u128::BITS).filter(|at| bits >> at & 1 == 1) {
            let come = self.number(first.wrapping_add(at) & 0xff_ffff);
            self.beyond.extend(come.filter(|&come| come < self.next));
        }
    }

    /// Sends again, of the messages that begin from `low` on, all that has been sent up to before `high`.
    fn send_again(&mut self, low: u32, high: u32) {
        let Some(high) = self.number(high) else { return };
        let low = self.number(low).unwrap_or(0).max(self.kept);
        let mut begin = low.next_multiple_of(self.packets);
        while begin < high.min(self.next) {
            self.again.extend(begin..(begin + self.packets).min(high).min(self.next));
            begin += self.packets;
        }
    }

    /// The timer ran out at `now`: sends on from the first that is not known to have come, or gives up.
    pub(super) fn timed_out(&mut self, now: Time, retries: u8, faults: &BlueRdmaFaults) {
        self.again.clear();
        if self.tries >= retries && !faults.never_gives_up {
            self.gave_up = Some(self.base);
            self.total = self.next;
            self.base = self.next;
            return;
        }
        self.tries = self.tries.saturating_add(1);
        self.since = now;
        self.again.extend(self.base..self.next);
    }
}
