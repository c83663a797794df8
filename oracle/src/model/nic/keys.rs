//! Keys of registered memory, each with a message of an application that tells the other end of it: by its owner's NIC, which memory may be worked on; by the
//! other end's, which key is whose.
//!
//! Left out on purpose: addresses, lengths and rights, what a registration takes, and two that end in the same byte.

use rig_lab::RcFaults;
use std::collections::{BTreeMap, BTreeSet};

/// What either end of an application knows of its keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// Those that are registered here.
    live: BTreeSet<u8>,
    /// Those that the other end told of, by round.
    told: BTreeMap<u32, u8>,
    /// Queue pairs that refused an access: they take nothing any more.
    dead: BTreeSet<u16>,
}

impl Keys {
    /// Registers memory for a round: its key.
    pub(super) fn register(&mut self, round: u32, faults: &RcFaults) -> u8 {
        let nth = if faults.app_key_never_changes { 0 } else { round % u32::from(u8::MAX) };
        let key = u8::try_from(nth).unwrap_or(0) + 1;
        self.live.insert(key);
        key
    }

    /// The other end tells of its key for a round, of which at most so many are begun and not over.
    pub(super) fn learn(&mut self, round: u32, key: u8, credits: u32) {
        self.told.insert(round, key);
        while let Some(first) = self.told.first_entry()
            && first.key().saturating_add(credits).saturating_add(1) < round
        {
            first.remove();
        }
    }

    /// The key that it was told of for a round; none if it was not.
    pub(super) fn of(&self, round: u32, faults: &RcFaults) -> u8 {
        let before = round.checked_sub(u32::from(faults.app_names_old_key));
        let key =
            before.and_then(|before| self.told.get(&before)).or_else(|| self.told.get(&round));
        key.copied().unwrap_or(0)
    }

    /// Whether an access with a key is refused.
    pub(super) fn refuses(&self, key: u8, faults: &RcFaults) -> bool {
        !self.live.contains(&key) && !faults.revoked_key_accepted
    }

    /// Revokes a key.
    pub(super) fn revoke(&mut self, key: u8, faults: &RcFaults) {
        let other = self.live.iter().copied().find(|other| *other != key);
        let other = other.filter(|_| faults.another_key_revoked);
        self.live.remove(&other.unwrap_or(key));
    }

    /// A queue pair takes nothing any more.
    pub(super) fn bury(&mut self, slot: u16) {
        self.dead.insert(slot);
    }

    pub(super) fn is_dead(&self, slot: u16) -> bool {
        self.dead.contains(&slot)
    }
}
