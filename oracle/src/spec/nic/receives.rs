//! When a message that is sent finds a receive: IBTA volume 1, 9.7.5.2.8 (RNR NAK), of an application that posts a few and takes its time.
//!
//! The n-th message finds the n-th receive. So many are there from the beginning; each other one is posted again when the application has done with the
//! message that had it, which it takes one after the other: D(i) = max(C(i), D(i - 1)) + t, C(i) the arrival of the last packet of message i.

use super::Ready;
use rig_units::{Time, Within};

/// Where the rule comes from, for reports.
pub const SOURCE: &str = "IBTA volume 1, 9.7.5.2.8: a SEND that finds no receive is refused, and what follows it is dropped";

/// What an application has done with of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    posted: usize,
    takes: Within,
    came: Vec<Time>,
    done: Vec<Ready>,
}

impl Application {
    /// One that posts so many receives before anything comes, and takes so long for each message.
    pub fn of(posted: u16, takes: Within) -> Application {
        Application { posted: posted.into(), takes, came: Vec::new(), done: Vec::new() }
    }

    /// All of the next message is here at `at`.
    pub fn has(&mut self, at: Time) {
        self.came.push(at);
        self.done.push(self.done_with(self.came.len() - 1));
    }

    /// When it has done with a message, by when it had with the one before.
    fn done_with(&self, message: usize) -> Ready {
        let before = message.checked_sub(1).map(|before| self.done[before]);
        let before = before.unwrap_or(Ready::from(Time::ZERO));
        let (from, by) = (before.from.max(self.came[message]), before.by.max(self.came[message]));
        Ready { from: from + self.takes.least(), by: by + self.takes.most() }
    }

    /// There was no receive yet at `at` for the message that comes next.
    pub fn lacks(&mut self, at: Time) {
        self.narrow(|ready| ready.from = ready.from.max(at));
    }

    /// There was one at `at`.
    pub fn offers(&mut self, at: Time) {
        self.narrow(|ready| ready.by = ready.by.min(at));
    }

    /// What is known of the one, those behind it follow.
    fn narrow(&mut self, to: impl FnOnce(&mut Ready)) {
        let Some(of) = self.done.len().checked_sub(self.posted) else { return };
        to(&mut self.done[of]);
        for message in of + 1..self.done.len() {
            self.done[message] = self.done_with(message);
        }
    }

    /// From when on there is a receive for the message that comes next, by what all before it leave.
    pub fn next(&self) -> Ready {
        let waits = self.done.len().checked_sub(self.posted);
        waits.map_or(Ready::from(Time::ZERO), |of| self.done[of])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Dur;

    #[test]
    fn a_message_finds_the_receive_of_the_one_so_many_before_it() {
        let mut application = Application::of(2, Within::between(Dur(10), Dur(12)));
        let start = Ready::from(Time::ZERO);
        assert_eq!(application.next(), start);
        application.has(Time(100));
        assert_eq!(application.next(), start);
        application.has(Time(105));
        // The first is done with at 110 to 112, the second, which waited for that, 10 to 12 later.
        assert_eq!(application.next(), Ready { from: Time(110), by: Time(112) });
        application.has(Time(200));
        assert_eq!(application.next(), Ready { from: Time(120), by: Time(124) });
        application.has(Time(201));
        assert_eq!(application.next(), Ready { from: Time(210), by: Time(212) });
    }

    #[test]
    fn what_was_refused_or_taken_says_when_the_application_had_done_with_others() {
        let mut application = Application::of(1, Within::between(Dur(10), Dur(20)));
        // Before a receive is waited for nothing follows.
        application.lacks(Time(50));
        application.has(Time(100));
        application.lacks(Time(114));
        assert_eq!(application.next(), Ready { from: Time(114), by: Time(120) });
        application.offers(Time(117));
        assert_eq!(application.next(), Ready { from: Time(114), by: Time(117) });
        // It goes on from there.
        let mut application = Application::of(2, Within::between(Dur(10), Dur(20)));
        application.has(Time(100));
        application.has(Time(101));
        application.lacks(Time(118));
        application.offers(Time(119));
        application.has(Time(119));
        assert_eq!(application.next(), Ready { from: Time(128), by: Time(139) });
    }
}
