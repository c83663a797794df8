//! When the rig held a class of a device port paused, worked out from the rig's own PFC frames.
//!
//! Left out on purpose: what the device makes of it. The time its MAC takes to react is declared, and the analysers
//! add it.

use crate::{Dir, Observation, Record};
use rig_testcases::{Action, Script, Step};
use rig_units::{Quanta, Time};

/// A time during which a class was paused without a gap, as the device saw it: from the arrival of an XOFF until the
/// last pause time ran out or an XON arrived. Where timestamps have an error bound, the time that surely was so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When it began.
    pub from: Time,
    /// When it ended.
    pub until: Time,
    /// Record of its first XOFF.
    pub first: usize,
    /// Record of the last frame that prolonged or ended it.
    pub last: usize,
}

/// All pauses of `class` that the rig's `port` asked for, by time.
///
/// A pause is gap-free when each next XOFF arrives no later than the pause before runs out; each XOFF starts the time
/// afresh, longer or shorter (IEEE 802.1Q clause 36.1.3.2), and an XON ends it.
pub fn pauses(observation: &Observation, port: u16, class: u8) -> Vec<Pause> {
    let trace = &observation.ports[usize::from(port)];
    let bound = trace.provenance.bound();
    let mut pauses: Vec<Pause> = Vec::new();
    for (record, frame) in observation.records.iter().enumerate() {
        if frame.port != port || frame.dir != Dir::Tx {
            continue;
        }
        let Some(quanta) = asked(frame, class) else { continue };
        let surely_arrived = frame.at + trace.cable + bound;
        let soonest = (frame.at + trace.cable).saturating_sub(bound);
        let last = pauses.last_mut().filter(|last| last.until >= surely_arrived);
        let until = soonest + trace.speed.pause(quanta);
        match last {
            Some(last) if quanta == Quanta(0) => (last.until, last.last) = (soonest, record),
            Some(last) => (last.until, last.last) = (until, record),
            None if quanta == Quanta(0) || until <= surely_arrived => {}
            None => {
                pauses.push(Pause { from: surely_arrived, until, first: record, last: record });
            }
        }
    }
    pauses
}

/// The pause that a frame asks for; none where it does not validate.
pub(crate) fn asked(frame: &Record, class: u8) -> Option<Quanta> {
    let sound = frame.secured.is_none_or(|secured| secured.tamper.is_none());
    frame.pauses(class).filter(|_| sound)
}

/// One start and stop of a storm, with the time until which PFC frames of that port and class are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// When it is started.
    pub start: Time,
    /// When it is stopped.
    pub stop: Time,
    /// When something else next sends PFC for the class by the port; the end of the trial if nothing does.
    pub until: Time,
}

/// Every start and stop of `storm` in the script, for one of its classes.
pub fn runs(script: &Script, storm: u16, class: u8) -> Vec<Run> {
    let port = script.storms[usize::from(storm)].from;
    let end = Time::ZERO + script.length;
    let mut runs = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        if step.action != Action::StartStorm(storm) {
            continue;
        }
        let later = &script.steps[index + 1..];
        let at = |step: &Step| Time::ZERO + step.at;
        let stop = later.iter().find(|step| step.action == Action::StopStorm(storm));
        let stop = stop.map_or(end, at);
        let next = later.iter().find(|step| at(step) > stop && sends(script, step, port, class));
        runs.push(Run { start: at(step), stop, until: next.map_or(end, at) });
    }
    runs
}

/// When the next storm that pauses `class` of the device's port behind `port` is started, later than `after`.
pub fn next_storm(script: &Script, port: u16, class: u8, after: Time) -> Option<Time> {
    let starts = script.steps.iter().filter(|step| {
        matches!(step.action, Action::StartStorm(_)) && sends(script, step, port, class)
    });
    starts.map(|step| Time::ZERO + step.at).find(|&at| at > after)
}

