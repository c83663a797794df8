//! What a NIC sends because its host posts it, and what the host hears of that.

use super::{Flow, Later, Nic};
use rig_capture::{CompletionStatus, HostReport};
use rig_units::Time;

impl Nic {
    /// A flow begins of which a host posts a part at a time.
    pub(super) fn posts(&mut self, now: Time, slot: u16, flow: &Flow) {
        let Some(host) = &mut self.completions else { return };
        if flow.verb.is_unreliable() {
            return;
        }
        let first = host.begins(now, slot, flow);
        let pair = &mut self.pairs[usize::from(slot)];
        if let Some(requester) = &mut pair.requester {
            requester.stop();
            (0..first).for_each(|_| requester.hand());
        }
        pair.prepare();
    }

    /// More of a connection may be through than before.
    #[cold]
    #[inline(never)]
    pub(super) fn completes(&mut self, now: Time, slot: u16) {
        let Some(host) = &mut self.completions else { return };
        let requester = self.pairs.get(usize::from(slot)).and_then(|pair| pair.requester.as_ref());
        let Some(requester) = requester else { return };
        let over = match self.config.faults.rc.completes_all_sent {
            true => requester.messages_sent(),
            false => requester.messages_through(),
        };
        let due = host.over(now, slot, over, CompletionStatus::Success);
        self.later.extend(due.map(|due| (due, slot, Later::Polled)));
    }

    /// A connection has been given up.
    #[cold]
    #[inline(never)]
    pub(super) fn gives_up(&mut self, now: Time, slot: u16, status: CompletionStatus) {
        let Some(host) = &mut self.completions else { return };
        let rest = match self.config.faults.rc.completion_flushed_as_success {
            true => CompletionStatus::Success,
            false => CompletionStatus::Flushed,
        };
        let due = host.ends(now, slot, status, rest);
        self.later.extend(due.map(|due| (due, slot, Later::Polled)));
    }

    /// The host polls completions of a connection.
    pub(super) fn polled(&mut self, now: Time, slot: u16) {
        let Some(host) = &mut self.completions else { return };
        let more = host.polls(now, slot, &self.config.faults.rc);
        let next = host.next(slot);
        self.later.extend(next.map(|next| (next, slot, Later::Polled)));
        let pair = &mut self.pairs[usize::from(slot)];
        if let Some(requester) = pair.requester.as_mut().filter(|_| more > 0) {
            (0..more).for_each(|_| requester.hand());
            pair.prepare();
            self.send_queues.enqueue(&mut self.pairs, slot, now);
        }
    }

    /// Nothing more of a connection is posted.
    pub(super) fn posts_no_more(&mut self, slot: u16) {
        if let Some(host) = &mut self.completions {
            host.closes(slot);
        }
    }

    /// What its host says since it was asked last; `None` of one that keeps nothing. Connections are called as flows are.
    pub(crate) fn host_report(&mut self) -> Option<HostReport> {
        let mut told = self.completions.as_mut().map(|host| host.told_so_far());
        if let Some(apps) = self.apps.as_mut().filter(|apps| apps.say_something()) {
            apps.tell(told.get_or_insert_default());
        }
        told
    }
}
