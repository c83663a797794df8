//! What a port of the device was doing just before a frame: back-to-back frames leave open when the first of them could
//! have started, an idle wire does not.

use crate::passage::start;
use crate::{Dir, Observation, Record, Span, What};
use rig_units::{Bytes, Dur, L2Rate, Quanta};
use std::collections::VecDeque;
use std::ops::Range;

/// Since when a port of the device had been busy, for each frame that left by it.
pub(crate) struct Busy(Vec<(usize, u64)>);

impl Busy {
    /// Follows what left by the device's port behind the rig's `port`. While a load arrives there that was not recorded
    /// whole, the port counts as busy.
    pub(crate) fn of(observation: &Observation, port: u16) -> Busy {
        Busy::shaped(observation, port, None)
    }

    /// The same of what a shaper holds back: a port that may not send yet, because of what it has sent, is not idle. PFC passes a
    /// shaper by.
    pub(crate) fn shaped(observation: &Observation, port: u16, shaper: Option<L2Rate>) -> Busy {
        let loads = loads(observation, port);
        let trace = &observation.ports[usize::from(port)];
        let takes = |size: Bytes| {
            let shaped = shaper.map_or(Dur::ZERO, |rate| rate.serialise(size));
            trace.speed.slot(size).max(shaped)
        };
        // It is a frame's own length, or that of the one before, that a shaper makes the next one wait for.
        let own = observation.records.iter().filter(|one| (one.port, one.dir) == (port, Dir::Rx));
        let longest = own.map(Record::on_wire).max().filter(|_| shaper.is_some());
        let slack = trace.provenance.bound() * 2 + longest.map_or(Dur::ZERO, takes);
        let slack = i128::from(slack.0);
        let (mut all, mut starts): (Vec<(usize, u64)>, Vec<u64>) = (Vec::new(), Vec::new());
        // Of frames back to back each arrives a slot after the one before: the time of arrival less all slots so far stands
        // still. Where it grows the wire was idle; by how much it may seem to grow on a busy wire, the stamps say.
        let mut slots: i128 = 0;
        let mut before = None;
        // The least of it among the frames that may be back to back with this one, and what comes to be the least later.
        let mut least: VecDeque<(usize, i128)> = VecDeque::new();
        let mut first = 0;
        for (record, frame) in observation.records.iter().enumerate() {
            if frame.port != port || frame.dir != Dir::Rx {
                continue;
            }
            let size = frame.on_wire();
            slots += i128::from(takes(size).0);
            let mut idle = i128::from(frame.at.0) - slots;
            let loaded = loads.iter().any(|load| load.contains(&record));
            if let Some(before) = before.filter(|&before| loaded && idle > before) {
                slots += idle - before;
                idle = before;
            }
            before = Some(idle);
            while let Some((index, _)) = least.pop_front_if(|&mut (_, least)| idle - least > slack)
            {
                first = index + 1;
            }
            while least.pop_back_if(|&mut (_, other)| other >= idle).is_some() {}
            least.push_back((all.len(), idle));
            starts.push(start(trace, size, frame.at).lo);
            all.push((record, starts[first]));
        }
        Busy(all)
    }

    /// The earliest start of the frames that left back to back, up to and with the one received as `record`. A device
    /// that had a frame ready and was allowed to send it would have done so before.
    pub(crate) fn since(&self, record: usize) -> u64 {
        let at = self.0.binary_search_by_key(&record, |&(record, _)| record);
        at.map_or(0, |at| self.0[at].1)
    }
}

/// The records between the first and the last frame that the rig received at `port` of each load that was not recorded
/// whole; the first is not in it, for nothing of the load was there before.
fn loads(observation: &Observation, port: u16) -> Vec<Range<usize>> {
    let streams = 0..u16::try_from(observation.streams.len()).unwrap_or(u16::MAX);
    let loads = streams.filter(|&stream| observation.partial(stream)).filter_map(|stream| {
        let own = |(_, frame): &(usize, &Record)| {
            let of_stream = matches!(frame.what, What::Data { stream: of, .. } if of == stream);
            of_stream && (frame.port, frame.dir) == (port, Dir::Rx)
        };
        let (first, _) = observation.records.iter().enumerate().find(own)?;
        let (last, _) = observation.records.iter().enumerate().rev().find(own)?;
        Some(first + 1..last + 1)
    });
    loads.collect()
}

