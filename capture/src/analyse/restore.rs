//! Rule `pfcwd.restoration`: the end of the watchdog's action, from the data plane alone.
//!
//! - Drop: between the last frame that the device took in and lost and the next one that came through.
//! - Forward: the device sends no PFC for the stormed port and class while it acts. Its first XOFF towards that port
//!   after the storm, from a stream that fills the priority group, shows that it does again.
//! - Alert: only the device's own events tell.

use super::busy::Busy;
use super::fire::by_event;
use super::{ActionView, Sighting};
use crate::fate::Fates;
use crate::passage::{Passage, start};
use crate::pause::next_storm;
use crate::{Dir, DutEventKind, Observation, Span};
use rig_testcases::{Script, WatchdogAction};
use rig_units::{Quanta, Time};

/// When the device ended the action that it took on the queue that `storm` paused, as `stream` shows it.
///
/// `acted` is when the action began, `after` the instant from which its end is looked for: the storm's pause end, or
/// for a rule that ends it storm or not the start of the action.
pub fn restored(
    observation: &Observation,
    script: &Script,
    storm: u16,
    stream: u16,
    view: &ActionView,
    (acted, after): (Span, Time),
) -> Sighting {
    let port = script.storms[usize::from(storm)].from;
    let spec = &script.streams[usize::from(stream)];
    // A later storm begins another story.
    let until = next_storm(script, port, spec.class, after.max(Time(acted.hi)))
        .unwrap_or(Time::ZERO + observation.length);
    let fates = Fates::of(observation, script, stream, view.delays());
    let window = Window { acted, after, until };
    match view.action {
        WatchdogAction::Drop => by_probe(&fates, window),
        WatchdogAction::Forward if spec.from == port => {
            by_pfc(observation, port, spec.class, &fates, window)
        }
        WatchdogAction::Forward => {
            let why = "the end of the forward action shows only in the device's PFC towards the \
                       stormed port, and the stream does not come from there";
            Sighting::NotObservable(why.to_owned())
        }
        WatchdogAction::Alert => {
            by_event(observation, port, spec.class, after, DutEventKind::Restore)
        }
    }
}

/// Where to look.
#[derive(Debug, Clone, Copy)]
struct Window {
    acted: Span,
    after: Time,
    until: Time,
}

/// Between the last lost probe and the next delivered one.
fn by_probe(fates: &Fates<'_>, window: Window) -> Sighting {
    let Window { acted, after, until } = window;
    let arrival = |passage: &Passage| fates.way.arrival(passage.sent.at);
    let probes = &fates.passages.all;
    let mut later = (0..probes.len()).filter(|&at| {
        let arrival = arrival(&probes[at]);
        arrival.lo >= after.0 && arrival.hi < until.0 && !fates.open(&probes[at])
    });
    let Some(first) = later.next() else {
        return Sighting::NotObservable("no frame of the stream was sent afterwards".to_owned());
    };
    let delivered = |at: &usize| probes[*at].received.is_some();
    let Some(through) = [first].into_iter().chain(later).find(delivered) else {
        return Sighting::Never;
    };
    let lost = (0..through)
        .rev()
        .find(|&at| fates.lost(&probes[at]) && arrival(&probes[at]).hi >= acted.lo);
    let Some(lost) = lost else {
        let why = "no frame of the stream was lost, so the end of the action does not show";
        return Sighting::NotObservable(why.to_owned());
    };
    // The frame right after the last lost one; it came through, perhaps held until the storm's end.
    let next = &probes[lost + 1];
    let span = Span { lo: arrival(&probes[lost]).lo, hi: fates.way.ready(next.sent.at).hi };
    let received = next.received.map(|received| received.record);
    let frames = [Some(probes[lost].sent.record), Some(next.sent.record), received];
    Sighting::At { span, frames: frames.into_iter().flatten().collect() }
}

/// Between the last frame lost to a full group that sent no XOFF and the first XOFF.
fn by_pfc(
    observation: &Observation,
    port: u16,
    class: u8,
    fates: &Fates<'_>,
    window: Window,
) -> Sighting {
    let Window { after, until, .. } = window;
    let trace = &observation.ports[usize::from(port)];
    let busy = Busy::of(observation, port);
    let span_of = |record: usize| {
        let frame = &observation.records[record];
        let hi = start(trace, frame.on_wire(), frame.at).hi;
        Span { lo: busy.since(record).min(hi), hi }
    };
    let xoff = observation.records.iter().enumerate().find(|(record, frame)| {
        let pauses = frame.what.pauses(class).is_some_and(|quanta| quanta > Quanta(0));
        pauses
            && (frame.port, frame.dir) == (port, Dir::Rx)
            && span_of(*record).hi > after.0
            && frame.at < until
    });
    let seen = xoff.map(|(record, _)| (span_of(record), record));
    let limit = seen.map_or(until.0, |(span, _)| span.lo);
    let full = fates.passages.all.iter().rev().find(|passage| {
        let arrival = fates.way.arrival(passage.sent.at);
        fates.lost(passage) && arrival.hi < limit && arrival.hi > after.0
    });
    match (seen, full) {
        (Some((xoff, record)), Some(full)) => Sighting::At {
            span: Span { lo: fates.way.arrival(full.sent.at).lo, hi: xoff.hi },
            frames: vec![full.sent.record, record],
        },
        // Nothing says that the group was full before: it may have filled only now.
        (Some((xoff, record)), None) => {
            let lo = window.acted.hi.min(xoff.lo);
            Sighting::At { span: Span { lo, hi: xoff.hi }, frames: vec![record] }
        }
        (None, Some(_)) => Sighting::Never,
        (None, None) => {
            let why = "after the storm the stream never filled its priority group";
            Sighting::NotObservable(why.to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
