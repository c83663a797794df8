//! Rule `sending`: what a stream was to send by its own rhythm, beside what was counted of it at three places.
//!
//! It is about the rig alone: the rhythm runs while the stream is started, the link is up and no PFC frame that reached
//! the stream's port holds its class; after a pause it goes on from the instant it may, and does not make up for what it
//! missed (the sender's rule). A stream that sent fewer was not the stimulus that the case asked for.

use crate::{Dir, Observation, Record, Span, What};
use rig_testcases::{Action, Script, Tap};
use rig_units::{Dur, Time};

/// One stream in one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// Frames that its rhythm asks for; `None` where nothing shows for how long its port was paused.
    pub planned: Option<Span>,
    /// Sent by the rig.
    pub sent: u64,
    /// Received by the rig.
    pub received: u64,
    /// Of both, those that have a record of their own.
    pub recorded: u64,
}

/// What became of `stream`.
pub fn sending(observation: &Observation, script: &Script, stream: u16) -> Sending {
    let counts = observation.streams.get(usize::from(stream)).copied().unwrap_or_default();
    let own = observation
        .records
        .iter()
        .filter(|record| matches!(record.what, What::Data { stream: of, .. } if of == stream));
    Sending {
        planned: planned(observation, script, stream),
        sent: counts.sent,
        received: counts.received,
        recorded: u64::try_from(own.count()).unwrap_or(u64::MAX),
    }
}

/// From when until when a stream is to send, by its rhythm and by the pauses that it was asked for; `None` where these are not known, or
/// where it is not to send at all.
pub fn sends(observation: &Observation, script: &Script, stream: u16) -> Option<(Time, Time)> {
    let plan = plan(observation, script, stream)?;
    Some((plan.begin?, plan.due))
}

/// How many times as long as its frames are apart on the average a sender that goes on is silent at the most.
const SILENT: u64 = 20;

/// The same, to the last frame that was seen to be sent where that is later and none of those behind the rhythm's end came after a silence: a
/// sender that is late after each of many pauses has as much left when its rhythm would be over.
pub fn is_sent(observation: &Observation, script: &Script, stream: u16) -> Option<(Time, Time)> {
    let (begin, due) = sends(observation, script, stream)?;
    let spec = &script.streams[usize::from(stream)];
    let own = observation.of_stream(stream, (spec.from, Dir::Tx)).map(|(_, record)| record.at);
    let own: Vec<Time> = own.collect();
    let last = own.iter().copied().max().unwrap_or(due);
    let count = u64::try_from(own.len()).unwrap_or(u64::MAX).max(1);
    let silent = Dur(last.since(begin).unwrap_or_default().0 / count) * SILENT;
    let mut end = due;
    for at in own {
        if at > end && at <= end + silent {
            end = at;
        }
    }
    Some((begin, end))
}

/// What the rhythm of a stream asks for.
struct Plan {
    frames: u64,
    /// Times in which it may send.
    open: u64,
    /// When the first frame is due, and when the next one after the last would be.
    begin: Option<Time>,
    due: Time,
}

/// How many frames the rhythm asks for. At the end of each time in which the stream may send, frames of the port's other
/// senders may stand in its way, one of each, and an own one may be under way.
fn planned(observation: &Observation, script: &Script, stream: u16) -> Option<Span> {
    let spec = &script.streams[usize::from(stream)];
    let Plan { frames: count, open, .. } = plan(observation, script, stream)?;
    let others = (0..)
        .zip(&script.streams)
        .filter(|(index, other)| *index != stream && other.from == spec.from);
    let storms = script.storms.iter().filter(|storm| storm.from == spec.from);
    let slack = open * (1 + others.count() as u64 + storms.count() as u64);
    let hi = spec.count.map_or(count + slack, |most| most.min(count + slack));
    Some(Span { lo: count.saturating_sub(slack), hi })
}

/// See [`Plan`]; `None` where the pauses that the port was asked for are not known.
fn plan(observation: &Observation, script: &Script, stream: u16) -> Option<Plan> {
    let spec = &script.streams[usize::from(stream)];
    let deaf = !script.endpoint(spec.from).obeys(spec.class);
    // What a port makes of a malformed PFC frame nobody knows.
    let malformed = |record: &Record| {
        let bad = matches!(record.what, What::BadPfc { .. });
        bad && record.port == spec.from && record.dir == Dir::Rx
    };
    let unseen = script.tap(spec.from) < Tap::Pfc || observation.records.iter().any(malformed);
    if unseen && !deaf {
        return None;
    }
    let speed = observation.ports[usize::from(spec.from)].speed;
    let pace = spec.pace(speed);
    let mut plan = Plan { frames: 0, open: 0, begin: None, due: Time::ZERO };
    for (from, until) in may_send(observation, script, stream) {
        let most = spec.count.map_or(u64::MAX, |most| most - plan.frames);
        let start = plan.due.max(from);
        let Some(left) = until.since(start).filter(|left| *left > Dur::ZERO) else { continue };
        let frames = pace.within(left).min(most);
        if frames > 0 {
            plan.begin.get_or_insert(start);
            plan.due = start + pace.after(frames);
        }
        plan.frames += frames;
        plan.open += 1;
    }
    Some(plan)
}

/// The times in which a stream runs, its port's link is up and its class is open.
pub fn may_send(observation: &Observation, script: &Script, stream: u16) -> Vec<(Time, Time)> {
    let spec = &script.streams[usize::from(stream)];
    let end = Time::ZERO + script.length.min(observation.length);
    let mut changes: Vec<(Time, Change)> = Vec::new();
    for step in &script.steps {
        let change = match step.action {
            Action::StartStream(of) if of == stream => Change::Runs(true),
            Action::StopStream(of) if of == stream => Change::Runs(false),
            Action::LinkDown(port) if port == spec.from => Change::Link(false),
            Action::LinkUp(port) if port == spec.from => Change::Link(true),
            _ => continue,
        };
        changes.push((Time::ZERO + step.at, change));
    }
    let peer = script.endpoint(spec.from);
    let speed = observation.ports[usize::from(spec.from)].speed;
    for record in &observation.records {
        if record.port != spec.from || record.dir != Dir::Rx || !peer.obeys(spec.class) {
            continue;
        }
        let Some(quanta) = record.what.pauses(spec.class) else { continue };
        let until = record.at + speed.pause(quanta);
        changes.push((record.at + peer.response, Change::Closed(until)));
    }
    changes.sort_by_key(|&(at, _)| at);
    changes.push((end, Change::Runs(false)));
    let (mut runs, mut up, mut closed) = (false, true, Time::ZERO);
    let mut spans = Vec::new();
    let mut since = Time::ZERO;
    for (at, change) in changes {
        let at = at.min(end);
        let from = since.max(closed);
        if runs && up && from < at {
            spans.push((from, at));
        }
        since = at;
        match change {
            Change::Runs(on) => runs = on,
            // A link that goes forgets its pauses.
            Change::Link(on) => (up, closed) = (on, at),
            Change::Closed(until) => closed = until.max(at),
        }
    }
    spans
}

/// What bears on whether a stream may send.
#[derive(Debug, Clone, Copy)]
enum Change {
    Runs(bool),
    Link(bool),
    /// Its class is closed from now until then, whatever was said before.
    Closed(Time),
}

#[cfg(test)]
mod tests;
