//! What goes out: which frame is next, from when on, and what follows from its leaving.

use super::{Later, Nic};
use crate::model::packet::{Packet, PacketKind};
use rig_units::Time;

/// Where the next frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// From what goes ahead of data.
    Answer,
    /// PFC, which goes ahead of all.
    Word,
    /// From this queue pair.
    Pair(u16),
}

impl Nic {
    /// Which frame is next and when it may leave, `ready` at the earliest, with the classes in `closed` held back.
    #[inline]
    pub(crate) fn plan(&mut self, ready: Time, closed: u8) -> (Time, Choice) {
        if self.buffer.as_ref().is_some_and(|buffer| buffer.word().is_some()) {
            return (ready, Choice::Word);
        }
        let answer = self.answers.next();
        let first = match &self.selector {
            None => self.send_queues.first(&mut self.pairs, closed),
            Some(selector) => {
                selector.first(&mut self.send_queues, &mut self.pairs, (ready, closed))
            }
        };
        let at = answer.min(first.map_or(Time::MAX, |(at, _)| at));
        let at = if at == Time::MAX { at } else { at.max(ready).max(self.stalled) };
        match first {
            Some((_, pair)) if answer > at => (at, Choice::Pair(pair)),
            _ => (at, Choice::Answer),
        }
    }

    /// The frame that was chosen, as it begins to leave.
    #[inline(always)]
    pub(crate) fn begin(&mut self, choice: Choice) -> Option<&Packet> {
        if self.each_frame.disguises {
            self.disguise(choice);
        }
        self.next(choice)
    }

    /// Makes of the frame that begins to leave what it should not be.
    #[cold]
    #[inline(never)]
    fn disguise(&mut self, choice: Choice) {
        let faults = &self.config.faults.rc;
        let of_answers = faults.icrc_rarely_wrong.filter(|_| choice == Choice::Answer);
        if let Some(every) = faults.icrc_wrong.or(of_answers) {
            self.spoil(choice, every);
        }
        if let Choice::Pair(pair) = choice
            && self.config.faults.rc.ud_sends_other_key
        {
            self.pairs[usize::from(pair)].mistake_key();
        }
        if let Choice::Pair(pair) = choice
            && self.config.faults.rc.first_packet_pcp_zero
        {
            self.pairs[usize::from(pair)].forget_priority();
        }
        if self.config.faults.rc.ipv6_icrc_wrong
            && let Some(frame) = self.next_mut(choice).filter(|frame| frame.is_v6())
        {
            *frame = frame.with_bad_icrc();
        }
        let (clear, shared) = self.config.odd_headers();
        if let Some(frame) = self.next_mut(choice).filter(|frame| frame.kind != PacketKind::Cnp) {
            *frame = frame.with_mig_req(!clear).with_shared_port(shared);
        }
    }

    /// Spoils the frame that begins to leave if it is the last of so many.
    #[cold]
    #[inline(never)]
    fn spoil(&mut self, choice: Choice, every: u32) {
        self.begun += 1;
        if !self.begun.is_multiple_of(every.into()) {
            return;
        }
        if let Some(frame) = self.next_mut(choice) {
            *frame = frame.with_bad_icrc();
        }
    }

    /// The frame that was chosen, to change.
    fn next_mut(&mut self, choice: Choice) -> Option<&mut Packet> {
        match choice {
            Choice::Answer => self.answers.front_mut(),
            Choice::Word => None,
            Choice::Pair(pair) => self.pairs.get_mut(usize::from(pair)).map(|pair| &mut pair.frame),
        }
    }

    /// The frame that was chosen.
    #[inline]
    fn next(&self, choice: Choice) -> Option<&Packet> {
        match choice {
            Choice::Answer => self.answers.front(),
            Choice::Word => self.buffer.as_ref()?.word(),
            Choice::Pair(pair) => self.pairs.get(usize::from(pair)).map(|pair| &pair.frame),
        }
    }

    /// Its size, or less: of what is sent again an acknowledgement may make another one.
    #[inline]
    pub(crate) fn next_size(&self, choice: Choice) -> Option<u16> {
        if let Choice::Pair(pair) = choice
            && self.pairs[usize::from(pair)].sends_again()
        {
            return Some(self.least);
        }
        self.next(choice).map(|packet| packet.size)
    }

    /// It leaves at `now`. Whether anything may have to be done at another time than before.
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: Time, choice: Choice) -> bool {
        if choice == Choice::Word {
            self.buffer.iter_mut().for_each(|buffer| buffer.said());
            return true;
        }
        let Choice::Pair(slot) = choice else {
            let is_cnp = self.answers.front().is_some_and(|packet| packet.kind == PacketKind::Cnp);
            let counts = is_cnp && !self.config.faults.np.cnp_not_counted;
            self.counters.np_cnp_sent += u64::from(counts);
            self.answers.drop_front();
            return false;
        };
        let pair = &mut self.pairs[usize::from(slot)];
        let (size, class) = (u64::from(pair.frame.size), pair.frame.class);
        if self.each_frame.hogs {
            self.stalled = now + pair.stalls(&self.config);
        }
        let is_held_back = !self.each_frame.bypasses || !pair.sends_again();
        pair.sent(now);
        if let Some(selector) = &mut self.selector {
            selector.sent(now, class, size);
        }
        if is_held_back {
            let limit = &mut self.send_queues.limits[usize::from(pair.limit)];
            limit.left(&self.config, now, size);
        }
        self.send_queues.sent(&mut self.pairs, slot);
        if self.each_frame.hogs && self.pairs[usize::from(slot)].goes_on(&self.config) {
            self.send_queues.goes_on(&mut self.pairs, slot);
        }
        self.each_frame.is_timed && self.watch(now, slot)
    }

    /// Comes back to see whether a queue pair makes progress, if nobody does yet.
    #[inline]
    fn watch(&mut self, now: Time, slot: u16) -> bool {
        let requester = self.pairs[usize::from(slot)].requester.as_ref();
        let is_due = requester.is_some_and(|one| !one.is_watched && one.is_waiting());
        if is_due {
            self.start_timer(now, slot);
        }
        is_due
    }

    /// Holds back every queue pair that may send.
    pub(super) fn hold_all(&mut self, until: Time) {
        for (pair, slot) in self.pairs.iter_mut().zip(0_u16..) {
            if let Some(requester) = &mut pair.requester
                && requester.is_ready()
            {
                requester.hold(until);
                self.later.insert((until, slot, Later::Resend));
            }
        }
    }

    /// There was progress of a queue pair whose first wait is shorter than those that follow: it may have to be looked at sooner than was thought.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_anew(&mut self, now: Time, slot: u16) {
        let pair = self.pairs.get_mut(usize::from(slot));
        let Some(requester) = pair.and_then(|pair| pair.requester.as_mut()) else { return };
        if requester.is_waiting() {
            self.start_timer(now, slot);
        } else {
            // What is sent next waits for less than what the last look was planned for.
            requester.is_watched = false;
        }
    }

    #[cold]
    #[inline(never)]
    fn start_timer(&mut self, now: Time, slot: u16) {
        let Some(requester) = &mut self.pairs[usize::from(slot)].requester else { return };
        let (rc, faults) = (&self.config.rc, &self.config.faults.rc);
        let since = (requester.idle_since, requester.tries);
        let due = requester.timer.due(rc, faults, since, &mut self.draws);
        requester.is_watched = due.is_some();
        // One that ran out while nobody looked, as its queue pair was held, is over now.
        self.later.extend(due.map(|due| (due.max(now), slot, Later::Timeout)));
    }
}
