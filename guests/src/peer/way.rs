//! The way between a NIC and the rig's end of its connections: what is done to single frames there, in either direction, as if a
//! network did it.

use super::QpPair;
use core::cmp::Ordering;
use rig_frames::packet::RoceFrame;
use rig_frames::roce::aeth::RnrTimer;
use rig_units::{Dur, Time};
use std::collections::VecDeque;

/// What becomes of a frame on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It passes.
    Passes,
    /// It goes no further.
    Lost,
    /// It arrives so much later; those behind it do not wait.
    Late(Dur),
    /// It arrives behind so many frames that come after it in the same direction.
    Behind(u32),
    /// It arrives twice.
    Twice,
    /// It arrives with a wrong ICRC.
    Spoilt,
    /// It arrives with a mark of congestion (CE), which the rig's own end does not look at.
    Marked,
    /// It is refused by a receiver that is not ready, as is all behind it until it comes again.
    NotReady(RnrTimer),
}

/// Where a frame is on its way to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    /// To the NIC, from the rig's end.
    Nic,
    /// To the rig's end, from the NIC.
    Rig {
        /// Whether that expects this very number next. It refuses no other for want of a buffer: what is ahead of a hole or was taken before is
        /// answered before anybody asks for one (IBTA volume 1, 9.7.5.1.1).
        expected: bool,
    },
}

/// Decides it, frame by frame.
pub trait Midway: Send {
    /// A connection was agreed on; its frames may come from now on.
    fn met(&mut self, ends: &QpPair);

    /// What becomes of a frame that is at the rig at `at`, and is on its way so.
    fn passes(&mut self, at: Time, to: Onward, frame: &RoceFrame) -> Treatment;

    /// One from the NIC has arrived at the rig's end at `at`, spoilt on the way or not.
    fn arrived(&mut self, at: Time, frame: &RoceFrame, spoilt: bool);
}

/// One on which everything passes.
#[derive(Debug, Clone, Copy)]
pub struct OpenWay;

impl Midway for OpenWay {
    fn met(&mut self, _: &QpPair) {}

    fn passes(&mut self, _: Time, _: Onward, _: &RoceFrame) -> Treatment {
        Treatment::Passes
    }

    fn arrived(&mut self, _: Time, _: &RoceFrame, _: bool) {}
}

/// What is on the way in one direction.
#[derive(Debug)]
pub(super) struct Underway<T> {
    /// What arrives, by time; of one time in the order in which it came. With it whether it was spoilt.
    due: VecDeque<(Time, T, bool)>,
    /// What waits for so many more.
    held: Vec<(u32, T)>,
}

impl<T: Clone> Underway<T> {
    /// Nothing is.
    pub(super) const fn new() -> Underway<T> {
        Underway { due: VecDeque::new(), held: Vec::new() }
    }

    /// Takes in one that came at `now`.
    pub(super) fn take(&mut self, now: Time, treatment: Treatment, one: T) {
        match treatment {
            Treatment::Lost | Treatment::NotReady(_) => return,
            Treatment::Behind(frames) if frames > 0 => {
                self.held.push((frames, one));
                return;
            }
            Treatment::Passes | Treatment::Marked | Treatment::Behind(_) => {
                self.arrives(now, one, false);
            }
            Treatment::Spoilt => self.arrives(now, one, true),
            Treatment::Late(by) => self.arrives(now + by, one, false),
            Treatment::Twice => {
                self.arrives(now, one.clone(), false);
                self.arrives(now, one, false);
            }
        }
        let held = core::mem::take(&mut self.held);
        for (left, one) in held {
            match left.cmp(&1) {
                Ordering::Greater => self.held.push((left - 1, one)),
                Ordering::Less | Ordering::Equal => self.arrives(now, one, false),
            }
        }
    }

    /// Takes in one that came at `now` and is none of those that are counted.
    pub(super) fn beside(&mut self, now: Time, one: T) {
        self.arrives(now, one, false);
    }

    fn arrives(&mut self, due: Time, one: T, spoilt: bool) {
        let before = self.due.iter().rposition(|(other, ..)| *other <= due);
        self.due.insert(before.map_or(0, |before| before + 1), (due, one, spoilt));
    }

    /// When the next one arrives; `None` where none does by itself.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.due.front().map(|(due, ..)| *due)
    }

    /// The next one that has arrived by `now`, with when it was due and whether it was spoilt.
    pub(super) fn arrived(&mut self, now: Time) -> Option<(Time, T, bool)> {
        self.due.pop_front_if(|(due, ..)| *due <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives, each with its time in microseconds, when 0 to 4 come a microsecond apart and `treatment` becomes of 2.
    fn arrivals(treatment: Treatment) -> Vec<(u64, u32, bool)> {
        let mut underway = Underway::new();
        for one in 0..5 {
            let treatment = if one == 2 { treatment } else { Treatment::Passes };
            underway.take(Time::ZERO + Dur::us(u64::from(one)), treatment, one);
        }
        let all = core::iter::from_fn(|| underway.arrived(Time::MAX));
        all.map(|(due, one, spoilt)| (due.0 / 1_000_000, one, spoilt)).collect()
    }

    #[test]
    fn frames_arrive_in_order_but_for_what_becomes_of_one() {
        let right =
            |all: &[(u64, u32)]| all.iter().map(|&(at, one)| (at, one, false)).collect::<Vec<_>>();
        assert_eq!(arrivals(Treatment::Passes), right(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]));
        assert_eq!(arrivals(Treatment::Lost), right(&[(0, 0), (1, 1), (3, 3), (4, 4)]));
        // Of two at one time the one that came first.
        let late = Treatment::Late(Dur::us(1));
        assert_eq!(arrivals(late), right(&[(0, 0), (1, 1), (3, 2), (3, 3), (4, 4)]));
        let behind = right(&[(0, 0), (1, 1), (3, 3), (4, 4), (4, 2)]);
        assert_eq!(arrivals(Treatment::Behind(2)), behind);
        let twice = right(&[(0, 0), (1, 1), (2, 2), (2, 2), (3, 3), (4, 4)]);
        assert_eq!(arrivals(Treatment::Twice), twice);
        let spoilt = arrivals(Treatment::Spoilt);
        assert_eq!(spoilt.iter().filter(|(.., spoilt)| *spoilt).count(), 1);
        assert!(spoilt.contains(&(2, 2, true)), "{spoilt:?}");
    }

    #[test]
    fn nothing_arrives_before_its_time() {
        let mut underway = Underway::new();
        underway.take(Time::ZERO, Treatment::Late(Dur::us(7)), 'a');
        assert_eq!(underway.next_due(), Some(Time::ZERO + Dur::us(7)));
        assert_eq!(underway.arrived(Time::ZERO + Dur::us(6)), None);
        assert!(underway.arrived(Time::ZERO + Dur::us(7)).is_some());
        assert_eq!(underway.next_due(), None);
    }
}
