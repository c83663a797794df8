//! Rule `storm.coverage`: how much of a storm its class really was paused, and where it was not.

use crate::passage::around;
use crate::pause::{Pause, Run, asked, pauses, runs};
use crate::{Dir, Observation, Span};
use rig_testcases::Script;
use rig_units::{Dur, Time};

/// How well the rig held a storm, in instants at which the frames' last bits reached the device. A storm that was
/// started several times is covered within each run; the time between two runs is no lapse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// The first XOFF.
    pub first_xoff: Span,
    /// Its place among the records of the port.
    pub first_record: usize,
    /// The last XOFF.
    pub last_xoff: Span,
    /// Its place among the records of the port.
    pub last_record: usize,
    /// When the last pause was over: its time ran out, or an XON came.
    pub pause_end: Span,
    /// Share of the storm during which the class surely was paused, in millionths, rounded down.
    pub covered: u64,
    /// Share during which it may have been, with every stamp at its best.
    pub possible: u64,
    /// Where it may not have been.
    pub lapses: Vec<Lapse>,
}

/// A gap in a storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lapse {
    /// When the pause had run out.
    pub from: Time,
    /// When it was asked for again.
    pub until: Time,
}

impl Lapse {
    /// How long it lasted.
    pub fn length(self) -> Dur {
        self.until - self.from
    }
}

impl Coverage {
    /// The longest lapse, the first of equals.
    pub fn longest_lapse(&self) -> Option<Lapse> {
        self.lapses.iter().copied().rev().max_by_key(|lapse| lapse.length())
    }
}

/// How well `storm` held `class` paused; `None` when no XOFF of it was recorded.
pub fn coverage(
    observation: &Observation,
    script: &Script,
    storm: u16,
    class: u8,
) -> Option<Coverage> {
    let port = script.storms[usize::from(storm)].from;
    let trace = &observation.ports[usize::from(port)];
    let pauses = pauses(observation, port, class);
    let mut total = Dur::ZERO;
    let (mut covered, mut possible) = (Dur::ZERO, Dur::ZERO);
    let mut lapses = Vec::new();
    let mut ends = None;
    for run in runs(script, storm, class) {
        let Some((first, last)) = xoffs(observation, port, class, run) else { continue };
        let arrival = |record: usize| observation.records[record].at + trace.cable;
        let begin = arrival(first) + trace.provenance.bound();
        let end = arrival(last).max(begin);
        total += end - begin;
        possible += reach(observation, (port, class), (first, last), end).min(end - begin);
        let inside = pauses.iter().filter(|pause| pause.last >= first && pause.first <= last);
        let mut paused_until = begin;
        let mut holds_to_the_end = false;
        for pause in inside {
            holds_to_the_end |= pause.last >= last;
            let from = pause.from.max(begin);
            if from > paused_until && pause.first > first {
                lapses.push(Lapse { from: paused_until, until: from });
            }
            covered += pause.until.min(end).since(from).unwrap_or(Dur::ZERO);
            paused_until = pause.until;
        }
        // Its last XOFF, or all of them: stamps are so far off that no pause surely came of it.
        if !holds_to_the_end && let Some(quanta) = asked(&observation.records[last], class) {
            let asked = end + trace.provenance.bound() + trace.speed.pause(quanta);
            lapses.push(Lapse { from: paused_until, until: asked });
        }
        let before = ends.map_or(first, |(first, _, _)| first);
        ends = Some((before, last, over(&pauses, last).unwrap_or(end)));
    }
    let (first_record, last_record, pause_end) = ends?;
    let bound = trace.provenance.bound();
    let arrival = |record: usize| around(observation.records[record].at + trace.cable, bound);
    let share = |of: Dur| match u128::from(of.0) * 1_000_000 / u128::from(total.0.max(1)) {
        _ if total == Dur::ZERO => 1_000_000,
        share => u64::try_from(share).unwrap_or(1_000_000),
    };
    Some(Coverage {
        first_xoff: arrival(first_record),
        first_record,
        last_xoff: arrival(last_record),
        last_record,
        // `pauses` gives the earliest end; the latest lies two error bounds after it.
        pause_end: Span { lo: pause_end.0, hi: (pause_end + bound * 2).0 },
        covered: share(covered),
        possible: share(possible).max(share(covered)),
        lapses,
    })
}

