//! The count of frames since the last one that was taken (Floyd and Jacobson 1993, figure 17): what is drawn once after each says from which product
//! of count and chance on the next one is taken.

use super::curve::Chance;

/// Of one queue; none before its first frame between the thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Since {
    /// Frames since, and what count times chance has to come to, of 2^32.
    counting: Option<(u32, u64)>,
}

impl Since {
    /// A frame was outside of the thresholds.
    pub(super) const fn end(&mut self) {
        self.counting = None;
    }

    /// A count begins with the frame that was just looked at.
    pub(super) const fn begin(&mut self, drawn: u64) {
        self.counting = Some((0, drawn >> 32));
    }

    /// Counts a frame between the thresholds; whether it is taken. The first one never is, and begins a count.
    pub(super) const fn takes(&mut self, chance: Chance) -> Option<bool> {
        let Some((count, limit)) = self.counting else { return None };
        let count = count.saturating_add(1);
        self.counting = Some((count, limit));
        Some(chance.reaches(count, limit))
    }
}
