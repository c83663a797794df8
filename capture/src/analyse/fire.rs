//! Rules `pfcwd.detection` and `pfcwd.fired`: the instant of the watchdog's action, from the data plane alone.
//!
//! - Forward, and drop where the backlog drains: the frames that the queue held leave while the pause still runs. The
//!   first frame of the stream that no obedient queue could have started then is the action.
//! - Drop where nothing leaves: the emptied queue lets go of a sender whose priority group was past XOFF; the XON
//!   towards that sender, or the missing refresh of its XOFF, is the action. Without either, the first lost frame still
//!   shows that there was one.
//! - Alert: only the device's own events tell.

use super::busy::{Busy, xon_or_silence};
use super::{ActionView, Coverage, Sighting, coverage};
use crate::fate::Fates;
use crate::passage::{Passage, Sight};
use crate::pause::{Pause, next_storm, pauses};
use crate::{DutEventKind, Observation, Span};
use rig_testcases::{Backlog, Script, WatchdogAction};
use rig_units::{Dur, PortSpeed, Quanta, Time};

/// When the watchdog acted on the queue that `storm` paused, as `stream` shows it.
pub fn fired(
    observation: &Observation,
    script: &Script,
    storm: u16,
    stream: u16,
    view: &ActionView,
) -> Sighting {
    let spec = &script.streams[usize::from(stream)];
    let Some(storm) = coverage(observation, script, storm, spec.class) else {
        return Sighting::Void("no XOFF of the storm was recorded".to_owned());
    };
    if view.action == WatchdogAction::Alert {
        let since = Time(storm.first_xoff.lo);
        return by_event(observation, spec.to, spec.class, since, DutEventKind::Storm);
    }
    let over = next_storm(script, spec.to, spec.class, Time(storm.last_xoff.hi));
    let pauses: Vec<Pause> = pauses(observation, spec.to, spec.class)
        .into_iter()
        .filter(|pause| pause.last >= storm.first_record && pause.first <= storm.last_record)
        .map(|pause| shorter(pause, view, observation.ports[usize::from(spec.to)].speed))
        .collect();
    let scene = Scene {
        observation,
        script,
        stream,
        fates: Fates::of(observation, script, stream, view.delays()),
        pauses,
        storm,
        over: over.unwrap_or(Time::ZERO + observation.length),
        view,
    };
    scene.fired()
}

/// The part of a pause that surely was one by the device's clock, whatever the last frame of it asked for.
fn shorter(pause: Pause, view: &ActionView, speed: PortSpeed) -> Pause {
    let sooner = Dur(view.apart.part(speed.pause(Quanta::MAX).0));
    Pause { until: pause.until.saturating_sub(sooner).max(pause.from), ..pause }
}

/// The first event of `kind` for a class of the device's port behind rig port `port` that may have been at or after `since`: where its
/// clock surely has it.
pub fn by_event(
    observation: &Observation,
    port: u16,
    class: u8,
    since: Time,
    kind: DutEventKind,
) -> Sighting {
    let Some(events) = &observation.events else {
        let why = "the alert action leaves no trace on the wire, and the device offers no events";
        return Sighting::NotObservable(why.to_owned());
    };
    let name = &observation.ports[usize::from(port)].dut_port;
    let first = events.iter().find(|event| {
        let own = event.kind == kind && event.class == class && event.port == *name;
        own && event.at + event.off >= since
    });
    first.map_or(Sighting::Never, |event| {
        let span = Span { lo: event.at.saturating_sub(event.off).0, hi: (event.at + event.off).0 };
        Sighting::At { span, frames: Vec::new() }
    })
}

/// One stream that meets one storm.
struct Scene<'a> {
    observation: &'a Observation,
    script: &'a Script,
    stream: u16,
    fates: Fates<'a>,
    pauses: Vec<Pause>,
    storm: Coverage,
    /// When the next storm begins.
    over: Time,
    view: &'a ActionView,
}

