//! Rule `counters`: the watchdog's and the queue's counters against what the wire shows.
//!
//! Names are those of SONiC's COUNTERS_DB with the device's port, and the class where the table is by queue, in front:
//! `Ethernet4:3 PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS`. A discarded backlog counts as dropped by the queue.

use super::{ActionView, Sighting};
use crate::fate::Fates;
use crate::{Dir, DutCounter, Observation, Span};
use rig_testcases::{Backlog, Script, WatchdogAction};
use rig_units::{Quanta, Time};

/// A counter of the device against its frames on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterCheck {
    /// Its full name.
    pub name: String,
    /// By how much it must have grown in the trial (names in `_LAST`: its value after it).
    pub want: Span,
    /// By how much it did; `None` when the device has no such counter.
    pub got: Option<u64>,
    /// Records of the frames that it should have counted.
    pub frames: Vec<usize>,
}

impl CounterCheck {
    /// Whether the counter is there and wrong.
    pub fn wrong(&self) -> bool {
        self.got.is_some_and(|got| got < self.want.lo || got > self.want.hi)
    }
}

/// Frames that one counter counts: surely, and perhaps.
#[derive(Debug, Clone, Default)]
struct Tally {
    sure: u64,
    perhaps: u64,
    frames: Vec<usize>,
}

impl Tally {
    /// Counts a frame if it counts at all.
    fn add(&mut self, sure: bool, perhaps: bool, record: usize) {
        if sure || perhaps {
            self.sure += u64::from(sure);
            self.perhaps += 1;
            self.frames.push(record);
        }
    }

    const fn span(&self) -> Span {
        Span { lo: self.sure, hi: self.perhaps }
    }
}

/// What the watchdog's packet counters count, by the wire.
#[derive(Debug, Default)]
struct Packets {
    tx: Tally,
    tx_dropped: Tally,
    rx: Tally,
    rx_dropped: Tally,
}

/// When the action surely, and when it perhaps was in force.
#[derive(Debug, Clone, Copy)]
struct InForce {
    from: Span,
    until: Span,
}

/// The counters of the stormed queue of one trial with one detection at most.
///
/// `acted` and `ended` are what [`fired`](super::fired) and [`restored`](super::restored) saw.
pub fn counters(
    observation: &Observation,
    script: &Script,
    (storm, class): (u16, u8),
    view: &ActionView,
    (acted, ended): (&Sighting, &Sighting),
) -> Vec<CounterCheck> {
    let port = script.storms[usize::from(storm)].from;
    let name = &observation.ports[usize::from(port)].dut_port;
    let end = Span::exactly(observation.length.0);
    let force = acted.span().map(|from| InForce {
        from,
        until: match ended {
            Sighting::At { span, .. } => *span,
            Sighting::Never => end,
            Sighting::NotObservable(_) | Sighting::Void(_) => Span { lo: from.hi, hi: end.hi },
        },
    });
    let packets = match force {
        Some(force) if view.action != WatchdogAction::Alert => {
            packets(observation, script, (port, class), view, force)
        }
        _ => Packets::default(),
    };
    let mut checks = Vec::new();
    let mut check = |name: String, want: Span, frames: &[usize]| {
        let got = if name.ends_with("_LAST") {
            observation.counters.after(&name)
        } else {
            observation.counters.grew(&name)
        };
        checks.push(CounterCheck { name, want, got, frames: frames.to_vec() });
    };
    let watchdog = |what: &str| format!("{name}:{class} PFC_WD_QUEUE_STATS_{what}");
    let detected = u64::from(force.is_some());
    check(watchdog("DEADLOCK_DETECTED"), Span::exactly(detected), &[]);
    let restored = match (detected, ended) {
        (0, _) | (_, Sighting::Never) => Span::exactly(0),
        (_, Sighting::At { .. }) => Span::exactly(1),
        (_, Sighting::NotObservable(_) | Sighting::Void(_)) => Span { lo: 0, hi: 1 },
    };
    check(watchdog("DEADLOCK_RESTORED"), restored, &[]);
    for (what, tally) in [
        ("TX_PACKETS", &packets.tx),
        ("TX_DROPPED_PACKETS", &packets.tx_dropped),
        ("RX_PACKETS", &packets.rx),
        ("RX_DROPPED_PACKETS", &packets.rx_dropped),
    ] {
        check(watchdog(what), tally.span(), &tally.frames);
        if detected > 0 {
            check(watchdog(&format!("{what}_LAST")), tally.span(), &tally.frames);
        }
    }
    for (counter, tally) in queue(observation, script, (port, class), view) {
        check(counter.of(name, class), tally.span(), &tally.frames);
    }
    let pfc = pfc_received(observation, port, class);
    check(DutCounter::PfcReceived.of(name, class), pfc.span(), &pfc.frames);
    checks
}

