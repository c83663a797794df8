//! Which records go into an evidence file: all of them, or windows around events when all would be too much.

use crate::{Dir, Observation, Record, What};
use rig_testcases::Roce;
use rig_units::{Quanta, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Above this many bytes a file keeps windows around events only.
pub(super) const LIMIT: u64 = 8_000_000;

/// With fewer neighbours than this on each side an event is hard to read: fewer events are shown instead.
const LEAST_REACH: usize = 8;

/// Bytes of a block around a frame: block header and trailer, interface, timestamp, lengths, direction, end of options.
const AROUND: u64 = 12 + 20 + 8 + 4;

/// The records that a file of at most `limit` bytes keeps, by time, and in how many windows. The cited ones are always
/// kept, and the first and last frames of the trial and of each stream; then the frames that begin, end or last prolong
/// a pause, or where they are too many the first and the last of them; then as many neighbours of all these as fit.
pub(super) fn select(observation: &Observation, cited: &[usize], limit: u64) -> (Vec<usize>, u64) {
    let records = &observation.records;
    if bytes(observation, &BTreeSet::from([(0, records.len())])) <= limit {
        return ((0..records.len()).collect(), 1);
    }
    let ends: BTreeSet<usize> = cited.iter().copied().chain(ends(observation)).collect();
    let edges = pause_edges(observation);
    let outer = edges.first().into_iter().chain(edges.last()).copied();
    let most: BTreeSet<usize> = ends.iter().copied().chain(edges.iter().copied()).collect();
    let fit = bytes(observation, &windows(&most, LEAST_REACH, records.len())) <= limit;
    let events = if fit { most } else { ends.iter().copied().chain(outer).collect() };
    let mut reach = records.len();
    let kept = loop {
        let kept = windows(&events, reach, records.len());
        if reach == 0 || bytes(observation, &kept) <= limit {
            break kept;
        }
        reach /= 2;
    };
    let count = u64::try_from(kept.len()).unwrap_or(u64::MAX);
    (kept.into_iter().flat_map(|(from, until)| from..until).collect(), count)
}

/// What the records in `windows` take in a file.
fn bytes(observation: &Observation, windows: &BTreeSet<(usize, usize)>) -> u64 {
    let block = |record: &Record| AROUND + record.on_wire().0.next_multiple_of(4);
    let kept = windows.iter().flat_map(|&(from, until)| &observation.records[from..until]);
    kept.map(block).sum()
}

/// Up to `reach` records on both sides of each event, windows that touch made one.
fn windows(events: &BTreeSet<usize>, reach: usize, len: usize) -> BTreeSet<(usize, usize)> {
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for &event in events {
        let (from, until) = (event.saturating_sub(reach), (event + reach + 1).min(len));
        match windows.last_mut() {
            Some((_, end)) if *end >= from => *end = until,
            _ => windows.push((from, until)),
        }
    }
    windows.into_iter().collect()
}

/// The first and the last frame of the trial, and of each stream in each direction.
fn ends(observation: &Observation) -> impl Iterator<Item = usize> {
    let mut ends: BTreeMap<(Option<u16>, Dir), (usize, usize)> = BTreeMap::new();
    for (index, record) in observation.records.iter().enumerate() {
        let stream = match record.what {
            What::Data { stream: connection, .. } | What::Roce(Roce { connection, .. }) => {
                Some(connection)
            }
            What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
        };
        ends.entry((stream, record.dir)).or_insert((index, index)).1 = index;
    }
    ends.into_values().flat_map(|(first, last)| [first, last])
}

/// Frames that begin a pause, end it, or are the last to prolong it.
fn pause_edges(observation: &Observation) -> Vec<usize> {
    let mut edges = Vec::new();
    let mut paused: BTreeMap<(u16, Dir, u8), (Time, usize)> = BTreeMap::new();
    for (index, record) in observation.records.iter().enumerate() {
        let What::Pfc { .. } = record.what else { continue };
        let speed = observation.ports[usize::from(record.port)].speed;
        for class in 0..8 {
            let Some(quanta) = record.what.pauses(class) else { continue };
            let place = (record.port, record.dir, class);
            let before = paused.get(&place).copied();
            let running = before.filter(|(until, _)| *until >= record.at);
            if running.is_none() || quanta == Quanta(0) {
                edges.extend(before.map(|(_, last)| last));
                edges.push(index);
            }
            if quanta == Quanta(0) {
                paused.remove(&place);
            } else {
                paused.insert(place, (record.at + speed.pause(quanta), index));
            }
        }
    }
    edges.extend(paused.into_values().map(|(_, last)| last));
    edges.sort_unstable();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, TRANSIT};
    use rig_units::Dur;

    fn long() -> Observation {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(300), Dur::ms(400));
        sample.probes(Dur::ZERO, Dur::ms(1_000), |sent| Some(sent + TRANSIT));
        sample.done(Dur::s(1)).0
    }

    #[test]
    fn a_small_capture_is_kept_whole() {
        let observation = long();
        let (kept, windows) = select(&observation, &[], LIMIT);
        assert_eq!((kept.len(), windows), (observation.records.len(), 1));
    }

    #[test]
    fn a_large_one_keeps_windows_around_its_events() {
        let observation = long();
        let cited = 3_000;
        let (kept, windows) = select(&observation, &[cited], 200_000);
        assert!(kept.contains(&cited) && kept.contains(&(cited + 1)), "a neighbour as well");
        assert!(kept.contains(&0) && kept.contains(&(observation.records.len() - 1)));
        assert!((3..10).contains(&windows), "{windows}");
        let all = kept.iter().map(|&at| (at, at + 1)).collect();
        assert!(bytes(&observation, &all) <= 200_000);
        assert!(kept.is_sorted() && kept.len() > 100, "{}", kept.len());
        let xoffs: Vec<usize> = pause_edges(&observation);
        assert_eq!(xoffs.len(), 2, "the first and the last XOFF");
        assert!(xoffs.iter().all(|xoff| kept.contains(xoff)));
    }

    #[test]
    fn of_too_many_pauses_the_first_and_the_last_are_shown() {
        let mut sample = Sample::new();
        for ms in 100..900 {
            sample.pfc(Dur::ms(ms), 1, Dir::Tx, Quanta::MAX);
        }
        sample.probes(Dur::ZERO, Dur::ms(1_000), |sent| Some(sent + TRANSIT));
        let observation = sample.done(Dur::s(1)).0;
        let (kept, windows) = select(&observation, &[], 200_000);
        assert!((2..10).contains(&windows), "{windows}");
        let edges = pause_edges(&observation);
        assert!(kept.contains(&edges[0]) && kept.contains(&edges[edges.len() - 1]));
    }

    #[test]
    fn what_is_cited_is_kept_whatever_the_limit() {
        let observation = long();
        let (kept, _) = select(&observation, &[17, 1_000], 0);
        assert!(kept.contains(&17) && kept.contains(&1_000));
        assert!(kept.len() < 12, "{kept:?}");
    }

    #[test]
    fn an_empty_observation_has_nothing_to_keep() {
        let (observation, _) = Sample::new().done(Dur::ms(1));
        assert_eq!(select(&observation, &[], LIMIT).0, [0; 0]);
    }
}
