//! Receives that an application posts, and what a NIC makes of a SEND that finds none.
//!
//! Left out on purpose: receives that several connections share, and those that immediate data of a WRITE takes; what is kept behind a hole finds one.

use super::config::Config;
use rig_frames::roce::aeth::RnrTimer;
use rig_units::{Time, Within};
use std::collections::{BTreeMap, VecDeque};

/// What is posted for the connections of a NIC that SENDs come by.
#[derive(Debug, Clone)]
pub(super) struct Receives {
    pub(super) each: u16,
    pub(super) again: Within,
    pub(super) timer: RnrTimer,
    pub(super) posted: BTreeMap<u16, Posted>,
}

/// What is posted for one of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Posted {
    pub(super) free: u16,
    /// When others are posted again.
    pub(super) coming: VecDeque<Time>,
    /// Until when the application has something to do.
    pub(super) busy: Time,
    /// Whether the message that comes has one.
    pub(super) is_held: bool,
    /// Whether a message was refused that has not come again.
    pub(super) refused: bool,
}

impl Posted {
    /// Those that are posted again by `now` are there.
    pub(super) fn come(&mut self, now: Time) {
        while self.coming.front().is_some_and(|due| *due <= now) {
            self.coming.pop_front();
            self.free += 1;
        }
    }
}

impl Receives {
    /// `None` where there is always one.
    pub(super) fn of(config: &Config) -> Option<Box<Receives>> {
        let rc = &config.rc;
        let (each, again) = rc.receives.zip(rc.receive_again)?;
        let timer = RnrTimer::new(rc.rnr_timer?)?;
        Some(Box::new(Receives { each, again, timer, posted: BTreeMap::new() }))
    }
}