impl Scene<'_> {
    fn fired(&self) -> Sighting {
        if let Some(seen) = self.release() {
            return seen;
        }
        let drop = self.view.action == WatchdogAction::Drop;
        if drop && self.view.backlog == Backlog::Discarded {
            let sender = self.script.streams[usize::from(self.stream)].from;
            let class = self.script.streams[usize::from(self.stream)].class;
            let during = self.storm.first_xoff.hi..self.storm.pause_end.lo;
            let seen = xon_or_silence(
                self.observation,
                (sender, class),
                during,
                (self.view.refresh, self.view.resumption),
            );
            if let Some((span, frames)) = seen {
                return Sighting::At { span, frames: self.with_storm(&frames) };
            }
        }
        let met = self.fates.passages.all.iter().any(|passage| self.meets_the_storm(passage));
        if !met {
            let why = "no frame of the stream reached the device while the storm ran";
            return Sighting::NotObservable(why.to_owned());
        }
        if !drop {
            return Sighting::Never;
        }
        self.first_loss().unwrap_or(Sighting::Never)
    }

    /// The first frame that left although its class was paused.
    fn release(&self) -> Option<Sighting> {
        let mut arrived: Vec<(Sight, &Passage)> = self
            .fates
            .passages
            .all
            .iter()
            .filter_map(|passage| passage.received.map(|received| (received, passage)))
            .collect();
        arrived.sort_by_key(|(received, _)| (received.at, received.record));
        let (at, pause) = arrived.iter().enumerate().find_map(|(index, (received, _))| {
            let start = self.fates.way.start(received.at);
            // An obedient queue may still start a frame within its response time.
            let pause = self.running(start).filter(|pause| self.obeyed(pause, start));
            pause.map(|pause| (index, pause))
        })?;
        let (received, passage) = arrived[at];
        let to = self.script.streams[usize::from(self.stream)].to;
        let start = self.fates.way.start(received.at);
        // The port may have been busy with frames of other classes when the action began.
        let busy = Busy::shaped(self.observation, to, self.view.shaper);
        let busy = busy.since(received.record).max(pause.from.0);
        let held = self.fates.way.ready(passage.sent.at).hi < busy;
        let lo = if held { busy } else { self.last_obeyed(&arrived[..at]) };
        let frames = [passage.sent.record, received.record];
        let span = Span { lo: lo.min(start.lo), hi: start.hi };
        Some(Sighting::At { span, frames: self.with_storm(&frames) })
    }

    /// Until when the queue surely obeyed: the end of the last pause that held one of `arrived` back.
    fn last_obeyed(&self, arrived: &[(Sight, &Passage)]) -> u64 {
        let held_until = |(received, passage): &(Sight, &Passage)| {
            let over = |at: u64| self.pauses.partition_point(|pause| pause.until.0 <= at);
            let (ready, start) =
                (self.fates.way.ready(passage.sent.at), self.fates.way.start(received.at));
            // The last pause that ended between the two.
            let last = over(start.hi).checked_sub(1)?;
            (over(ready.hi) <= last).then(|| self.pauses[last].until.0)
        };
        arrived.iter().filter_map(held_until).max().unwrap_or(self.storm.first_xoff.lo)
    }

    /// Whether the frame was ready to leave while its class was paused and the device could no longer start it.
    fn meets_the_storm(&self, passage: &Passage) -> bool {
        let ready = self.fates.way.ready(passage.sent.at);
        self.running(ready).is_some_and(|pause| self.obeyed(pause, ready))
    }

    /// The pause that runs at the end of `at`, if one does.
    fn running(&self, at: Span) -> Option<&Pause> {
        let pause = self.pauses.get(self.pauses.partition_point(|pause| pause.until.0 <= at.hi))?;
        (pause.from.0 <= at.hi).then_some(pause)
    }

    /// Whether an obedient queue starts no frame at any instant of `at`, in which `pause` runs.
    fn obeyed(&self, pause: &Pause, at: Span) -> bool {
        at.lo > (pause.from + self.view.response).0 && at.hi < pause.until.0
    }

    /// The first frame since the storm began that the device lost.
    fn first_loss(&self) -> Option<Sighting> {
        let lost = self.fates.passages.all.iter().position(|passage| {
            self.fates.lost(passage)
                && self.fates.way.arrival(passage.sent.at).lo >= self.storm.first_xoff.lo
                && self.fates.way.ready(passage.sent.at).hi < self.over.0
        })?;
        let passage = &self.fates.passages.all[lost];
        let before = self.fates.passages.all[..lost].last();
        let before = before.map_or(0, |before| self.fates.way.arrival(before.sent.at).lo);
        let dropped_on_arrival = self.fates.way.ready(passage.sent.at).hi;
        // A frame that a discarding queue held is lost at any instant until it could have left.
        let hi = match self.view.backlog {
            Backlog::Drains => dropped_on_arrival,
            Backlog::Discarded => dropped_on_arrival.max(self.storm.pause_end.hi),
        };
        let span = Span { lo: before.max(self.storm.first_xoff.lo), hi };
        Some(Sighting::At { span, frames: self.with_storm(&[passage.sent.record]) })
    }

    /// Evidence: the storm's first XOFF, then `frames`.
    fn with_storm(&self, frames: &[usize]) -> Vec<usize> {
        [&[self.storm.first_record], frames].concat()
    }
}

#[cfg(test)]
mod tests;