/// When the device let go of a sender that it had paused, seen at the rig's port `port`, within `during`: the first XON,
/// which the device may have taken its time for, or the first refresh that did not come. With the records that show it.
pub(crate) fn xon_or_silence(
    observation: &Observation,
    (port, class): (u16, u8),
    during: Range<u64>,
    (refresh, resumption): (Dur, Dur),
) -> Option<(Span, Vec<usize>)> {
    let trace = &observation.ports[usize::from(port)];
    let busy = Busy::of(observation, port);
    let started = |record: usize, frame: &Record| {
        let hi = start(trace, frame.on_wire(), frame.at).hi;
        Span { lo: busy.since(record).min(hi), hi }
    };
    let mut xoff: Option<(Span, usize)> = None;
    for (record, frame) in observation.records.iter().enumerate() {
        if frame.port != port || frame.dir != Dir::Rx {
            continue;
        }
        let Some(quanta) = frame.what.pauses(class) else { continue };
        let at = started(record, frame);
        if at.hi >= during.end {
            break;
        }
        match xoff {
            Some((_, xoff)) if quanta == Quanta(0) && at.lo > during.start => {
                let lo = at.lo.saturating_sub(resumption.0);
                return Some((Span { lo, ..at }, vec![xoff, record]));
            }
            _ if quanta == Quanta(0) => xoff = None,
            _ => xoff = Some((at, record)),
        }
    }
    let (last, record) = xoff?;
    // One more frame may have been on the wire when the refresh fell due.
    let longest = observation.records.iter().map(Record::on_wire).max()?;
    let due = last.hi + refresh.0 + trace.speed.slot(longest).0;
    let silent = due < during.end && last.hi > during.start;
    silent.then(|| (Span { lo: last.lo, hi: due }, vec![record]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn idle_wire_shows_only_where_all_frames_were_recorded() {
        let mut sample = Sample::new();
        for seq in 0..10_u32 {
            sample.data(seq, Dur::us(10) * u64::from(seq), Some(Dur::us(10) * u64::from(seq + 1)));
        }
        let (mut observation, _) = sample.done(Dur::ms(1));
        let arrivals: Vec<usize> = (0..observation.records.len())
            .filter(|&record| observation.records[record].dir == Dir::Rx)
            .collect();
        let whole = Busy::of(&observation, 1);
        assert!(arrivals.windows(2).all(|pair| whole.since(pair[0]) < whole.since(pair[1])));
        observation.streams[0].received += 1;
        observation.integrity.unrecorded = 1;
        let partial = Busy::of(&observation, 1);
        let since: Vec<u64> = arrivals.iter().map(|&record| partial.since(record)).collect();
        assert_eq!(since, [whole.since(arrivals[0]); 10]);
    }

    #[test]
    fn frames_now_and_then_keep_no_port_busy_however_rough_their_stamps() {
        let bound = Dur::ms(1);
        let mut sample = Sample::new();
        sample.provenance = crate::Provenance::Software { bound };
        sample.probes(Dur::ZERO, Dur::ms(100), |sent| Some(sent + Dur::us(3)));
        let (observation, _) = sample.done(Dur::ms(200));
        let busy = Busy::of(&observation, 1);
        let arrivals = observation.records.iter().enumerate();
        for (record, frame) in arrivals.filter(|(_, frame)| frame.dir == Dir::Rx) {
            let since = busy.since(record);
            // Two bounds may hide a gap; the start of the first frame is off by one more.
            assert!(frame.at.0 - since <= (bound * 3 + Dur::us(501)).0, "{record}");
        }
    }

    #[test]
    fn a_port_that_waits_for_its_shaper_is_not_idle() {
        let rate = L2Rate { bps: 300_000_000 };
        // 1024 B at 300 Mb/s take 27.3 us.
        let size = Bytes(crate::sample::SIZE.into());
        let takes = rate.serialise(size);
        assert_eq!(takes, Dur(27_306_667));
        for (gap, shaper, one) in [
            (takes, Some(rate), true),
            (takes * 2, Some(rate), true),
            (takes * 2 + Dur(1), Some(rate), false),
            (takes, None, false),
        ] {
            let mut sample = Sample::new();
            sample.data(0, Dur::us(1), Some(Dur::us(10)));
            sample.data(1, Dur::us(2), Some(Dur::us(10) + gap));
            let (observation, _) = sample.done(Dur::ms(1));
            let busy = Busy::shaped(&observation, 1, shaper);
            let own = |record: &usize| observation.records[*record].dir == Dir::Rx;
            let arrivals: Vec<usize> = (0..observation.records.len()).filter(own).collect();
            let [first, second] = [arrivals[0], arrivals[1]].map(|record| busy.since(record));
            assert_eq!(first == second, one, "{gap} {shaper:?}");
        }
    }

    #[test]
    fn frames_back_to_back_are_one_chain_however_long_and_the_first_gap_ends_it() {
        let slot = rig_units::PortSpeed::G100.slot(Bytes(crate::sample::SIZE.into()));
        for (gap, whole) in [(Dur::ZERO, true), (Dur(1), false)] {
            let mut sample = Sample::new();
            for seq in 0..100 {
                let late = if seq >= 50 { gap } else { Dur::ZERO };
                let at = Dur::us(10) + slot * u64::from(seq) + late;
                sample.data(seq, Dur::us(1), Some(at));
            }
            let (observation, _) = sample.done(Dur::ms(1));
            let busy = Busy::of(&observation, 1);
            let arrivals: Vec<usize> = (0..observation.records.len())
                .filter(|&record| observation.records[record].dir == Dir::Rx)
                .collect();
            let [first, last] = [arrivals[0], arrivals[99]].map(|record| busy.since(record));
            assert_eq!(first == last, whole);
        }
    }
}
