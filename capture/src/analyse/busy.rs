//! What a port of the device was doing just before a frame: back-to-back frames leave open when the first of them could
//! have started, an idle wire does not.

use crate::passage::start;
use crate::{Dir, Observation, Record, Span};
use rig_units::{Dur, Quanta};
use std::ops::Range;

/// Since when a port of the device had been busy, for each frame that left by it.
pub(crate) struct Busy(Vec<(usize, u64)>);

impl Busy {
    /// Follows what left by the device's port behind the rig's `port`.
    ///
    /// Only recorded frames count: where load was left out of the records the port may have been busy for longer.
    pub(crate) fn of(observation: &Observation, port: u16) -> Busy {
        let trace = &observation.ports[usize::from(port)];
        let slack = trace.provenance.bound() * 2;
        let mut all: Vec<(usize, u64)> = Vec::new();
        let mut free_at = None;
        for (record, frame) in observation.records.iter().enumerate() {
            if frame.port != port || frame.dir != Dir::Rx {
                continue;
            }
            let size = frame.what.size();
            let follows = free_at.is_some_and(|free| free + trace.speed.slot(size) >= frame.at);
            let since = match all.last() {
                Some(&(_, since)) if follows => since,
                _ => start(trace, size, frame.at).lo,
            };
            all.push((record, since));
            free_at = Some(frame.at + slack);
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

/// When the device let go of a sender that it had paused, seen at the rig's port `port`, within `during`: the first XON,
/// or the first refresh that did not come. With the records that show it.
pub(crate) fn xon_or_silence(
    observation: &Observation,
    port: u16,
    class: u8,
    during: Range<u64>,
    refresh: Dur,
) -> Option<(Span, Vec<usize>)> {
    let trace = &observation.ports[usize::from(port)];
    let busy = Busy::of(observation, port);
    let started = |record: usize, frame: &Record| {
        let hi = start(trace, frame.what.size(), frame.at).hi;
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
                return Some((at, vec![xoff, record]));
            }
            _ if quanta == Quanta(0) => xoff = None,
            _ => xoff = Some((at, record)),
        }
    }
    let (last, record) = xoff?;
    // One more frame may have been on the wire when the refresh fell due.
    let longest = observation.records.iter().map(|frame| frame.what.size()).max()?;
    let due = last.hi + refresh.0 + trace.speed.slot(longest).0;
    let silent = due < during.end && last.hi > during.start;
    silent.then(|| (Span { lo: last.lo, hi: due }, vec![record]))
}
