//! What happened in one trial, as lanes over time: for a page, not for a verdict.

use super::timeline_counters;
use crate::pause::pauses;
use crate::{Dir, Observation, What};
use rig_testcases::Script;
use rig_units::{Dur, Quanta, Time};
use std::collections::BTreeMap;

/// A lane has at most so many steps.
const MOST_STEPS: usize = 400;

/// The lanes. Instants count from the start of the trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    /// Intervals during which a class was paused, by who paused it: `storm@p2 class 3`.
    pub pauses: Vec<(String, Vec<(Time, Time)>)>,
    /// Frames sent and not yet delivered: a step each time that their number changes.
    pub held: Vec<(Time, u64)>,
    /// Frames delivered so far: a step each time that their number changes.
    pub delivered: Vec<(Time, u64)>,
    /// When the device sent PFC frames, of many some.
    pub dut_pfc: Vec<Time>,
    /// How many it sent.
    pub dut_pfc_sent: u64,
    /// The device's counters by name: a step each time that another value was read.
    pub counters: Vec<(String, Vec<(Time, u64)>)>,
    /// Time between two readings of them at most.
    pub read_every: Dur,
    /// Instants worth a name: `detection`, `storm ends`.
    pub marks: Vec<(Time, String)>,
    /// How long the trial was watched.
    pub length: Dur,
}

/// The timeline of `stream`, every storm, the device's own PFC and those of its counters that changed, with `marks`. Lanes of more than 400 steps are
/// thinned: of each stretch the greatest step and the last are kept.
pub fn timeline(
    observation: &Observation,
    script: &Script,
    stream: u16,
    marks: Vec<(Time, String)>,
) -> Timeline {
    let (held, delivered) = flow(observation, script, stream);
    let mut timeline_counters = storms(observation, script);
    timeline_counters.extend(device(observation));
    let (dut_pfc, dut_pfc_sent) = dut_pfc(observation);
    Timeline {
        pauses: timeline_counters,
        held: thinned(&held, observation.length),
        delivered: thinned(&delivered, observation.length),
        dut_pfc,
        dut_pfc_sent,
        counters: counters(observation),
        read_every: observation.counters.samples.every,
        marks,
        length: observation.length,
    }
}

type Steps = Vec<(Time, u64)>;

/// Frames on their way, and frames delivered, over time.
fn flow(observation: &Observation, script: &Script, stream: u16) -> (Steps, Steps) {
    let spec = &script.streams[usize::from(stream)];
    let (mut held, mut delivered) = (0_u64, 0_u64);
    let mut steps: (Steps, Steps) = Default::default();
    for record in &observation.records {
        match record.what {
            What::Data { stream: of, .. } if of == stream => {}
            _ => continue,
        }
        if record.dir == Dir::Tx && record.port == spec.from {
            held += 1;
        } else if record.dir == Dir::Rx && record.port == spec.to {
            held = held.saturating_sub(1);
            delivered += 1;
            steps.1.push((record.at, delivered));
        }
        steps.0.push((record.at, held));
    }
    steps
}

/// A lane for each class that a storm pauses.
fn storms(observation: &Observation, script: &Script) -> Vec<(String, Vec<(Time, Time)>)> {
    let mut timeline_counters = Vec::new();
    for storm in &script.storms {
        for class in (0..8).filter(|class| storm.classes >> class & 1 == 1) {
            let port = &observation.ports[usize::from(storm.from)].name;
            let name = format!("{}@{port} class {class}", storm.name);
            let intervals = pauses(observation, storm.from, class);
            timeline_counters
                .push((name, intervals.iter().map(|pause| (pause.from, pause.until)).collect()));
        }
    }
    timeline_counters
}

/// A lane for each rig port and class that the device paused.
fn device(observation: &Observation) -> Vec<(String, Vec<(Time, Time)>)> {
    let mut timeline_counters: BTreeMap<(u16, u8), Vec<(Time, Time)>> = BTreeMap::new();
    for record in observation.records.iter().filter(|record| record.dir == Dir::Rx) {
        let port = &observation.ports[usize::from(record.port)];
        for class in 0..8 {
            let Some(quanta) = record.what.pauses(class) else { continue };
            let lane = timeline_counters.entry((record.port, class)).or_default();
            let until = record.at + port.speed.pause(quanta);
            match lane.last_mut().filter(|(_, last)| *last >= record.at) {
                Some((_, last)) => *last = until,
                None if quanta > Quanta(0) => lane.push((record.at, until)),
                None => {}
            }
        }
    }
    let name = |port: u16, class: u8| {
        format!("device@{} class {class}", observation.ports[usize::from(port)].name)
    };
    timeline_counters.into_iter().map(|((port, class), lane)| (name(port, class), lane)).collect()
}

/// The counters worth a lane.
fn counters(observation: &Observation) -> Vec<(String, Steps)> {
    let mut timeline_counters = timeline_counters::changed(&observation.counters.samples);
    for (_, steps) in &mut timeline_counters {
        *steps = thinned(steps, observation.length);
    }
    timeline_counters
}

