//! What the watchdogs of the rig's ports did, from what the switch publishes: when, with what is known of that; and that nothing of
//! it was missed, by what orchagent counts.

use super::super::link::{Db, Link};
use super::heard::{Listener, Message};
use super::published::{ACTION, DEBUG};
use crate::control::Lost;
use rig_capture::{DutEvent, DutEventKind};
use rig_generator::port::Mono;
use rig_lab::{RedisAt, Switch};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// What orchagent counts of each queue.
pub(super) const COUNTED: [&str; 2] =
    ["PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED"];
/// What orchagent says of a queue, and of one that is stormed.
pub(super) const STATUS: &str = "PFC_WD_STATUS";
pub(super) const STORMED: &str = "stormed";
/// A stamp that is older than this was not made by the scripts that publish: an image may have left it off.
const STALE: Dur = Dur::s(10);

/// A queue of one of the rig's ports.
#[derive(Debug)]
struct Queue {
    port: u16,
    class: u8,
    /// How many storms and ends of storms orchagent had counted before anything was heard, and how many were heard since.
    counted: Acted,
    heard: Acted,
    /// Storms behind storms of which no end was heard: each is a new one, or the one before told twice.
    repeats: u64,
    /// So many of them were there when this was asked before, and not counted since: they were told twice.
    old: u64,
    /// The last that was heard of it.
    last: Option<(DutEventKind, Span)>,
}

/// How many storms of a queue there were, and how many were over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Acted {
    pub(super) storms: u64,
    pub(super) restores: u64,
}

/// Between which two instants of the rig's clock something happened.
type Span = (Mono, Mono);

/// By what the instants of events are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Zero of the session's clock.
    pub(super) zero: Mono,
    /// How far polls are apart.
    pub(super) poll: Dur,
    /// The action is `alert`, which tells again and again of a storm that goes on.
    pub(super) alerts: bool,
}

/// Somebody who listens to these ports.
#[derive(Debug)]
pub(super) struct Ears {
    listener: Listener,
    /// By their objects.
    queues: BTreeMap<String, Queue>,
    /// The objects of the rig's ports.
    ports: BTreeMap<u16, String>,
    /// Whether the big red switch was on: it is counted as storms that nobody detected, and publishes none.
    red: bool,
    /// What was heard and not told yet.
    waits: Vec<DutEvent>,
    /// Why what was told last is not all that happened.
    missed: Option<String>,
}

