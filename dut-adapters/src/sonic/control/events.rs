//! What the watchdogs of the rig's ports did, from what the switch publishes: when, with what is known of that; and that nothing of
//! it was missed, by what orchagent counts.

use super::super::link::{Db, Link};
use super::heard::{Listener, Message};
use crate::control::Lost;
use rig_capture::{DutEvent, DutEventKind};
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Switch};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// What orchagent counts of each queue.
const COUNTED: &str = "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED";
/// A stamp that is older than this was not made by the scripts that publish: an image may have left it off.
const STALE: Dur = Dur::s(10);

/// A queue of one of the rig's ports.
#[derive(Debug)]
struct Queue {
    port: u16,
    class: u8,
    /// How many storms orchagent had counted before anything was heard, and how many were heard since.
    counted: Option<u64>,
    heard: u64,
    /// The last that was heard of it.
    last: Option<(DutEventKind, Span)>,
}

/// Between which two instants of the rig's clock something happened.
type Span = (Mono, Mono);

/// Somebody who listens to these ports.
#[derive(Debug)]
pub(super) struct Ears {
    listener: Listener,
    /// By their objects.
    queues: BTreeMap<String, Queue>,
    /// Whether the big red switch was on: it is counted as storms that nobody detected, and publishes none.
    red: bool,
}

impl Ears {
    /// From now on what these ports' watchdogs do is heard.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn open(at: &RedisAt, link: &mut Link, ports: &[String]) -> Result<Ears, Lost> {
        let listener = Listener::start(at)?;
        let mut queues = BTreeMap::new();
        for (name, oid) in link.whole(Db::Counters, "COUNTERS_QUEUE_NAME_MAP")? {
            let Some((own, class)) = name.split_once(':') else { continue };
            let rigs = (0..).zip(ports).find(|(_, port)| *port == own);
            if let (Some((port, _)), Ok(class @ 0..8)) = (rigs, class.parse()) {
                let queue = Queue { port, class, counted: None, heard: 0, last: None };
                queues.insert(oid, queue);
            }
        }
        let mut ears = Ears { listener, queues, red: false };
        let counted = ears.counted(link)?;
        for (queue, counted) in ears.queues.values_mut().zip(counted) {
            queue.counted = counted;
        }
        Ok(ears)
    }

    /// The big red switch is on.
    pub(super) const fn is_red(&mut self) {
        self.red = true;
    }

    /// What they did since this was last asked, on a clock that began at `zero`. Polls are `poll` apart.
    ///
    /// # Errors
    /// The switch is lost, or more storms were counted than heard.
    pub(super) fn since(
        &mut self,
        link: &mut Link,
        (zero, poll): (Mono, Dur),
    ) -> Result<Vec<DutEvent>, Lost> {
        // Before what was heard is taken: what is counted later may be heard later.
        let counted = self.counted(link)?;
        let mut events = Vec::new();
        for message in self.listener.take()? {
            let kind = match message.word.as_str() {
                "storm" => DutEventKind::Storm,
                "restore" => DutEventKind::Restore,
                _ => continue,
            };
            let Some(queue) = self.queues.get_mut(&message.oid) else { continue };
            let span = span(&message, poll);
            // The same poll published it twice.
            let again = queue
                .last
                .is_some_and(|(last, (from, to))| last == kind && from <= span.1 && span.0 <= to);
            queue.last = Some((kind, span));
            if again {
                continue;
            }
            queue.heard += u64::from(kind == DutEventKind::Storm);
            events.push(event(queue, kind, span, zero));
        }
        if core::mem::take(&mut self.red) {
            for (queue, counted) in self.queues.values_mut().zip(counted) {
                (queue.counted, queue.heard) = (counted, 0);
            }
            return Ok(events);
        }
        for (queue, counted) in self.queues.values().zip(counted) {
            let before = queue.counted.unwrap_or_default();
            let storms = counted.unwrap_or_default().saturating_sub(before);
            if storms > queue.heard {
                let Queue { port, class, heard, .. } = queue;
                let why = format!(
                    "{storms} storms were counted of {}:{class} since the first trial, and {heard} were published: what was missed nobody \
                     can date",
                    Switch::port_name(*port)
                );
                let tried = "hear every event of PFC_WD_ACTION".to_owned();
                return Err(Lost { tried, why });
            }
        }
        Ok(events)
    }

    /// How many storms orchagent has counted of each queue.
    fn counted(&self, link: &mut Link) -> Result<Vec<Option<u64>>, Lost> {
        let fields = vec![COUNTED.to_owned()];
        let asked: Vec<_> =
            self.queues.keys().map(|oid| (format!("COUNTERS:{oid}"), fields.clone())).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let all = link.fields(Db::Counters, &asked)?;
        let number = |fields: Vec<Option<String>>| fields.into_iter().next()??.parse().ok();
        Ok(all.into_iter().map(number).collect())
    }
}

/// When the poll was that published a message. It is published before the next poll begins; where the image stamps its polls the
/// stamp says more, and that it came late.
fn span(message: &Message, poll: Dur) -> Span {
    let (since, came) = message.within;
    let sooner = |time: Dur| Mono(since.0.saturating_sub(time.0 / 1_000));
    match message.polled {
        Some((from, to)) if from <= came && to >= sooner(poll) => (from, to.min(came)),
        Some((from, _)) if from <= came && from >= sooner(STALE) => (from, came),
        _ => (sooner(poll), came),
    }
}

fn event(queue: &Queue, kind: DutEventKind, (from, to): Span, zero: Mono) -> DutEvent {
    let on = |at: Mono| at.since(zero).unwrap_or_default();
    let (from, to) = (on(from), on(to));
    let off = Dur((to.0 - from.0).div_ceil(2));
    let at = Time::ZERO + from + off;
    DutEvent { at, off, port: Switch::port_name(queue.port), class: queue.class, kind }
}

#[cfg(test)]
mod tests;
