//! What a sender sent, what came back to it, and what the two come to.

use super::Fault;
use crate::spec::nic::rc::Says;
use rig_capture::Span;
use rig_frames::psn::Psn;
use rig_units::{Dur, Time, Within};

/// A packet of data that left, with its first bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// When it did.
    pub at: Time,
    /// Its number.
    pub psn: Psn,
}

/// An acknowledgement or a NAK that reached the sender; a READ request anew is a NAK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When its last bit did.
    pub at: Time,
    /// What it says.
    pub says: Says,
    /// The number that it names.
    pub psn: Psn,
}

/// What a sender's numbers come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resent {
    /// All departures.
    pub faults: Vec<Fault>,
    /// Ways back after a NAK: the packet, the NAK, and picoseconds between.
    pub restarts: Vec<(usize, usize, Span)>,
    /// The same after an RNR NAK.
    pub tried_again: Vec<(usize, usize, Span)>,
    /// Ways back after a timeout: the packet, and picoseconds without progress.
    pub timeouts: Vec<(usize, Span)>,
    /// How much later than by the strictest reading of the rule the timer of one of those may have been started anew, by a way back: the least.
    pub anew: Option<Dur>,
    /// Times that the timeout may have run out, and may not: a way back after a NAK that one explains, too; one of which the packet may have waited for
    /// the port while the next ran out, or until the end of what was seen.
    pub either: usize,
    /// Whether the timeout ran out once more, after the last try: it gave up. `None`: it may have, by the end of what was seen.
    pub gave_up: Option<bool>,
    /// Whether its receiver was not ready once too often: it gave up.
    pub refused: bool,
    /// What it had still to try at the end of what was seen, where its time for that was not over.
    pub untried: Option<Untried>,
}

/// A receiver that is not ready, and that was not tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untried {
    /// When it last said that it is not.
    pub at: Time,
    /// Until when the sender may wait.
    pub until: Time,
    /// How often it has said so since the last progress.
    pub refusals: u32,
}

/// How often more than once the timeout may have run out in a stretch without progress of which one packet tells: while that waited for its port, which may keep
/// it for `busy`.
pub(super) fn behind_the_port(stretch: Dur, timeout: Within, busy: Dur) -> usize {
    let waited = stretch.saturating_sub(timeout.least()).min(busy);
    let more = waited.0.checked_div(timeout.least().0).unwrap_or(0);
    usize::try_from(more).unwrap_or(usize::MAX)
}

impl Resent {
    /// The timeout ran out, as the packet tells: see [`timeouts`](Self::timeouts), [`anew`](Self::anew) and [`either`](Self::either).
    pub(super) fn ran_out(&mut self, shown: (usize, Span), anew: Dur, either: usize) {
        self.timeouts.push(shown);
        self.anew = Some(self.anew.map_or(anew, |least| least.min(anew)));
        self.either += either;
    }

    /// How often the timeout surely ran out; `None` where it may have done so once more by the end.
    pub fn expired(&self) -> Option<usize> {
        Some(self.timeouts.len() + usize::from(self.gave_up?))
    }
}
