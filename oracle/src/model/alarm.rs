//! Alarms: sources whose next event may move to an earlier time after it was pushed.
//!
//! Events are never taken back. An alarm that is set to an earlier time keeps the later one as a wake-up that may find
//! nothing to do, and a later wish is met by the wake-up that is already pending. So the events of one alarm are
//! strictly ordered, never doubled, and only as many as there were moves to an earlier time.

use rig_units::Time;

/// The pending wake-ups of one source.
#[derive(Debug, Clone)]
pub struct Alarm {
    earliest: Time,
    /// Later wake-ups, the earliest of them last.
    later: Vec<Time>,
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm { earliest: Time::MAX, later: Vec::new() }
    }
}

impl Alarm {
    /// Asks for a wake-up at `at`, or before: whether an event has to be pushed for it.
    #[inline]
    #[must_use]
    pub fn set(&mut self, at: Time) -> bool {
        if at >= self.earliest {
            return false;
        }
        if self.earliest != Time::MAX {
            self.later.push(self.earliest);
        }
        self.earliest = at;
        true
    }

    /// When the earliest wake-up is; [`Time::MAX`] if there is none.
    #[inline]
    pub const fn earliest(&self) -> Time {
        self.earliest
    }

    /// The earliest event came.
    #[inline]
    pub fn rang(&mut self) {
        self.earliest = self.later.pop().unwrap_or(Time::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_wish_is_met_by_the_pending_wake_up() {
        let mut alarm = Alarm::default();
        assert!(alarm.set(Time(10)));
        assert!(!alarm.set(Time(10)));
        assert!(!alarm.set(Time(11)));
    }

    #[test]
    fn alternating_wishes_do_not_pile_up_events() {
        let mut alarm = Alarm::default();
        let mut pushed = usize::from(alarm.set(Time(1_000)));
        for round in 0..100 {
            pushed += usize::from(alarm.set(Time(round + 1)));
            alarm.rang();
            pushed += usize::from(alarm.set(Time(1_000 + round)));
        }
        assert_eq!(pushed, 101);
        assert!(alarm.later.is_empty());
    }
}