/// The frames of the class that passed the stormed port, or were dropped, while the action was in force.
fn packets(
    observation: &Observation,
    script: &Script,
    (port, class): (u16, u8),
    view: &ActionView,
    InForce { from, until }: InForce,
) -> Packets {
    let mut packets = Packets::default();
    for (stream, spec) in (0..).zip(&script.streams).filter(|(_, spec)| spec.class == class) {
        if spec.from != port && spec.to != port {
            continue;
        }
        let fates = Fates::of(observation, script, stream, view.delays());
        for passage in &fates.passages.all {
            let arrival = fates.way.arrival(passage.sent.at);
            let ready = fates.way.ready(passage.sent.at);
            if let Some(received) = passage.received {
                if spec.to == port {
                    // The frame that showed the action is its first, the one that showed its end no longer its own.
                    let start = fates.way.start(received.at).hi;
                    let sure = start >= from.hi && start <= until.lo;
                    let perhaps = start >= from.lo && start < until.hi;
                    packets.tx.add(sure, perhaps, received.record);
                } else {
                    let sure = arrival.lo >= from.hi && ready.hi <= until.lo;
                    let perhaps = ready.hi >= from.lo && arrival.lo < until.hi;
                    packets.rx.add(sure, perhaps, passage.sent.record);
                }
            } else if fates.lost(passage) {
                let to_port = spec.to == port;
                // A frame lost from before the action was in the backlog that it discarded.
                let backlog = to_port && view.backlog == Backlog::Discarded;
                let counted = arrival.lo <= until.hi && (ready.hi >= from.lo || backlog);
                let tally = if to_port { &mut packets.tx_dropped } else { &mut packets.rx_dropped };
                tally.add(counted, counted, passage.sent.record);
            } else {
                // The end of the trial caught it on its way: what became of it may have been counted.
                let perhaps = arrival.lo <= until.hi && ready.hi >= from.lo;
                let all = match spec.to == port {
                    true => [&mut packets.tx, &mut packets.tx_dropped],
                    false => [&mut packets.rx, &mut packets.rx_dropped],
                };
                all.into_iter().for_each(|one| one.add(false, perhaps, passage.sent.record));
            }
        }
    }
    packets
}

/// What left the queue and what it dropped in the whole trial.
fn queue(
    observation: &Observation,
    script: &Script,
    (port, class): (u16, u8),
    view: &ActionView,
) -> [(DutCounter, Tally); 2] {
    let mut sent = Tally::default();
    let mut dropped = Tally::default();
    for (stream, spec) in (0..).zip(&script.streams) {
        if (spec.to, spec.class) != (port, class) {
            continue;
        }
        let loss = super::loss(observation, script, stream, view.delays());
        // A frame that was on its way to the rig when the trial ended had left the queue, perhaps.
        sent.sure += loss.received;
        sent.perhaps += loss.received + loss.open;
        dropped.sure += loss.lost;
        dropped.perhaps += loss.lost + loss.open;
        dropped.frames.extend(loss.frames);
    }
    [(DutCounter::QueueSent, sent), (DutCounter::QueueDropped, dropped)]
}

/// PFC frames for the class that reached the device's port. Whether an XON counts is the device's choice.
fn pfc_received(observation: &Observation, port: u16, class: u8) -> Tally {
    let cable = observation.ports[usize::from(port)].cable;
    let end = Time::ZERO + observation.length;
    let mut tally = Tally::default();
    for (record, frame) in observation.records.iter().enumerate() {
        if (frame.port, frame.dir) != (port, Dir::Tx) {
            continue;
        }
        let Some(quanta) = frame.pauses(class) else { continue };
        let sure = quanta > Quanta(0) && frame.at + cable <= end;
        tally.add(sure, true, record);
    }
    tally
}

#[cfg(test)]
mod tests;
