//! The sending side of a reliable connection: which packet is next, which are acknowledged, and what is sent again.

use super::ack_timer::AckTimer;
use super::psn::{Place, place, psn};
use super::seldom::Kind;
use super::{Flow, Verb};
use crate::model::chance::Draws;
use crate::model::packet::{DETH, RETH, ROCE_OVERHEAD, TAIL_SIZE};
use rig_lab::{Rc, RcFaults, Recovery};
use rig_units::{Dur, Time};

/// The sending side of one connection. Packets are counted from the first of the flow on, in numbers that never wrap; what
/// is on the wire is [`psn`](Self::psn) of them.
#[derive(Debug, Clone)]
pub(super) struct Requester {
    /// Of the flow, what packets are made of.
    verb: Verb,
    message: u32,
    mtu: u32,
    count: Option<u32>,
    first_psn: u32,
    /// Packets of a message.
    packets: u32,
    /// Packets of the flow.
    total: u64,
    /// The next to be sent, and its place in its message.
    next: u64,
    place: u32,
    /// All before it are acknowledged.
    acked: u64,
    /// All before it were sent once.
    reached: u64,
    /// Nothing is sent before.
    held_until: Time,
    pub(super) is_held: bool,
    /// A hole in what a READ brought has been seen and is not filled.
    hole: bool,
    /// Packets of what it has asked for that may be under way as it asks for more.
    ahead: u64,
    /// So many packets are next, and then the first that was never sent: of one that sends again what is missing alone. 0: all from the next on.
    alone: u8,
    /// Packets after the one that is missing from which it is asked anew: one too late, if it does so.
    late: u32,
    /// Since when there has been no progress.
    pub(super) idle_since: Time,
    /// Times in a row that no acknowledgement came.
    pub(super) tries: u8,
    /// RNR NAKs that it has heeded in a row.
    refusals: u8,
    /// Whether somebody will look for progress.
    pub(super) is_watched: bool,
    pub(super) timer: AckTimer,
    is_dead: bool,
    /// Whether the timer is left running when everything is acknowledged.
    runs_on: bool,
}

/// How far a requester is acknowledged whose connection has no acknowledgements: beyond every packet, so that it waits for none.
const NOBODY_SAYS: u64 = u64::MAX / 2;

/// What a requester makes of a receiver that is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unready {
    /// It tries again.
    Waits,
    /// It has tried often enough.
    GivesUp,
    /// It has nothing to try.
    Nothing,
}

/// A packet of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// A part of a message, which four bytes may come with.
    Data { psn: u32, size: u16, is_first: bool, is_last: bool, has_tail: bool },
    /// It asks for so many bytes.
    Read { psn: u32, wanted: u32 },
    /// An atomic operation, and what it compares with, if it does.
    Atomic { psn: u32, compare: Option<u32> },
}

impl Requester {
    pub(super) fn new(flow: &Flow, rc: &Rc) -> Requester {
        let packets = flow.message.div_ceil(flow.mtu.max(1)).max(1);
        let total = flow.count.map_or(u64::MAX, |count| u64::from(count) * u64::from(packets));
        Requester {
            verb: flow.verb,
            message: flow.message,
            mtu: flow.mtu,
            count: flow.count,
            first_psn: flow.psn,
            packets,
            total,
            next: 0,
            place: 0,
            acked: if flow.verb.is_unreliable() { NOBODY_SAYS } else { 0 },
            reached: 0,
            held_until: Time::ZERO,
            is_held: false,
            hole: false,
            ahead: 0,
            alone: 0,
            late: 0,
            idle_since: Time::ZERO,
            tries: 0,
            refusals: 0,
            is_watched: false,
            timer: AckTimer::default(),
            is_dead: false,
            runs_on: rc.timer_runs_on == Some(true),
        }
    }

    /// A READ does not wait for so many before it.
    pub(super) fn asks_ahead(&mut self, reads: u32) {
        self.ahead = if self.is_read() { u64::from(self.packets) * u64::from(reads) } else { 0 };
    }

    /// Nothing new is sent from now on; what was sent may be sent again.
    pub(super) const fn stop(&mut self) {
        self.total = self.reached;
    }

