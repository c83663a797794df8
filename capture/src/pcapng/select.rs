//! Which records go into an evidence file: every frame that is worth a look of its own, and of loads as much as fits,
//! around events when all would be too much.

use super::snap;
use crate::{Dir, Observation, Record, What};
use rig_frames::ip::Ecn;
use rig_testcases::{Roce, RoceKind, Script, StreamRate};
use rig_units::{Quanta, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Above this many bytes of frames of loads a file keeps windows around events only.
pub(super) const LIMIT: u64 = 1_000_000;

/// With fewer neighbours than this on each side an event is hard to read: fewer events are shown instead.
const LEAST_REACH: usize = 8;

/// Bytes of a block around a frame: block header and trailer, interface, timestamp, lengths, direction, end of options.
const AROUND: u64 = 12 + 20 + 8 + 4;

/// The records that a file keeps, by time, and in how many windows those of loads. Always: what a verdict counts one by
/// one (PFC, CNPs, marks, answers, probes, frames that broke), the cited ones, and the first and last frames of the trial
/// and of each stream. Of loads all, or at most `limit` bytes: around the frames that begin, end or last prolong a pause,
/// or where they are too many the first and the last of them, as many neighbours as fit.
pub(super) fn select(
    observation: &Observation,
    script: &Script,
    cited: &[usize],
    limit: u64,
) -> (Vec<usize>, u64) {
    let records = &observation.records;
    let load: Vec<bool> = records.iter().map(|record| is_load(record, script)).collect();
    let bytes = |windows: &BTreeSet<(usize, usize)>| -> u64 {
        let all = windows.iter().flat_map(|&(from, until)| from..until);
        all.filter(|&index| load[index]).map(|index| block(&records[index], script)).sum()
    };
    let whole = BTreeSet::from([(0, records.len())]);
    if bytes(&whole) <= limit {
        return ((0..records.len()).collect(), 1);
    }
    let ends: BTreeSet<usize> = cited.iter().copied().chain(ends(observation)).collect();
    let edges = pause_edges(observation);
    let outer = edges.first().into_iter().chain(edges.last()).copied();
    let most: BTreeSet<usize> = ends.iter().copied().chain(edges.iter().copied()).collect();
    let fit = bytes(&windows(&most, LEAST_REACH, records.len())) <= limit;
    let events = if fit { most } else { ends.iter().copied().chain(outer).collect() };
    let mut reach = records.len();
    let kept = loop {
        let kept = windows(&events, reach, records.len());
        if reach == 0 || bytes(&kept) <= limit {
            break kept;
        }
        reach /= 2;
    };
    let count = u64::try_from(kept.len()).unwrap_or(u64::MAX);
    let mut shown: Vec<bool> = load.iter().map(|load| !load).collect();
    for (from, until) in kept {
        shown[from..until].fill(true);
    }
    let shown = shown.into_iter().enumerate().filter_map(|(index, shown)| shown.then_some(index));
    (shown.collect(), count)
}

/// Whether a frame is one of many that only their sum says something of.
fn is_load(record: &Record, script: &Script) -> bool {
    let corrupt = record.secured.is_some_and(|secured| secured.tamper.is_some());
    match record.what {
        _ if corrupt => false,
        What::Data { ce: true, .. } => false,
        What::Data { stream, .. } => {
            let spec = script.streams.get(usize::from(stream));
            !spec.is_some_and(|spec| matches!(spec.rate, StreamRate::Every(_)))
        }
        What::Roce(Roce { kind: RoceKind::Data { .. }, ecn, corrupt, .. }) => {
            ecn != Ecn::Ce && !corrupt
        }
        What::BlueRdma(frame) => frame.is_data() && !frame.is_retry,
        What::Roce(_) | What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => false,
    }
}

/// What a record takes in a file.
fn block(record: &Record, script: &Script) -> u64 {
    let frame =
        u64::try_from(snap::kept(record, script)).unwrap_or(u64::MAX).min(record.on_wire().0);
    AROUND + frame.next_multiple_of(4)
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
            What::Data { stream, .. } => Some(stream),
            what => what.connection(),
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
    use rig_units::{Dur, Rate};

    /// A storm amid frames of a stream.
    fn long() -> (Observation, Script) {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(300), Dur::ms(400));
        sample.probes(Dur::ZERO, Dur::ms(1_000), |sent| Some(sent + TRANSIT));
        sample.done(Dur::s(1))
    }

    /// The same, where the stream is a load.
    fn loaded() -> (Observation, Script) {
        let (observation, mut script) = long();
        script.streams[0].rate = StreamRate::Load("16Mbps-L2".parse::<Rate>().expect("a rate"));
        (observation, script)
    }

    fn is_pfc(record: &Record) -> bool {
        matches!(record.what, What::Pfc { .. })
    }

    #[test]
    fn a_small_capture_is_kept_whole() {
        let (observation, script) = loaded();
        let (kept, windows) = select(&observation, &script, &[], LIMIT);
        assert_eq!((kept.len(), windows), (observation.records.len(), 1));
    }

    #[test]
    fn probes_are_kept_whatever_the_limit() {
        let (observation, script) = long();
        let (kept, _) = select(&observation, &script, &[], 0);
        assert_eq!(kept.len(), observation.records.len());
    }

    #[test]
    fn of_a_large_load_windows_around_events_are_kept_and_every_pfc_frame() {
        let (observation, script) = loaded();
        let cited = 3_000;
        let (kept, windows) = select(&observation, &script, &[cited], 100_000);
        assert!(kept.contains(&cited) && kept.contains(&(cited + 1)), "a neighbour as well");
        assert!(kept.contains(&0) && kept.contains(&(observation.records.len() - 1)));
        assert!((3..10).contains(&windows), "{windows}");
        assert!(kept.is_sorted() && kept.len() < observation.records.len());
        let load = kept.iter().map(|&at| &observation.records[at]).filter(|record| !is_pfc(record));
        assert!(load.map(|record| block(record, &script)).sum::<u64>() <= 100_000);
        let pfc = |(at, record): (usize, &Record)| is_pfc(record).then_some(at);
        let mut pfcs = observation.records.iter().enumerate().filter_map(pfc);
        assert!(pfcs.clone().count() > 500 && pfcs.all(|at| kept.binary_search(&at).is_ok()));
    }

    #[test]
    fn a_mark_and_a_wrong_frame_of_a_load_are_kept() {
        let (mut observation, script) = loaded();
        let load = |record: &Record| !is_pfc(record);
        let at = observation.records.iter().position(load).expect("a load") + 3_001;
        let at = at + usize::from(is_pfc(&observation.records[at]));
        let What::Data { ce, .. } = &mut observation.records[at].what else { panic!("a load") };
        *ce = true;
        assert!(select(&observation, &script, &[], 0).0.contains(&at));
    }

    #[test]
    fn what_is_cited_is_kept_whatever_the_limit() {
        let (observation, script) = loaded();
        let (kept, _) = select(&observation, &script, &[17, 1_000], 0);
        assert!(kept.contains(&17) && kept.contains(&1_000));
    }
}
