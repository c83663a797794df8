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
    done: Vec<Ready>,
}

impl Application {
    /// One that posts so many receives before anything comes, and takes so long for each message.
    pub fn of(posted: u16, takes: Within) -> Application {
        Application { posted: posted.into(), takes, done: Vec::new() }
    }

    /// All of the next message is here at `at`.
    pub fn has(&mut self, at: Time) {
        let before = self.done.last().copied().unwrap_or(Ready::from(Time::ZERO));
        let (from, by) = (before.from.max(at), before.by.max(at));
        self.done.push(Ready { from: from + self.takes.least(), by: by + self.takes.most() });
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
}
