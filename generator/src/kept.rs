//! How a sender kept to its plan: the gaps between its frames and the instants at which they were handed over, each
//! against what was planned.

use crate::spread::Spread;
use rig_units::{Dur, Time};

/// Of one sender.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// How far each gap from frame to frame was from the planned one.
    pub gaps: Spread,
    /// How late each frame was.
    pub lateness: Spread,
    /// The frame before: when it was due, and when it was handed over.
    last: Option<(Time, Time)>,
}

impl Kept {
    /// Of a sender that has sent nothing yet.
    pub fn new() -> Kept {
        Kept::default()
    }

    /// A frame that was due at one instant was handed over at another. Returns how late it was.
    pub fn sent(&mut self, due: Time, at: Time) -> Dur {
        let late = at.since(due).unwrap_or_default();
        self.lateness.add(late);
        if let Some((due_before, at_before)) = self.last.replace((due, at)) {
            let planned = due.since(due_before).unwrap_or_default();
            let kept = at.since(at_before).unwrap_or_default();
            self.gaps.add(Dur(kept.0.abs_diff(planned.0)));
        }
        late
    }

    /// Takes in what another of the same name kept to, in another trial: no gap lies between the two.
    pub fn merge(&mut self, other: &Kept) {
        self.gaps.merge(&other.gaps);
        self.lateness.merge(&other.lateness);
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Dur::us(us)
    }

    fn near(dur: Dur, us: u64) -> bool {
        dur.0.abs_diff(Dur::us(us).0) < Dur::us(1).0 / 50
    }

    /// On time; 3 us late; 11 us late after a pause that was planned.
    fn three() -> Kept {
        let mut kept = Kept::new();
        let late = [(0, 0), (10, 13), (100, 111)].map(|(due, sent)| kept.sent(at(due), at(sent)));
        assert_eq!(late, [0, 3, 11].map(Dur::us));
        kept
    }

    #[test]
    fn gaps_are_held_against_the_plan_and_lateness_against_the_instant() {
        let kept = three();
        assert!(near(kept.gaps.figures().max, 8) && near(kept.gaps.figures().p50, 3));
        assert!(near(kept.lateness.figures().max, 11));
    }

    #[test]
    fn two_trials_are_one_spread_without_a_gap_between_them() {
        let mut kept = three();
        kept.merge(&three());
        kept.sent(at(1_000_000), at(1_000_000));
        assert_eq!((kept.gaps.figures().count, kept.lateness.figures().count), (4, 7));
        assert!(near(kept.gaps.figures().max, 8));
    }
}