impl Ears {
    /// From now on what these ports' watchdogs do is heard.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn open(
        at: &RedisAt,
        link: &mut Link,
        ports: &[String],
    ) -> Result<Option<Ears>, Lost> {
        let Some(near) = link.near() else { return Ok(None) };
        let listener = Listener::start((at, near))?;
        let mut queues = BTreeMap::new();
        for (name, oid) in link.whole(Db::Counters, "COUNTERS_QUEUE_NAME_MAP")? {
            let Some((own, class)) = name.split_once(':') else { continue };
            let rigs = (0..).zip(ports).find(|(_, port)| *port == own);
            if let (Some((port, _)), Ok(class @ 0..8)) = (rigs, class.parse()) {
                let (counted, heard) = (Acted::default(), Acted::default());
                let queue = Queue { port, class, counted, heard, repeats: 0, old: 0, last: None };
                queues.insert(oid, queue);
            }
        }
        let named = link.whole(Db::Counters, "COUNTERS_PORT_NAME_MAP")?;
        let objects =
            (0..).zip(ports).filter_map(|(at, port)| Some((at, named.get(port)?.clone())));
        let mut ears = Ears {
            listener,
            queues,
            ports: objects.collect(),
            red: false,
            waits: Vec::new(),
            missed: None,
        };
        let counted = ears.counted(link)?;
        let status = vec![STATUS.to_owned()];
        let asked: Vec<_> =
            ears.queues.keys().map(|oid| (format!("COUNTERS:{oid}"), status.clone())).collect();
        let status = if asked.is_empty() { Vec::new() } else { link.fields(Db::Counters, &asked)? };
        for ((queue, counted), status) in ears.queues.values_mut().zip(counted).zip(status) {
            queue.counted = counted;
            let is_on = status.first().is_some_and(|word| word.as_deref() == Some(STORMED));
            queue.last = is_on.then_some((DutEventKind::Storm, (Mono(0), Mono(0))));
        }
        Ok(Some(ears))
    }

    /// The big red switch is on.
    pub(super) const fn is_red(&mut self) {
        self.red = true;
    }

    /// The watchdogs have been started anew: what was stormed is no longer, and nobody publishes that.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn restarted(&mut self, before: Clock) -> Result<(), Lost> {
        self.hear(before)?;
        self.queues.values_mut().for_each(|queue| queue.last = None);
        Ok(())
    }

    /// What they did since this was last asked.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn since(&mut self, link: &mut Link, clock: Clock) -> Result<Vec<DutEvent>, Lost> {
        // Before what was heard is taken: what is counted later may be heard later.
        let counted = self.counted(link)?;
        self.hear(clock)?;
        let red = core::mem::take(&mut self.red);
        for (queue, counted) in self.queues.values_mut().zip(counted) {
            let storms = counted.storms.saturating_sub(queue.counted.storms);
            let published = queue.heard.storms + queue.repeats;
            if storms > published && !red {
                let Queue { port, class, .. } = queue;
                let told = self.ports.get(port).and_then(|oid| self.listener.polled(oid, *class));
                let told = told.map_or_else(String::new, |told| {
                    format!("; the last that {DEBUG} told of it: `{}`", told.escape_debug())
                });
                let port = Switch::port_name(*port);
                self.missed = Some(format!(
                    "{storms} storms were counted of {port}:{class}, and {published} were published ({ACTION}): what was missed nobody can date{told}"
                ));
            }
            if storms > queue.heard.storms {
                // From here on it is counted anew: the next trial is not to answer for it.
                (queue.counted, queue.heard) = (counted, Acted::default());
                (queue.repeats, queue.old) = (0, 0);
            } else {
                queue.repeats -= queue.old;
                queue.old = queue.repeats;
            }
        }
        Ok(core::mem::take(&mut self.waits))
    }

    /// Why what was told last is not all that happened; `None` where it is.
    pub(super) const fn missed(&mut self) -> Option<String> {
        self.missed.take()
    }

    /// What orchagent has to have counted of each queue by now at least, from what has come.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn acted(&mut self, clock: Clock) -> Result<BTreeMap<String, Acted>, Lost> {
        self.hear(clock)?;
        let of = |(oid, queue): (&String, &Queue)| {
            let Queue { counted, heard, repeats, .. } = queue;
            let storms = counted.storms + heard.storms + repeats;
            (oid.clone(), Acted { storms, restores: counted.restores + heard.restores })
        };
        Ok(self.queues.iter().map(of).collect())
    }

    /// Takes what has come.
    fn hear(&mut self, Clock { zero, poll, alerts }: Clock) -> Result<(), Lost> {
        let messages = self.listener.take()?;
        for (at, message) in messages.iter().enumerate() {
            let kind = match message.word.as_str() {
                "storm" => DutEventKind::Storm,
                "restore" => DutEventKind::Restore,
                _ => continue,
            };
            let Some(queue) = self.queues.get_mut(&message.oid) else { continue };
            let own = match message.stamp.is_own() {
                true => Whose::Own,
                false if is_overtaken(&messages, at) => Whose::Later,
                false => Whose::Last,
            };
            let span = span(message.within, (message.stamp.polled(), own), poll);
            let last = queue.last.replace((kind, span));
            let same = last.filter(|(last, _)| *last == kind);
            // The same poll published it twice.
            if same.is_some_and(|(_, (from, to))| from <= span.1 && span.0 <= to) {
                continue;
            }
            // A storm that goes on is told again where the action is `alert`, and counted once. Any other action ends before the next
            // begins, also where nobody publishes that: as when the watchdog of a port is started anew.
            match kind {
                DutEventKind::Storm if same.is_none() => queue.heard.storms += 1,
                DutEventKind::Storm if !alerts => queue.repeats += 1,
                DutEventKind::Restore if same.is_none() => queue.heard.restores += 1,
                DutEventKind::Storm | DutEventKind::Restore => {}
            }
            let event = event(queue, kind, span, zero);
            self.waits.push(event);
        }
        Ok(())
    }

    /// What orchagent has counted of each queue.
    fn counted(&self, link: &mut Link) -> Result<Vec<Acted>, Lost> {
        let fields: Vec<String> = COUNTED.map(str::to_owned).to_vec();
        let asked: Vec<_> =
            self.queues.keys().map(|oid| (format!("COUNTERS:{oid}"), fields.clone())).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let number = |text: &Option<String>| text.as_ref()?.parse().ok();
        let acted = |fields: Vec<Option<String>>| {
            let mut all = fields.iter().map(|text| number(text).unwrap_or_default());
            let (storms, restores) =
                (all.next().unwrap_or_default(), all.next().unwrap_or_default());
            Acted { storms, restores }
        };
        Ok(link.fields(Db::Counters, &asked)?.into_iter().map(acted).collect())
    }
}

/// Which poll's a stamp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// That of which the message tells: the message says so.
    Own,
    /// The last one before it was asked for.
    Last,
    /// That of a later message.
    Later,
}

/// When the poll was that published a message. It is published before the next poll begins; where the image stamps its polls the
/// stamp says more, and that it came late. The stamp is its own, or that of the last poll before it was asked for: of the one that published
/// where no other can have been meanwhile, and else of no earlier one.
fn span((since, came): Span, (polled, whose): (Option<Span>, Whose), poll: Dur) -> Span {
    let sooner = |time: Dur| Mono(since.0.saturating_sub(time.0 / 1_000));
    let short = came.0.saturating_sub(since.0) < poll.0 / 2_000;
    let alone = whose == Whose::Own || (whose == Whose::Last && short);
    match polled {
        Some((from, to)) if from <= came && to >= sooner(poll) => {
            (if alone { from } else { sooner(poll).min(from) }, to.min(came))
        }
        Some((from, _)) if from <= came && from >= sooner(STALE) => (from, came),
        _ => (sooner(poll), came),
    }
}

/// Whether the stamp that was read for a message is a later one's: no poll both begins a storm of a queue and ends it, so that of two
/// that say so and have one stamp it is the later one's. It is so where whoever reads stamps is kept from its processor, and publishing is late.
fn is_overtaken(messages: &[Message], at: usize) -> bool {
    let Some((message, later)) = messages[at..].split_first() else { return false };
    later.iter().any(|other| {
        other.oid == message.oid
            && other.word != message.word
            && other.stamp.is_the_same_as(&message.stamp)
    })
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