    /// One more message is to be sent; none once it has given up.
    pub(super) fn hand(&mut self) {
        if !self.is_dead {
            self.total += u64::from(self.packets);
        }
    }

    /// So many packets more are to be sent, of a message that is not as those before it; none once it has given up.
    pub(super) fn hand_packets(&mut self, packets: u32) {
        if !self.is_dead {
            self.total += u64::from(packets);
        }
    }

    /// The packet that is next, if there is one.
    pub(super) fn upcoming(&self) -> Option<u64> {
        (self.next < self.total).then_some(self.next)
    }

    /// Packets before the message that the next packet is of, and the place of that in it.
    pub(super) fn stands(&self) -> (u64, u32) {
        (self.next.saturating_sub(self.place.into()), self.place)
    }

    /// Packets that it was asked to send so far.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// It was refused for good: nothing is sent any more.
    pub(super) fn denied(&mut self) {
        self.give_up();
    }

    /// What it sends next is of this kind, at this place in its message.
    pub(super) const fn takes_up(&mut self, kind: &Kind, place: u32) {
        (self.verb, self.message, self.packets) = (kind.verb, kind.message, kind.packets);
        self.place = place;
    }

    /// Messages of its flow of which not all has left yet; `None`: no end of them.
    pub(super) fn left(&self) -> Option<u32> {
        let whole = self.reached / u64::from(self.packets);
        let left = |count: u32| count.saturating_sub(u32::try_from(whole).unwrap_or(u32::MAX));
        self.count.map(left)
    }

    const fn is_read(&self) -> bool {
        matches!(self.verb, Verb::Read)
    }

    fn psn(&self, packet: u64) -> u32 {
        let low = u32::try_from(packet & 0xff_ffff).unwrap_or(0);
        psn(self.first_psn.wrapping_add(low))
    }

    /// Packets acknowledged so far; of a READ those that it brought.
    pub(super) const fn acked(&self) -> u64 {
        self.acked
    }

    /// Messages acknowledged whole so far; of a READ those that it brought.
    pub(super) fn messages_through(&self) -> u64 {
        self.acked / u64::from(self.packets)
    }

    /// Messages that were sent whole at least once.
    pub(super) fn messages_sent(&self) -> u64 {
        self.reached / u64::from(self.packets)
    }

    /// Whether all of it is acknowledged.
    pub(super) const fn is_done(&self) -> bool {
        self.acked >= self.total
    }

    /// Whether something is on its way that is not acknowledged.
    pub(super) const fn is_waiting(&self) -> bool {
        self.reached > self.acked
    }

    /// Whether its next message waits for the answer to this one: of a READ, of an atomic operation, and behind a fence.
    #[inline]
    pub(super) const fn waits(&self) -> bool {
        matches!(self.verb, Verb::Read | Verb::FetchAdd | Verb::CompareSwap | Verb::SendRegistered)
    }

    /// Whether it is about to begin a message that waited behind a fence.
    pub(super) const fn begins_fenced(&self) -> bool {
        matches!(self.verb, Verb::SendRegistered) && self.place == 0 && self.next > 0
    }

    /// Whether what it sends are datagrams.
    pub(super) const fn sends_datagrams(&self) -> bool {
        matches!(self.verb, Verb::Datagram)
    }

    /// Whether nobody acknowledges what it sends.
    pub(super) const fn is_unreliable(&self) -> bool {
        self.verb.is_unreliable()
    }

    /// Whether it has a packet to send.
    #[inline]
    pub(super) const fn is_ready(&self) -> bool {
        // What has begun goes on: of those that wait none but a fenced one has several packets.
        let goes_on = !self.waits() || self.acked + self.ahead >= self.next || self.place > 0;
        self.next < self.total && !self.is_held && goes_on
    }

    /// Whether the packet that is next has been sent before.
    #[inline]
    pub(super) const fn sends_again(&self) -> bool {
        self.next < self.reached
    }

