//! The responder of atomic operations: each is executed once, and what was there before is kept for whoever asks again (IBTA volume 1,
//! 9.4.5 and 9.7.5.1.5).

use std::collections::VecDeque;

/// How many answers are kept of a queue pair.
const KEPT: usize = 16;

/// The eight bytes of a queue pair, of which the model has 24 bits, and what was found there lately, by packet sequence number.
#[derive(Debug, Clone, Default)]
pub(super) struct Atomics {
    there: u32,
    found: VecDeque<(u32, u32)>,
}

impl Atomics {
    /// Adds one, or swaps for one more where it is what is compared with; what was there.
    pub(super) fn execute(&mut self, psn: u32, compare: Option<u32>) -> u32 {
        let found = self.there;
        if compare.is_none_or(|compare| compare == found) {
            self.there = found.wrapping_add(1) & 0xff_ffff;
        }
        self.found.truncate(KEPT - 1);
        self.found.push_front((psn, found));
        found
    }

    /// What was there when the operation of that number was executed, if that is kept.
    pub(super) fn kept(&self, psn: u32) -> Option<u32> {
        self.found.iter().find(|(of, _)| *of == psn).map(|&(_, found)| found)
    }
}
