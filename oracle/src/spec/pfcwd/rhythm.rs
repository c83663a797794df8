//! How far apart polls are: P, later by the jitter, and some of them left out.

use super::{Polls, Rule};
use core::ops::RangeInclusive;
use rig_capture::Span;
use rig_lab::Charge;
use rig_units::{Apart, Dur, Within};

impl Rule {
    /// (s + 1)P + j: the longest time between two polls.
    pub fn longest_interval(&self) -> Dur {
        self.due_within() + self.jitter.most()
    }

    /// (s + 1)P: the whole intervals within which a poll is due.
    pub fn due_within(&self) -> Dur {
        self.poll_interval * (u64::from(self.skipped_polls) + 1)
    }

    /// Whether what decides is polls that are always exactly P apart, so that all of them lie on one grid.
    pub fn on_a_grid(&self) -> bool {
        self.is_polled()
            && self.longest_interval() == self.poll_interval
            && self.apart == Apart::NOT
    }

    /// Every time between two polls that `intervals` whole poll intervals lie between, those left out counted.
    pub fn distance(&self, intervals: u64) -> Span {
        // Each poll comes late once, however many before it were left out.
        let polls = intervals.div_ceil(u64::from(self.skipped_polls) + 1);
        let least = self.poll_interval * intervals + self.jitter.least() * polls;
        let most = (self.poll_interval + self.jitter.most()) * intervals;
        Span { lo: self.apart.least(least).0, hi: self.apart.most(most).0 }
    }

    /// How many whole poll intervals may lie between two polls that are so far apart; empty where no number does.
    pub fn intervals(&self, apart: Span) -> RangeInclusive<u64> {
        let each = self.distance(1).hi.max(1);
        let fewest = apart.lo.div_ceil(each).max(1);
        let mut most = fewest;
        while self.distance(most).lo <= apart.hi {
            most += 1;
        }
        fewest..=most - 1
    }

    /// The least time that the intervals of a detection come to: n of them, or what exceeds 0.99 D.
    pub(super) fn least_counted(&self) -> Dur {
        let polls = self.poll_interval * self.polls().fewest;
        match self.charge {
            Charge::Interval => polls,
            Charge::Elapsed => polls.max(self.detection_time.scaled(99, 100)),
        }
    }

    /// The most: with one fewer it was not enough.
    pub(super) fn most_counted(&self) -> Dur {
        let Polls { most, .. } = self.polls();
        let long = self.longest_interval();
        match self.charge {
            Charge::Interval => long * most,
            Charge::Elapsed => {
                let enough = self.detection_time.scaled(99, 100) + long;
                (long * most).min(enough.max(long * u64::from(self.min_samples)))
            }
        }
    }

    /// The longest interval in letters.
    pub(super) fn longest_letters(&self) -> &'static str {
        match (self.skipped_polls, self.jitter == Within::ZERO) {
            (0, true) => "P",
            (0, false) => "(P+j)",
            (_, true) => "((s+1)P)",
            (_, false) => "((s+1)P+j)",
        }
    }

    /// Why the polls lie on no grid, with this rule's numbers, for the text of a prediction; empty where they do.
    pub(super) fn rhythm_text(&self) -> String {
        if !self.is_polled() {
            return String::new();
        }
        let late = (self.jitter != Within::ZERO).then(|| format!("j = {} late", self.jitter));
        let skipped = match self.skipped_polls {
            0 => None,
            1 => Some("s = 1 at most left out".to_owned()),
            most => Some(format!("s = {most} in a row at most left out")),
        };
        let all: Vec<String> = late.into_iter().chain(skipped).collect();
        if all.is_empty() {
            String::new()
        } else {
            format!(", polls on no grid: {}", all.join(", "))
        }
    }
}