/// Whether a step makes `port` send PFC for `class`.
fn sends(script: &Script, step: &Step, port: u16, class: u8) -> bool {
    match &step.action {
        Action::StartStorm(storm) => {
            let storm = &script.storms[usize::from(*storm)];
            storm.from == port && storm.classes >> class & 1 == 1
        }
        Action::Pfc(frames) => frames.from == port && frames.enable >> class & 1 == 1,
        Action::StartStream(_)
        | Action::StopStream(_)
        | Action::StartFlow(_)
        | Action::StopFlow(_)
        | Action::StopStorm(_)
        | Action::LinkDown(_)
        | Action::LinkUp(_)
        | Action::Configure(_)
        | Action::Device(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, CLASS, PAUSE, Sample};
    use crate::{Provenance, What};
    use rig_testcases::PfcFrames;
    use rig_units::Dur;

    fn xoffs(at: &[Dur]) -> Vec<(Dur, Dur)> {
        let mut sample = Sample::new();
        for &at in at {
            sample.pfc(at, 1, Dir::Tx, Quanta::MAX);
        }
        spans(sample)
    }

    fn spans(sample: Sample) -> Vec<(Dur, Dur)> {
        let (observation, _) = sample.done(Dur::s(1));
        let pauses = pauses(&observation, 1, CLASS);
        pauses.iter().map(|pause| (pause.from.elapsed(), pause.until.elapsed())).collect()
    }

    #[test]
    fn an_xoff_in_the_last_picosecond_of_the_pause_prolongs_it() {
        let whole = (Dur::us(10) + CABLE, Dur::us(10) + CABLE + PAUSE + PAUSE);
        assert_eq!(xoffs(&[Dur::us(10), Dur::us(10) + PAUSE]), [whole]);
    }

    #[test]
    fn an_xoff_one_picosecond_later_begins_another_pause() {
        assert_eq!(xoffs(&[Dur::us(10), Dur::us(10) + PAUSE + Dur(1)]).len(), 2);
    }

    #[test]
    fn an_xon_ends_the_pause_and_a_shorter_xoff_shortens_it() {
        for (quanta, rest) in [(0, Dur(0)), (2, Dur(10_240))] {
            let mut sample = Sample::new();
            sample.pfc(Dur::us(10), 1, Dir::Tx, Quanta::MAX);
            sample.pfc(Dur::us(50), 1, Dir::Tx, Quanta(quanta));
            let until = Dur::us(50) + CABLE + rest;
            assert_eq!(spans(sample), [(Dur::us(10) + CABLE, until)]);
        }
    }

    #[test]
    fn a_timestamp_that_may_be_off_counts_against_the_pause_on_both_sides() {
        let bound = Dur::ns(25);
        let mut sample = Sample::new();
        sample.provenance = Provenance::Hardware { bound };
        sample.pfc(Dur::us(10), 1, Dir::Tx, Quanta::MAX);
        let surely = (Dur::us(10) + CABLE + bound, Dur::us(10) + CABLE + PAUSE - bound);
        assert_eq!(spans(sample), [surely]);
        for (slack, pauses) in [(bound * 2, 1), (bound * 2 - Dur(1), 2)] {
            let mut sample = Sample::new();
            sample.provenance = Provenance::Hardware { bound };
            sample.pfc(Dur::us(10), 1, Dir::Tx, Quanta::MAX);
            sample.pfc(Dur::us(10) + PAUSE - slack, 1, Dir::Tx, Quanta::MAX);
            assert_eq!(spans(sample).len(), pauses, "{slack}");
        }
    }

    #[test]
    fn frames_of_other_classes_ports_and_directions_do_not_count() {
        let mut sample = Sample::new();
        sample.pfc(Dur::us(10), 0, Dir::Tx, Quanta::MAX);
        sample.pfc(Dur::us(10), 1, Dir::Rx, Quanta::MAX);
        let other = What::Pfc { enable: 1 << 4, quanta: [Quanta::MAX; 8] };
        sample.push(Dur::us(10), 1, Dir::Tx, other);
        assert_eq!(spans(sample), []);
    }

    #[test]
    fn frames_after_a_storm_are_its_own_until_something_else_sends() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(10), Dur::ms(20));
        let late = PfcFrames {
            odd: rig_testcases::PfcOdd::No,
            macsec: rig_testcases::MacsecMode::Usual,
            from: 1,
            enable: 8,
            quanta: Quanta(9),
            count: 1,
            every: Dur::us(1),
        };
        let step = Step { at: Dur::ms(30), action: Action::Pfc(late) };
        sample.script.steps.push(step);
        sample.storm(Dur::ms(40), Dur::ms(50));
        let (_, script) = sample.done(Dur::ms(90));
        let ms = |ms| Time::ZERO + Dur::ms(ms);
        assert_eq!(
            runs(&script, 0, CLASS),
            [
                Run { start: ms(10), stop: ms(20), until: ms(30) },
                Run { start: ms(40), stop: ms(50), until: ms(90) },
            ]
        );
        assert_eq!(runs(&script, 0, 4)[0].until, ms(90), "class 4 is never asked for");
        assert_eq!(next_storm(&script, 1, CLASS, ms(10)), Some(ms(40)), "not the late frame");
        assert_eq!(next_storm(&script, 1, CLASS, ms(40)), None);
    }
}
