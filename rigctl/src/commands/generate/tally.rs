//! What became of each stream, as the pacer tells it.

use rig_capture::Dir;
use rig_capture::pcapng::FrameFile;
use rig_generator::port::{Mono, Receive, Stamp, StampedBy};
use rig_generator::{Departure, Spread, Watcher, Who};
use rig_units::{Dur, Time};
use std::io::Write;

/// Handed over later than this after it was due, a frame is late.
pub(super) const LATE: Dur = Dur::us(10);

/// What became of one stream.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) sent: u64,
    pub(super) late: u64,
    /// How far the gap from frame to frame was from the planned one.
    pub(super) gaps: Spread,
    pub(super) lateness: Spread,
    /// The frame before: when it was due, and when it was handed over.
    last: Option<(Time, Time)>,
}

impl Count {
    fn sent(&mut self, due: Time, at: Time) {
        self.sent += 1;
        let late = at.since(due).unwrap_or_default();
        self.late += u64::from(late > LATE);
        self.lateness.add(late);
        if let Some((due_before, at_before)) = self.last.replace((due, at)) {
            let planned = due.since(due_before).unwrap_or_default();
            let kept = at.since(at_before).unwrap_or_default();
            self.gaps.add(Dur(kept.0.abs_diff(planned.0)));
        }
    }
}

/// Listens to a port.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) streams: Vec<Count>,
    /// Frames that arrived meanwhile.
    pub(super) received: u64,
    /// When the last frame was handed over.
    pub(super) last: Time,
}

impl Tally {
    pub(super) fn new(streams: usize) -> Tally {
        Tally {
            streams: (0..streams).map(|_| Count::default()).collect(),
            received: 0,
            last: Time::ZERO,
        }
    }

    fn note(&mut self, departure: &Departure, due: Time, at: Time) {
        if let Who::Stream(index) = departure.who
            && let Some(count) = self.streams.get_mut(usize::from(index))
        {
            count.sent(due, at);
        }
        self.last = at;
    }
}

impl Watcher for Tally {
    fn sent(&mut self, _: u16, departure: &Departure, at: Time, _: Time) {
        self.note(departure, departure.start, at);
    }
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {
        self.received += 1;
    }
}

/// Writes into a file what a port in memory is sent. Each frame stands there at the time of its last bit, as in the
/// evidence of a run.
#[derive(Debug)]
pub(super) struct IntoFile<W: Write> {
    pub(super) tally: Tally,
    pub(super) far: Box<dyn Receive>,
    pub(super) file: FrameFile<W>,
    /// The first thing that went wrong.
    pub(super) fault: Option<String>,
}

impl<W: Write> Watcher for IntoFile<W> {
    fn sent(&mut self, _: u16, departure: &Departure, at: Time, _: Time) {
        self.tally.note(departure, departure.end, at);
        let IntoFile { far, file, fault, .. } = self;
        let mut write = |frame: &[u8], Stamp { at: Mono(ns), .. }: Stamp| {
            if let Err(error) = file.frame(Time(ns * 1_000), Dir::Tx, frame) {
                fault.get_or_insert_with(|| error.to_string());
            }
        };
        if let Err(error) = far.poll(&mut write) {
            fault.get_or_insert_with(|| error.to_string());
        }
    }
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_held_against_the_plan_and_lateness_against_the_instant() {
        let at = |us: u64| Time::ZERO + Dur::us(us);
        let mut count = Count::default();
        // On time; 3 us late; 11 us late after a pause that was planned.
        for (due, sent) in [(0, 0), (10, 13), (100, 111)] {
            count.sent(at(due), at(sent));
        }
        assert_eq!((count.sent, count.late), (3, 1));
        let near = |dur: Dur, us: u64| dur.0.abs_diff(Dur::us(us).0) < Dur::us(1).0 / 50;
        assert!(near(count.gaps.figures().max, 8) && near(count.gaps.figures().p50, 3));
        assert!(near(count.lateness.figures().max, 11));
    }
}
