//! What a device did between a trial and a reading of its counters: they count it, and the trial does not show it.

use rig_capture::DutEvent;
use rig_generator::port::StampedBy;
use rig_generator::{Departure, Watcher};
use rig_units::Time;

/// Counts it. Instants are those of the session.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// When the counters were asked for before the trial.
    read: Time,
    /// From when on, after the trial, nothing may arrive any more until the counters have been read.
    quiet: (Time, Time),
    count: u64,
    /// How many frames arrived after the trial, be it that they were on their way.
    came: u64,
}

impl Unseen {
    /// The counters before the trial were asked for at `read`; these are the events since whenever somebody asked last.
    pub(super) fn before(&mut self, read: Time, events: &[DutEvent]) {
        self.read = read;
        self.add(events.iter().filter(|event| event.at + event.off >= read).count());
    }

    /// A frame that arrived before the trial began.
    pub(super) fn early(&mut self, at: Time) {
        self.add(usize::from(at >= self.read));
    }

    /// The counters after the trial were read at `read`; frames of the trial have arrived by `ended`.
    pub(super) fn after(&mut self, ended: Time, read: Time) {
        self.quiet = (ended, read);
    }

    /// Events of which some came before the trial at `origin`, or after its end.
    pub(super) fn events(&mut self, origin: Time, events: &[DutEvent]) {
        let (ended, read) = self.quiet;
        // Those that may have been there, too.
        let outside = |event: &&DutEvent| {
            let (from, to) = (event.at.saturating_sub(event.off), event.at + event.off);
            from < origin || (to > ended && from <= read)
        };
        self.add(events.iter().filter(outside).count());
    }

    /// How often the device did something.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// How many frames arrived after the trial.
    pub(super) const fn came(&self) -> u64 {
        self.came
    }

    fn add(&mut self, times: usize) {
        self.count += u64::try_from(times).unwrap_or(u64::MAX);
    }
}

impl Watcher for Unseen {
    fn sent(&mut self, _: u16, _: &Departure, _: Time, _: Time) {}

    fn received(&mut self, _: u16, _: &[u8], at: Time, _: StampedBy) {
        let (ended, read) = self.quiet;
        self.came += 1;
        self.add(usize::from(at > ended && at <= read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::DutEventKind;
    use rig_units::Dur;

    const fn at(ms: u64) -> Time {
        Time(Dur::ms(ms).0)
    }

    fn event(ms: u64) -> DutEvent {
        let port = "Ethernet0".to_owned();
        DutEvent { at: at(ms), off: Dur::ZERO, port, class: 3, kind: DutEventKind::Storm }
    }

    #[test]
    fn only_what_lies_between_the_trial_and_a_reading_was_not_seen() {
        let mut unseen = Unseen::default();
        unseen.before(at(10), &[event(3), event(12)]);
        unseen.early(at(9));
        unseen.early(at(11));
        assert_eq!(unseen.count(), 2);
        // The trial took from 20 to 30, and what it sent had arrived by 31; the counters were read at 40.
        unseen.after(at(31), at(40));
        unseen.events(at(20), &[event(15), event(25), event(30), event(35), event(41)]);
        assert_eq!(unseen.count(), 4, "15 and 35");
        for ms in [29, 31, 32, 40, 41] {
            unseen.received(0, &[], at(ms), StampedBy::Process);
        }
        assert_eq!(unseen.count(), 6, "32 and 40");
    }
}
