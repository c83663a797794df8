//! Since when a timer may run that is left running when everything is acknowledged: what is sent then may be sent again before its time is
//! over, for the timer was started for something else.

use rig_units::{Dur, Time};

/// The earliest start that a timer may still run from.
#[derive(Debug, Clone, Default)]
pub(super) struct Running {
    from: Time,
    /// When there was progress and more to wait for: it starts anew once that is taken in.
    restarts: Vec<Time>,
}

impl Running {
    /// Something is sent with nothing else under way, by when whatever ran before has run out at the latest, `over`; else it runs on.
    pub(super) fn begins(&mut self, at: Time, over: Option<Time>) {
        if over.is_none_or(|over| at > over) {
            self.starts(at);
        }
    }

    /// It ran out, or was started for certain.
    pub(super) fn starts(&mut self, at: Time) {
        self.from = at;
        self.restarts.clear();
    }

    /// There was progress at `at`, with `more` to wait for or not. What came less than `taken_in` before everything was acknowledged may have
    /// been taken in together with that, and then started nothing.
    pub(super) fn progress(&mut self, at: Time, more: bool, taken_in: Dur) {
        if more {
            self.restarts.push(at);
        } else {
            self.from = self.since(at, taken_in);
            self.restarts.clear();
        }
    }

    /// The earliest start that it may run from at `at`.
    pub(super) fn since(&self, at: Time, taken_in: Dur) -> Time {
        let surely = self.restarts.iter().rfind(|start| **start + taken_in <= at);
        surely.map_or(self.from, |start| self.from.max(*start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN_IN: Dur = Dur(10);

    #[test]
    fn a_packet_sent_after_all_was_acknowledged_has_what_is_left_of_the_time_before() {
        let mut running = Running::default();
        running.begins(Time(100), None);
        running.progress(Time(130), false, TAKEN_IN);
        running.begins(Time(150), Some(Time(600)));
        assert_eq!(running.since(Time(500), TAKEN_IN), Time(100));
        // Behind the time by which it has run out for certain it begins anew.
        running.begins(Time(601), Some(Time(600)));
        assert_eq!(running.since(Time(700), TAKEN_IN), Time(601));
    }

    #[test]
    fn progress_with_more_to_wait_for_starts_it_anew_once_it_is_taken_in() {
        let mut running = Running::default();
        running.begins(Time(100), None);
        running.progress(Time(200), true, TAKEN_IN);
        assert_eq!(running.since(Time(209), TAKEN_IN), Time(100));
        assert_eq!(running.since(Time(210), TAKEN_IN), Time(200));
        // What may be taken in together with the last of all starts nothing.
        running.progress(Time(205), true, TAKEN_IN);
        running.progress(Time(211), false, TAKEN_IN);
        assert_eq!(running.since(Time(500), TAKEN_IN), Time(200));
    }
}
