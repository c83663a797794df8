//! How often a timeout ran out in a row. Progress ends a row, and which of the two came first is told by stamps: where those leave it open
//! there are a least and a most.

use rig_units::{Dur, Time};

/// The timeouts that ran out since there was progress.
#[derive(Debug, Clone, Default)]
pub(super) struct Tries {
    /// When what each of them made leave did, of those behind which no progress surely came.
    since: Vec<Time>,
    /// How many surely ran out one after the other up to the last, that one counted.
    row: u32,
    /// When the last progress came.
    progress: Option<Time>,
}

impl Tries {
    /// There was progress at `at`; two stamps leave `blur` open between them.
    pub(super) fn ended(&mut self, at: Time, blur: Dur) {
        self.since.retain(|tried| *tried + blur >= at);
        self.progress = Some(at);
    }

    /// The timeout ran out, and what it made leave did so at `at`. What came up to `slack` before another did may have been taken in behind that.
    pub(super) fn again(&mut self, at: Time, slack: Dur) {
        self.row = self.least(slack) + 1;
        self.since.push(at);
    }

    /// It may have run out at `at`.
    pub(super) fn perhaps(&mut self, at: Time, slack: Dur) {
        self.row = self.least(slack);
        self.since.push(at);
    }

    /// How many have surely run out since the last progress.
    pub(super) fn least(&self, slack: Dur) -> u32 {
        let behind = |tried: &Time| self.progress.is_some_and(|at| at + slack >= *tried);
        self.since.last().filter(|tried| !behind(tried)).map_or(0, |_| self.row)
    }

    /// How many may have.
    pub(super) fn most(&self) -> usize {
        self.since.len()
    }

    /// How many ran out surely up to the last that did, whatever came behind it.
    pub(super) const fn in_a_row(&self) -> u32 {
        self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_may_lie_behind_a_timeout_ends_the_row_and_need_not() {
        let counts = |progress: u64| {
            let mut tries = Tries::default();
            tries.again(Time(1_000), Dur(10));
            tries.ended(Time(progress), Dur(10));
            let before = (tries.least(Dur(10)), tries.most());
            tries.again(Time(2_000), Dur(10));
            (before, (tries.in_a_row(), tries.most()))
        };
        // Surely behind the first, open, and surely before it.
        assert_eq!(counts(1_011), ((0, 0), (1, 1)));
        assert_eq!(counts(1_010), ((0, 1), (1, 2)));
        assert_eq!(counts(990), ((0, 1), (1, 2)));
        assert_eq!(counts(989), ((1, 1), (2, 2)));
    }
}
