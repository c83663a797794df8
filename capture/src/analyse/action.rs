//! Rule `pfcwd.action`: what becomes of frames that are sent while the queue is stormed.

use super::ActionView;
use super::busy::Busy;
use crate::Observation;
use crate::fate::Fates;
use crate::passage::Passage;
use rig_testcases::{Script, WatchdogAction};
use rig_units::{Dur, Time};

/// What became of the frames of a stream that the device took in within a window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActionTaken {
    /// They left within the window: the device sent in spite of the pause.
    pub passed: Vec<Fate>,
    /// They left after the window, though the port was free before: the device held them.
    pub held: Vec<Fate>,
    /// They never left: the device dropped them.
    pub lost: Vec<Fate>,
    /// The trial ended before they could be seen again.
    pub open: Vec<Fate>,
    /// The longest time from one rig port to the other.
    pub longest: Dur,
}

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// Its number in the stream.
    pub seq: u32,
    /// Its record when it was sent.
    pub sent: usize,
    /// Its record when it arrived.
    pub received: Option<usize>,
    /// How long it took.
    pub took: Option<Dur>,
}

impl ActionTaken {
    /// How many frames there were.
    pub fn frames(&self) -> usize {
        self.passed.len() + self.held.len() + self.lost.len() + self.open.len()
    }

    /// The frames that break the rule of `action`: under drop all are lost, under forward all pass, under alert all are
    /// held.
    pub fn breaking(&self, action: WatchdogAction) -> Vec<Fate> {
        let wrong: [&[Fate]; 2] = match action {
            WatchdogAction::Drop => [&self.passed, &self.held],
            WatchdogAction::Forward => [&self.held, &self.lost],
            WatchdogAction::Alert => [&self.passed, &self.lost],
        };
        let mut breaking = wrong.concat();
        breaking.sort_by_key(|fate| fate.seq);
        breaking
    }
}