/// How long the class may have been paused by the XOFFs from record `first` to `last`, up to `end`: each until the next
/// one or until its time is over, and longer by what the stamps may be off.
fn reach(
    observation: &Observation,
    (port, class): (u16, u8),
    (first, last): (usize, usize),
    end: Time,
) -> Dur {
    let trace = &observation.ports[usize::from(port)];
    let own = observation.records[first..=last].iter();
    let own = own.filter(|frame| frame.port == port && frame.dir == Dir::Tx);
    let mut xoffs =
        own.filter_map(|frame| Some((frame.at + trace.cable, frame.pauses(class)?))).peekable();
    let mut reach = Dur::ZERO;
    while let Some((at, quanta)) = xoffs.next() {
        let until = xoffs.peek().map_or(end, |(next, _)| *next);
        let room = until.since(at).unwrap_or(Dur::ZERO);
        reach += (trace.speed.pause(quanta) + trace.provenance.bound() * 4).min(room);
    }
    reach
}

/// The first and the last XOFF of one run.
fn xoffs(observation: &Observation, port: u16, class: u8, run: Run) -> Option<(usize, usize)> {
    let mut own = observation.records.iter().enumerate().filter(|(_, frame)| {
        frame.port == port
            && frame.dir == Dir::Tx
            && (run.start..run.until).contains(&frame.at)
            && frame.pauses(class).is_some_and(|quanta| quanta.0 > 0)
    });
    let (first, _) = own.next()?;
    Some((first, own.next_back().map_or(first, |(last, _)| last)))
}

