//! A NAK or an RNR NAK that a sender has to go back for.

use super::Sight;
use rig_frames::psn::Psn;
use rig_units::{Time, Within};

/// A NAK whose number was not sent again yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nak {
    pub(super) index: usize,
    pub(super) psn: Psn,
    pub(super) at: Time,
    /// How long it takes to go back for it.
    pub(super) takes: Within,
    /// Whether it says that the receiver is not ready, and then whether that was its last try.
    pub(super) rnr: Option<bool>,
    /// Whether it has to be; not when something else sent the number meanwhile.
    pub(super) binds: bool,
}

impl Nak {
    /// Whether what leaves at `at` is not too late for it.
    pub(super) fn in_time(&self, at: Time, sight: &Sight) -> bool {
        let latest = self.at + self.takes.most() + sight.busy + sight.blur();
        sight.allowance.is_none_or(|allowance| at <= latest + allowance)
    }
}
