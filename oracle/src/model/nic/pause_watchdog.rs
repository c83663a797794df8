//! The watchdog of a NIC over the pauses that it asks for: one that has asked for too long stops asking, and whoever it held goes on.
//!
//! Left out on purpose: what becomes of frames for which there is no room then; the receive buffer has no end.

use super::backpressure::Sends;
use crate::model::chance::{self, Draws};
use crate::model::packet::{CLASSES, Packet, bit, slot};
use rig_lab::NicPfcFaults;
use rig_units::{Time, Within};

/// Since when each class has been asking, and which ask no more.
#[derive(Debug, Clone)]
pub(super) struct PauseWatchdog {
    after: Within,
    /// When each class asks no more; [`Time::MAX`] where it does not ask.
    trips: [Time; CLASSES],
    /// One that has tripped stays silent.
    for_good: bool,
    /// XON stops no timer.
    ignores_xon: bool,
    draws: Draws,
}

impl PauseWatchdog {
    /// Nobody asks; `None` of a NIC without.
    pub(super) fn of(sends: &Sends, faults: &NicPfcFaults, seed: u64) -> Option<PauseWatchdog> {
        let after = sends.watchdog.filter(|_| !faults.nic_watchdog_missing)?;
        let half = Within::between(after.least() / 2, after.most() / 2);
        Some(PauseWatchdog {
            after: if faults.nic_watchdog_early { half } else { after },
            trips: [Time::MAX; CLASSES],
            for_good: faults.nic_watchdog_for_good,
            ignores_xon: faults.nic_watchdog_ignores_xon,
            draws: Draws::new(chance::stream(seed, *b"nicwatch")),
        })
    }

    /// What is left of a word at `now`, with which the classes `asking` go on asking and no other does. Called without one, too, when these change.
    pub(super) fn passes(&mut self, now: Time, asking: u8, word: Option<Packet>) -> Option<Packet> {
        let mut silent = 0;
        for class in 0..8 {
            let trips = &mut self.trips[slot(class)];
            let is_over = *trips <= now;
            silent |= if is_over { bit(class) } else { 0 };
            let asks = asking & bit(class) != 0;
            let stays = self.ignores_xon || (self.for_good && is_over);
            if asks && *trips == Time::MAX {
                *trips = now + self.draws.next(self.after);
            } else if !asks && !stays {
                *trips = Time::MAX;
            }
        }
        let mut word = word?;
        word.enable &= !silent;
        word.zero &= !silent;
        (word.enable != 0).then_some(word)
    }
}