/// When the pause that `record` belongs to was over.
fn over(pauses: &[Pause], record: usize) -> Option<Time> {
    let of = pauses.iter().find(|pause| (pause.first..=pause.last).contains(&record));
    of.map(|pause| pause.until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provenance;
    use crate::sample::{CABLE, CLASS, PAUSE, Sample};
    use rig_testcases::{Action, Step};
    use rig_units::Quanta;

    fn of(sample: Sample) -> Option<Coverage> {
        let (observation, script) = sample.done(Dur::s(1));
        coverage(&observation, &script, 0, CLASS)
    }

    /// A storm of `n` XOFFs, one every `gap`.
    fn every(gap: Dur, n: u64) -> Sample {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(1));
        for n in 0..n {
            sample.pfc(Dur::ms(1) + gap * n, 1, Dir::Tx, Quanta::MAX);
        }
        sample
    }

    #[test]
    fn a_refresh_in_the_last_picosecond_leaves_no_gap() {
        let coverage = of(every(PAUSE, 4)).expect("seen");
        assert_eq!((coverage.covered, coverage.lapses.len()), (1_000_000, 0));
        let at = (Dur::ms(1) + CABLE).0;
        assert_eq!(coverage.first_xoff, Span::exactly(at));
        assert_eq!(coverage.last_xoff, Span::exactly(at + 3 * PAUSE.0));
        assert_eq!(coverage.pause_end, Span::exactly(at + 4 * PAUSE.0));
    }

    #[test]
    fn one_picosecond_more_is_a_lapse_in_every_period() {
        let coverage = of(every(PAUSE + Dur(1), 4)).expect("seen");
        assert_eq!(coverage.covered, 999_999);
        let lengths: Vec<u64> = coverage.lapses.iter().map(|lapse| lapse.length().0).collect();
        assert_eq!(lengths, [1, 1, 1]);
        let first = Time((Dur::ms(1) + CABLE + PAUSE).0);
        assert_eq!(coverage.longest_lapse(), Some(Lapse { from: first, until: first + Dur(1) }));
    }

    #[test]
    fn a_refresh_of_one_and_a_half_pauses_covers_two_thirds() {
        let coverage = of(every(PAUSE + PAUSE / 2, 3)).expect("seen");
        assert_eq!(coverage.covered, 666_666);
    }

    #[test]
    fn an_xon_in_the_middle_is_a_lapse_until_the_next_xoff() {
        let mut sample = every(PAUSE / 2, 3);
        sample.pfc(Dur::ms(1) + PAUSE / 4, 1, Dir::Tx, Quanta(0));
        let coverage = of(sample).expect("seen");
        assert_eq!(coverage.longest_lapse().map(Lapse::length), Some(PAUSE / 4));
        assert_eq!(coverage.covered, 750_000);
    }

    #[test]
    fn the_pause_between_two_runs_is_no_lapse() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(5));
        sample.storm(Dur::ms(20), Dur::ms(25));
        let coverage = of(sample).expect("seen");
        assert_eq!((coverage.covered, coverage.lapses.len()), (1_000_000, 0));
        assert_eq!(coverage.first_xoff, Span::exactly((Dur::ms(1) + CABLE).0));
        assert!(coverage.last_xoff.lo > Dur::ms(24).0);
    }

    #[test]
    fn a_late_frame_sent_by_hand_belongs_to_no_storm() {
        let mut sample = every(PAUSE / 2, 3);
        let late = rig_testcases::PfcFrames {
            odd: rig_testcases::PfcOdd::No,
            macsec: rig_testcases::MacsecMode::Usual,
            from: 1,
            enable: 8,
            quanta: Quanta::MAX,
            count: 1,
            every: Dur::ms(1),
        };
        sample.script.steps.push(Step { at: Dur::ms(9), action: Action::Pfc(late) });
        sample.pfc(Dur::ms(9), 1, Dir::Tx, Quanta::MAX);
        let coverage = of(sample).expect("seen");
        assert_eq!(coverage.last_xoff, Span::exactly((Dur::ms(1) + CABLE + PAUSE).0));
    }

    #[test]
    fn timestamps_that_may_be_off_widen_every_instant() {
        let bound = Dur::ns(30);
        let mut sample = every(PAUSE / 2, 2);
        sample.provenance = Provenance::Software { bound };
        let coverage = of(sample).expect("seen");
        let end = (Dur::ms(1) + CABLE + PAUSE / 2 + PAUSE).0;
        assert_eq!(coverage.pause_end, Span { lo: end - bound.0, hi: end + bound.0 });
        let at = (Dur::ms(1) + CABLE).0;
        assert_eq!(coverage.first_xoff, Span { lo: at - bound.0, hi: at + bound.0 });
        assert!(coverage.lapses.is_empty());
    }

    #[test]
    fn a_storm_of_which_no_pause_is_sure_to_have_come_is_one_lapse() {
        for (bound, lapses) in [(PAUSE / 2 - Dur(1), 0), (PAUSE / 2 + Dur(1), 1)] {
            for n in [1, 3] {
                let mut sample = every(Dur(1), n);
                sample.provenance = Provenance::Software { bound };
                let coverage = of(sample).expect("seen");
                assert_eq!(coverage.lapses.len(), lapses, "{n}: {coverage:?}");
                assert!(lapses == 0 || coverage.lapses[0].length() >= PAUSE);
            }
        }
    }

    #[test]
    fn a_storm_that_never_left_has_no_coverage() {
        assert_eq!(of(Sample::new()), None);
        assert_eq!(of(every(PAUSE, 0)), None);
    }

    #[test]
    fn one_xoff_alone_is_covered() {
        assert_eq!(of(every(PAUSE, 1)).map(|coverage| coverage.covered), Some(1_000_000));
    }

    #[test]
    fn stamps_that_may_be_off_make_the_share_an_interval_around_the_plan() {
        let mut sample = Sample::new();
        sample.script.storms[0].every = PAUSE * 2;
        for n in 0..9 {
            sample.pfc(Dur::ms(1) + PAUSE * 2 * n, 1, Dir::Tx, Quanta::MAX);
        }
        sample.script.steps.push(Step { at: Dur::ms(1), action: Action::StartStorm(0) });
        let exact = of(sample.clone()).expect("a storm");
        assert_eq!((exact.covered, exact.possible), (500_000, 500_000));
        sample.provenance = Provenance::Software { bound: PAUSE / 2 };
        let loose = of(sample).expect("a storm");
        assert!(loose.covered < 500_000 && loose.possible == 1_000_000, "{loose:?}");
    }
}