    /// The packet that is next.
    #[inline]
    pub(super) fn next(&self) -> Request {
        let Requester { verb, message, mtu, .. } = *self;
        let rest = message - self.place * mtu;
        if verb == Verb::Read {
            let late = self.late.min(self.packets - self.place - 1);
            let psn = self.psn(self.next + u64::from(late));
            return Request::Read { psn, wanted: rest - late * mtu };
        }
        if verb.is_atomic() {
            let compare = u32::try_from(self.next & 0xff_ffff).unwrap_or(0);
            let compare = (verb == Verb::CompareSwap).then_some(compare);
            return Request::Atomic { psn: self.psn(self.next), compare };
        }
        let psn = self.psn(self.next);
        let (is_first, is_last) = (self.place == 0, self.place + 1 == self.packets);
        let payload = if is_last { rest } else { mtu };
        let header = match verb.without_tail() {
            Verb::Write | Verb::WriteUnreliable if is_first => RETH,
            Verb::Datagram => DETH,
            _ => 0,
        };
        let has_tail = is_last && verb.has_tail();
        let tail = if has_tail { TAIL_SIZE } else { 0 };
        let payload = u16::try_from(payload).unwrap_or(u16::MAX);
        let size = payload.saturating_add(ROCE_OVERHEAD + header + tail);
        Request::Data { psn, size, is_first, is_last, has_tail }
    }

    /// That packet has left at `now`.
    #[inline]
    pub(super) fn sent(&mut self, now: Time) {
        if !(self.is_waiting() || self.runs_on && self.timer.runs(self.idle_since, now)) {
            self.idle_since = now;
        }
        let packets = if self.is_read() { self.packets - self.place } else { 1 };
        self.late = 0;
        self.next += u64::from(packets);
        self.place += packets;
        if self.place == self.packets {
            self.place = 0;
        }
        if self.next > self.reached {
            self.reached = self.next;
        } else if self.alone > 0 {
            self.sent_alone();
        }
    }

    /// A packet that was missing has left: all behind it has been sent.
    #[cold]
    fn sent_alone(&mut self) {
        self.alone -= 1;
        if self.alone == 0 {
            self.go_to(self.reached);
        }
    }

    /// An acknowledgement of `number` and all before it. Whether packets need not be sent that would have been sent again.
    #[inline]
    pub(super) fn acknowledged(&mut self, now: Time, number: u32, faults: &RcFaults) -> bool {
        let after = match place(number, self.psn(self.acked), faults.psn_without_wrap) {
            Place::Here => self.acked + 1,
            Place::Ahead(_) if faults.ack_counts_for_one => return false,
            Place::Ahead(by) => self.acked + u64::from(by) + 1,
            Place::Behind(_) => return false,
        };
        after <= self.reached && !self.is_read() && self.progress(now, after, faults)
    }

    fn progress(&mut self, now: Time, acked: u64, faults: &RcFaults) -> bool {
        self.acked = acked;
        let restarts = !self.runs_on || self.is_waiting();
        if restarts && !faults.timeout_not_restarted {
            self.idle_since = now;
        }
        if !faults.tries_not_reset {
            self.tries = 0;
        }
        if !faults.rnr_tries_not_reset {
            self.refusals = 0;
        }
        let skips = acked > self.next;
        if skips {
            self.go_to(if self.alone > 0 { self.reached } else { acked });
        }
        skips
    }

    /// The packet that a NAK of whatever kind names, all before which it acknowledges; none that was not sent, or is acknowledged.
    fn named(&mut self, now: Time, number: u32, faults: &RcFaults) -> Option<u64> {
        let named = match place(number, self.psn(self.acked), faults.psn_without_wrap) {
            Place::Here => self.acked,
            Place::Ahead(by) => self.acked + u64::from(by),
            Place::Behind(_) => return None,
        };
        if named >= self.reached {
            return None;
        }
        if named > self.acked {
            self.progress(now, named, faults);
        }
        Some(named)
    }

    /// A NAK that names `number`: whether it has to go back, which takes it `latency`.
    pub(super) fn refused(
        &mut self,
        now: Time,
        number: u32,
        latency: Dur,
        rc: &Rc,
        (faults, draws): (&RcFaults, &mut Draws),
    ) -> bool {
        let Some(named) = self.named(now, number, faults) else { return false };
        if faults.restarts_one_psn_late {
            self.go_to(named + 1);
        } else {
            self.go_back_to(named, rc, faults, draws);
        }
        self.alone = self.sends_alone(rc, faults);
        self.hold(now + latency);
        true
    }

