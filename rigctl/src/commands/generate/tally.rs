//! What became of each stream, as the pacer tells it.

use rig_capture::Dir;
use rig_capture::pcapng::FrameFile;
use rig_generator::port::{Mono, Receive, Stamp, StampedBy};
use rig_generator::{Departure, Kept, Watcher, Who};
use rig_units::{Dur, Time};
use std::io::Write;

/// Handed over later than this after it was due, a frame is late.
pub(super) const LATE: Dur = Dur::us(10);

/// What became of one stream.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) sent: u64,
    pub(super) late: u64,
    pub(super) kept: Kept,
}

impl Count {
    fn sent(&mut self, due: Time, at: Time) {
        self.sent += 1;
        self.late += u64::from(self.kept.sent(due, at) > LATE);
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
    fn a_frame_counts_as_late_from_more_than_ten_microseconds_on() {
        let at = |us: u64| Time::ZERO + Dur::us(us);
        let mut count = Count::default();
        for (due, sent) in [(0, 0), (10, 20), (100, 111)] {
            count.sent(at(due), at(sent));
        }
        assert_eq!((count.sent, count.late), (3, 1));
    }
}
