//! The fence of a fast memory registration: with it a SEND waits until all before it is acknowledged.
//!
//! Left out on purpose: what the registration itself takes, and that it waits in a queue with other requests than SENDs.

use super::{Later, Nic, Verb};
use rig_lab::{Rc, RcFaults};
use rig_units::{Dur, Time};

/// What a requester does that is asked for `verb`: [`Verb::SendRegistered`] where it waits, and [`Verb::Send`] where it does not.
pub(super) fn fenced(verb: Verb, rc: &Rc, faults: &RcFaults) -> Verb {
    let declared = rc.fmr_fence == Some(true);
    let waits = match verb {
        Verb::SendRegistered => (declared || faults.fmr_fence_hidden) && !faults.fmr_fence_missing,
        Verb::Send => declared && faults.fmr_fence_of_all,
        _ => return verb,
    };
    if waits { Verb::SendRegistered } else { Verb::Send }
}

impl Nic {
    /// A message that waited for all before it goes on at `now`, or later than it should: then nothing is due now.
    #[cold]
    #[inline(never)]
    pub(super) fn holds_fenced(&mut self, now: Time, slot: u16) -> bool {
        let Some(us) = self.config.faults.rc.fmr_fence_late else { return false };
        let Some(requester) = &mut self.pairs[usize::from(slot)].requester else { return false };
        if !requester.begins_fenced() {
            return false;
        }
        let until = now + Dur::us(us.into());
        requester.hold(until);
        self.later.insert((until, slot, Later::Resend));
        true
    }
}