    /// How many packets it sends again for a hole before it goes on where it was; 0: all of them. What a READ asks for it asks for from where it is
    /// missing on.
    fn sends_alone(&self, rc: &Rc, faults: &RcFaults) -> u8 {
        let selects = rc.recovery == Some(Recovery::SelectiveRepeat) && !self.is_read();
        if selects { 1 + u8::from(faults.resends_one_too_many) } else { 0 }
    }

    /// An RNR NAK that names `number`: where it tries again it does at `until`.
    pub(super) fn not_ready(
        &mut self,
        now: Time,
        number: u32,
        until: Time,
        rc: &Rc,
        faults: &RcFaults,
    ) -> Unready {
        let Some(named) = self.named(now, number, faults) else { return Unready::Nothing };
        let most = rc.rnr_retries.unwrap_or(7);
        let counts = (most < 7 || faults.rnr_seven_counted) && !faults.rnr_tries_not_counted;
        if counts && self.refusals >= most {
            self.give_up();
            return Unready::GivesUp;
        }
        self.refusals = self.refusals.saturating_add(1);
        self.go_to(named);
        self.hold(until);
        // While it waits for the receiver it waits for no acknowledgement.
        self.idle_since = until;
        Unready::Waits
    }

    /// A packet of what a READ brings: whether it shows a hole that has not been seen. Then it asks anew, a `latency` later.
    pub(super) fn brought(
        &mut self,
        now: Time,
        number: u32,
        latency: impl FnOnce() -> Dur,
        faults: &RcFaults,
    ) -> bool {
        if !self.is_read() || !self.is_waiting() {
            return false;
        }
        match place(number, self.psn(self.acked), faults.psn_without_wrap) {
            Place::Here => {
                self.hole = false;
                self.progress(now, self.acked + 1, faults);
                false
            }
            Place::Ahead(_) if !self.hole => {
                self.hole = true;
                self.late = u32::from(faults.read_asks_one_psn_late);
                self.go_to(self.acked);
                // What is about to be asked for is asked for when it would have been.
                let is_new = !self.is_held;
                if is_new {
                    self.hold(now + latency());
                }
                is_new
            }
            Place::Ahead(_) | Place::Behind(_) => false,
        }
    }

    pub(super) fn hold(&mut self, until: Time) {
        self.is_held = true;
        self.held_until = until;
    }

    /// When it may send again, if it is held.
    pub(super) const fn held_until(&self) -> Time {
        self.held_until
    }

    /// There was no progress for long enough: sends on from the first that is not acknowledged. Whether it does; it gives up
    /// otherwise.
    pub(super) fn timed_out(
        &mut self,
        now: Time,
        rc: &Rc,
        (faults, draws): (&RcFaults, &mut Draws),
    ) -> bool {
        if self.tries >= rc.retries {
            self.give_up();
            return false;
        }
        self.tries += 1;
        self.idle_since = now;
        self.hole = false;
        self.is_held = false;
        self.go_back_to(self.acked, rc, faults, draws);
        self.alone = self.sends_alone(rc, faults);
        true
    }

    /// Nothing is sent any more.
    fn give_up(&mut self) {
        self.is_dead = true;
        self.total = self.acked;
        self.reached = self.acked;
        self.go_to(self.acked);
    }

    /// Goes on from `packet`, or from some packets before it. What a READ asks for it asks for from where it is missing.
    fn go_back_to(&mut self, packet: u64, rc: &Rc, faults: &RcFaults, draws: &mut Draws) {
        let extra = match faults.restarts_before {
            _ if self.is_read() => 0,
            Some(extra) => extra,
            None if rc.recovery == Some(Recovery::SelectiveRepeat) => 0,
            None => draws.up_to(rc.resend_extra.unwrap_or(0).into()),
        };
        self.go_to(packet.saturating_sub(extra.into()));
    }

    fn go_to(&mut self, packet: u64) {
        self.alone = 0;
        self.next = packet;
        self.place = u32::try_from(packet % u64::from(self.packets)).unwrap_or(0);
    }
}