/// When the device sent PFC frames, evenly thinned, and how many.
fn dut_pfc(observation: &Observation) -> (Vec<Time>, u64) {
    let sent = observation.records.iter().filter(|record| {
        record.dir == Dir::Rx && matches!(record.what, What::Pfc { .. } | What::BadPfc { .. })
    });
    let all: Vec<Time> = sent.map(|record| record.at).collect();
    let every = all.len().div_ceil(MOST_STEPS).max(1);
    let sent = u64::try_from(all.len()).unwrap_or(u64::MAX);
    (all.into_iter().step_by(every).collect(), sent)
}

/// At most 400 of `steps`: of each two-hundredth of the trial the greatest and the last.
fn thinned(steps: &[(Time, u64)], length: Dur) -> Steps {
    if steps.len() <= MOST_STEPS {
        return steps.to_vec();
    }
    let stretch = Dur(length.0 / (MOST_STEPS as u64 / 2) + 1);
    steps
        .chunk_by(|a, b| a.0.elapsed() / stretch == b.0.elapsed() / stretch)
        .flat_map(|stretch| {
            let greatest = stretch.iter().copied().rev().max_by_key(|&(_, value)| value);
            let last = stretch.last().copied();
            let same = greatest == last;
            [greatest, last.filter(|_| !same)].into_iter().flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, PAUSE, Sample, TRANSIT};

    #[test]
    fn every_lane_shows_what_happened() {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(1) + Dur(1));
        sample.data(0, Dur::us(100), Some(Dur::us(100) + TRANSIT));
        sample.data(1, Dur::ms(1) + Dur::us(10), Some(Dur::ms(2)));
        sample.data(2, Dur::ms(1) + Dur::us(20), None);
        sample.pfc(Dur::us(1_300), 0, Dir::Rx, Quanta::MAX);
        sample.pfc(Dur::us(1_400), 0, Dir::Rx, Quanta(0));
        let (mut observation, script) = sample.done(Dur::ms(3));
        let at = |dur: Dur| Time::ZERO + dur;
        let received = (
            "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS".to_owned(),
            vec![(Time::ZERO, 5), (at(Dur::us(1_020)), 6)],
        );
        let idle = ("Ethernet4:3 SAI_QUEUE_STAT_PACKETS".to_owned(), vec![(Time::ZERO, 9)]);
        observation.counters.samples =
            crate::Samples { every: Dur::us(30), steps: vec![idle, received.clone()] };
        let marks = vec![(Time::ZERO + Dur::ms(2), "storm ends".to_owned())];
        let timeline = timeline(&observation, &script, 0, marks.clone());
        let storm = (at(Dur::ms(1) + CABLE), at(Dur::ms(1) + CABLE + PAUSE));
        let device = (at(Dur::us(1_300)), at(Dur::us(1_400)));
        assert_eq!(
            timeline.pauses,
            [
                ("storm@p2 class 3".to_owned(), vec![storm]),
                ("device@p1 class 3".to_owned(), vec![device]),
            ]
        );
        let held: Vec<u64> = timeline.held.iter().map(|step| step.1).collect();
        assert_eq!(held, [1, 0, 1, 2, 1], "the lost one stays");
        let delivered: Vec<u64> = timeline.delivered.iter().map(|step| step.1).collect();
        assert_eq!(delivered, [1, 2]);
        assert_eq!(timeline.dut_pfc, [at(Dur::us(1_300)), at(Dur::us(1_400))]);
        assert_eq!(timeline.dut_pfc_sent, 2);
        assert_eq!((timeline.counters, timeline.read_every), (vec![received], Dur::us(30)));
        assert_eq!((timeline.marks, timeline.length), (marks, Dur::ms(3)));
    }

    #[test]
    fn pfc_frames_that_are_too_many_to_draw_are_all_counted() {
        let mut sample = Sample::new();
        for n in 0..1_000 {
            sample.pfc(Dur::us(100 * n), 0, Dir::Rx, Quanta::MAX);
        }
        let (observation, script) = sample.done(Dur::ms(100));
        let timeline = timeline(&observation, &script, 0, Vec::new());
        assert_eq!((timeline.dut_pfc.len(), timeline.dut_pfc_sent), (334, 1_000));
    }

    #[test]
    fn a_long_lane_is_thinned_and_keeps_its_peak_and_its_end() {
        let steps: Steps = (0..10_000).map(|n| (Time(n * 100), n % 97)).collect();
        let thin = thinned(&steps, Dur(1_000_000));
        assert!(thin.len() <= MOST_STEPS && thin.len() > MOST_STEPS / 4, "{}", thin.len());
        assert_eq!(thin.last(), steps.last());
        assert_eq!(thin.iter().map(|step| step.1).max(), Some(96));
        assert!(thin.is_sorted_by_key(|step| step.0));
        assert_eq!(thinned(&steps[..400], Dur(1_000_000)), steps[..400]);
    }
}
