//! A time that polls use up: the detection time or the restoration time.

use rig_units::Dur;

/// How much of `limit` the polls in a row have used up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Countdown {
    limit: Dur,
    spent: Dur,
    samples: u32,
}

impl Countdown {
    pub(super) fn new(limit: Dur) -> Countdown {
        Countdown { limit, spent: Dur::ZERO, samples: 0 }
    }

    /// Takes in one more poll in the row.
    pub(super) fn spend(&mut self, charge: Dur) {
        self.spent += charge;
        self.samples = self.samples.saturating_add(1);
    }

    /// Whether more than 0.99 of the limit is used up: a measured time is always a little off.
    pub(super) fn is_nearly_used_up(&self) -> bool {
        u128::from(self.spent.0) * 100 > u128::from(self.limit.0) * 99
    }

    /// Whether the limit is used up but for `more`. With whole intervals and nothing more, that is after
    /// ceil(limit / interval) polls.
    pub(super) fn lacks_at_most(&self, more: Dur) -> bool {
        self.limit.saturating_sub(self.spent) <= more
    }

    /// Polls in the row so far.
    pub(super) fn samples(&self) -> u32 {
        self.samples
    }

    /// Starts over.
    pub(super) fn restart(&mut self) {
        *self = Countdown::new(self.limit);
    }
}