/// What became of the frames of `stream` that were at the device strictly between `from` and `until`: for the actions
/// that can be seen from when the action surely had begun, for alert from when the pause surely was obeyed; in each case
/// until the storm may have been over or the device may have let go, whichever is sooner.
pub fn action(
    observation: &Observation,
    script: &Script,
    stream: u16,
    view: &ActionView,
    (from, until): (Time, Time),
) -> ActionTaken {
    let spec = &script.streams[usize::from(stream)];
    let fates = Fates::of(observation, script, stream, view.delays());
    let busy = Busy::shaped(observation, spec.to, view.shaper);
    let mut taken = ActionTaken::default();
    let within = |passage: &&Passage| {
        let (arrival, ready) =
            (fates.way.arrival(passage.sent.at), fates.way.ready(passage.sent.at));
        arrival.lo > from.0 && ready.hi < until.0
    };
    for passage in fates.passages.all.iter().filter(within) {
        let took = passage.received.and_then(|received| received.at.since(passage.sent.at));
        let fate = Fate {
            seq: passage.seq,
            sent: passage.sent.record,
            received: passage.received.map(|received| received.record),
            took,
        };
        taken.longest = taken.longest.max(took.unwrap_or(Dur::ZERO));
        let group = match passage.received {
            None if fates.lost(passage) => &mut taken.lost,
            None => &mut taken.open,
            Some(received) => {
                let after = fates.way.start(received.at).hi >= until.0;
                // One that waited for other frames only was not held.
                let free = busy.since(received.record) > fates.way.ready(passage.sent.at).hi;
                if after && free { &mut taken.held } else { &mut taken.passed }
            }
        };
        group.push(fate);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, FORWARDING, SIZE, Sample, TRANSIT, view};
    use crate::{Dir, What};
    use rig_testcases::Backlog;
    use rig_units::{Bytes, L2Rate, PortSpeed};

    const FROM: Dur = Dur::ms(100);
    const UNTIL: Dur = Dur::ms(200);

    fn of(sample: Sample) -> ActionTaken {
        let (observation, script) = sample.done(Dur::ms(400));
        let view = view(WatchdogAction::Drop, Backlog::Drains);
        let window = (Time::ZERO + FROM, Time::ZERO + UNTIL);
        action(&observation, &script, 0, &view, window)
    }

    /// Probes all the time; those at the device within the window fare as `fate` has it.
    fn probes(fate: impl Fn(Dur) -> Option<Dur>) -> Sample {
        let mut sample = Sample::new();
        sample.probes(Dur::ms(90), Dur::ms(300), |sent| {
            let within = sent + CABLE > FROM && sent + CABLE + FORWARDING < UNTIL;
            if within { fate(sent) } else { Some(sent + TRANSIT) }
        });
        sample
    }

    #[test]
    fn under_drop_every_frame_is_lost() {
        let taken = of(probes(|_| None));
        // From 100 ms on, and up to 199.5 ms.
        assert_eq!((taken.frames(), taken.lost.len()), (200, 200));
        assert_eq!(taken.breaking(WatchdogAction::Drop), []);
        assert_eq!(taken.breaking(WatchdogAction::Forward).len(), 200);
        assert_eq!(taken.breaking(WatchdogAction::Alert).len(), 200);
    }

    #[test]
    fn a_single_leak_breaks_the_drop() {
        let leak = Dur::us(150_500);
        let taken = of(probes(|sent| (sent == leak).then_some(sent + TRANSIT)));
        let breaking = taken.breaking(WatchdogAction::Drop);
        assert_eq!(breaking.len(), 1);
        assert_eq!(breaking[0].took, Some(TRANSIT));
        assert_eq!(taken.longest, TRANSIT);
    }

    #[test]
    fn a_frame_held_until_the_storm_is_over_breaks_the_drop() {
        let held = Dur::ms(150);
        let taken = of(probes(|sent| (sent == held).then_some(UNTIL + TRANSIT)));
        assert_eq!(taken.held.len(), 1);
        assert_eq!(taken.breaking(WatchdogAction::Drop), taken.held);
    }

    #[test]
    fn under_forward_every_frame_passes() {
        let taken = of(probes(|sent| Some(sent + TRANSIT)));
        assert_eq!((taken.passed.len(), taken.frames()), (200, 200));
        assert_eq!(taken.breaking(WatchdogAction::Forward), []);
    }

    #[test]
    fn under_alert_every_frame_is_held() {
        let slot = PortSpeed::G100.slot(Bytes(SIZE.into()));
        // The first one starts in the picosecond in which the storm is over.
        let frame = PortSpeed::G100.serialise(Bytes(SIZE.into()));
        let end = |sent: Dur| UNTIL + frame + CABLE + slot * ((sent - FROM) / Dur::us(500));
        let taken = of(probes(|sent| Some(end(sent))));
        assert_eq!((taken.held.len(), taken.frames()), (200, 200));
        assert_eq!(taken.breaking(WatchdogAction::Alert), []);
        assert_eq!(taken.breaking(WatchdogAction::Drop).len(), 200);
        assert!(taken.longest > Dur::ms(100));
    }

    #[test]
    fn a_frame_that_waited_for_others_only_was_not_held() {
        let last = Dur::us(199_999);
        let mut sample = Sample::new();
        let slot = PortSpeed::G100.slot(Bytes(SIZE.into()));
        let ready = last + CABLE + FORWARDING;
        let frame = PortSpeed::G100.serialise(Bytes(SIZE.into()));
        let begins = ready - Dur::ns(100);
        for n in 0..10 {
            let other = What::Other { size: Bytes(SIZE.into()) };
            sample.push(begins + slot * n + frame + CABLE, 1, Dir::Rx, other);
        }
        sample.data(0, last, Some(begins + slot * 10 + frame + CABLE));
        let taken = of(sample);
        assert_eq!((taken.passed.len(), taken.held.len()), (1, 0));
    }

    #[test]
    fn a_frame_that_waited_for_the_shaper_only_was_not_held() {
        let rate = L2Rate { bps: 300_000_000 };
        let (sent, frame) = (UNTIL - Dur::us(10), PortSpeed::G100.serialise(Bytes(SIZE.into())));
        let ready = sent + CABLE + FORWARDING;
        // Another frame took the tokens; this one leaves as soon as there are any, and then the storm is over.
        let held = |began: Dur, shaper| {
            let mut sample = Sample::new();
            let other = What::Other { size: Bytes(SIZE.into()) };
            sample.push(began + frame + CABLE, 1, Dir::Rx, other);
            let starts = began + rate.serialise(Bytes(SIZE.into()));
            assert!(starts > UNTIL);
            sample.data(0, sent, Some(starts + frame + CABLE));
            let (observation, script) = sample.done(Dur::ms(400));
            let view = ActionView { shaper, ..view(WatchdogAction::Drop, Backlog::Drains) };
            let window = (Time::ZERO + FROM, Time::ZERO + UNTIL);
            let taken = action(&observation, &script, 0, &view, window);
            (taken.passed.len(), taken.held.len())
        };
        // Preamble and gap may have stood before its first bit.
        let latest = ready + PortSpeed::G100.slot(Bytes(SIZE.into())) - frame;
        assert_eq!(held(latest, Some(rate)), (1, 0));
        assert_eq!(held(latest + Dur(1), Some(rate)), (0, 1), "the port was free before");
        assert_eq!(held(ready, None), (0, 1), "without a shaper nothing kept it");
    }

    #[test]
    fn frames_at_the_edges_of_the_window_do_not_count() {
        for (sent, counts) in [
            (FROM - CABLE, 0),
            (FROM - CABLE + Dur(1), 1),
            (UNTIL - CABLE - FORWARDING, 0),
            (UNTIL - CABLE - FORWARDING - Dur(1), 1),
        ] {
            let mut sample = Sample::new();
            sample.data(0, sent, None);
            assert_eq!(of(sample).frames(), counts, "{sent}");
        }
    }

    #[test]
    fn frames_that_the_end_of_the_trial_caught_are_open() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(50), Dur::ms(400));
        sample.data(0, Dur::ms(150), None);
        let taken = of(sample);
        assert_eq!((taken.open.len(), taken.lost.len()), (1, 0));
    }
}
