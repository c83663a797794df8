//! Data of a step of an application as they lie in the memory of its host, and what it finds as it looks at their checksum.
//!
//! Left out on purpose: the checksum itself, what it takes to make it, and what an application does once it does not fit.

use super::apps::Step;
use rig_lab::RcFaults;
use std::collections::BTreeSet;

/// The data of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Landed {
    /// Packets of the step that lie there otherwise than their sender gave them.
    wrong: BTreeSet<u64>,
    /// Messages that the application is through with.
    looked: u32,
}

impl Step {
    /// A packet of its end was taken that has so many of that end before it: its data are written to memory.
    pub(super) fn lands(&mut self, before: u64, is_spoilt: bool, faults: &RcFaults) {
        let (own, packets) = (self.within(before), u64::from(self.kind.packets));
        let is_own = self.within(before + 1) > own;
        let Some(landed) = self.landed.as_mut().filter(|_| is_own) else { return };
        let moved = |each: u32| own % packets == 0 && (own / packets + 1) % u64::from(each) == 0;
        if is_spoilt || faults.payload_moved_wrongly.is_some_and(moved) {
            landed.wrong.insert(own);
        }
    }

    /// The application looks at what is complete: each message that it looked at, and whether its checksum fits.
    pub(super) fn looks(&mut self, faults: &RcFaults) -> Vec<(u64, bool)> {
        let (complete, packets) = (self.complete, u64::from(self.kind.packets));
        let Some(landed) = &mut self.landed else { return Vec::new() };
        let mut found = Vec::new();
        while landed.looked < complete {
            let message = u64::from(landed.looked);
            landed.looked += 1;
            let behind = landed.wrong.split_off(&((message + 1) * packets));
            let wrong = core::mem::replace(&mut landed.wrong, behind);
            let leaves_out = |each: u32| landed.looked.is_multiple_of(each);
            if !faults.app_checksum_left_out.is_some_and(leaves_out) {
                found.push((message, wrong.is_empty()));
            }
        }
        found
    }
}
