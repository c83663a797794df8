//! Counters as SONiC keeps them: groups of them are read off the chip now and then, each by its own interval, and written down
//! (sonic.md section 4.2; FlexCounter of sonic-sairedis). What is shown in between is what was read last.
//!
//! Each group begins at a phase that the seed draws. Before its first copy there is none.
//!
//! Left out: the time that a reading takes, and chunks of a group that are read one after the other.

use super::polls::draw;
use crate::model::switch::Switch;
use rig_capture::DutCounter;
use rig_lab::{FlexCounter, FlexCounterFaults, FlexGroup};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// The groups that are copied.
#[derive(Debug, Clone)]
pub(super) struct FlexCounters(Vec<Copied>, FlexCounterFaults);

/// One of them.
#[derive(Debug, Clone)]
struct Copied {
    group: FlexGroup,
    next: Time,
    every: Dur,
    /// The names of its counters, once they have been read: a switch has the same ones for life.
    names: Vec<String>,
    /// What was read last of each.
    values: Vec<u64>,
}

/// Names of the draws, so that no group moves another's phase.
const PORT: [u8; 8] = *b"fc-port_";
const QUEUE: [u8; 8] = *b"fc-queue";
const PG_DROP: [u8; 8] = *b"fc-drops";

impl FlexCounters {
    /// The first copy of each lies within one interval of the start.
    pub(super) fn new(seed: u64, config: &FlexCounter, faults: FlexCounterFaults) -> FlexCounters {
        let copied = |(group, phase, every): (FlexGroup, [u8; 8], Option<Dur>)| {
            let every = every?.max(Dur::us(1));
            let next = Time::ZERO + draw(seed, phase, 0, Dur::ZERO, every);
            Some(Copied { group, next, every, names: Vec::new(), values: Vec::new() })
        };
        let FlexCounter { port, queue, pg_drop } = *config;
        let groups = [
            (FlexGroup::Port, PORT, port),
            (FlexGroup::Queue, QUEUE, queue),
            (FlexGroup::PgDrop, PG_DROP, pg_drop),
        ];
        FlexCounters(groups.into_iter().filter_map(copied).collect(), faults)
    }

    /// When [`wake`](Self::wake) has to be called next.
    pub(super) fn next(&self) -> Time {
        self.0.iter().map(|copied| copied.next).min().unwrap_or(Time::MAX)
    }

    /// Copies what is due at `now`.
    pub(super) fn wake(&mut self, now: Time, chip: &Switch) {
        let times = if self.1.copies_count_twice { 2 } else { 1 };
        for copied in self.0.iter_mut().filter(|copied| copied.next == now) {
            copied.next += copied.every;
            copied.read(now, chip);
            copied.values.iter_mut().for_each(|value| *value *= times);
        }
    }

    /// Adds all of them under the name of their table: `COUNTERS Ethernet0:3 SAI_...`.
    pub(super) fn name(&self, into: &mut BTreeMap<String, u64>) {
        let all = self.0.iter().flat_map(|copied| copied.names.iter().zip(&copied.values));
        into.extend(all.map(|(name, value)| (format!("{} {name}", FlexGroup::TABLE), *value)));
    }

    /// One of them.
    pub(super) fn find(&self, name: &str) -> Option<u64> {
        let name = name.strip_prefix(FlexGroup::TABLE)?.strip_prefix(' ')?;
        self.0.iter().find_map(|copied| {
            let at = copied.names.iter().position(|one| one == name)?;
            copied.values.get(at).copied()
        })
    }
}

impl Copied {
    fn read(&mut self, now: Time, chip: &Switch) {
        let group = self.group;
        if self.names.is_empty() {
            chip.each(now, |port, class, counter, _| {
                if is_of(group, counter) {
                    self.names.push(counter.of(port, class));
                }
            });
        }
        self.values.clear();
        chip.each(now, |_, _, counter, value| {
            if is_of(group, counter) {
                self.values.push(value);
            }
        });
    }
}

/// Whether a counter is one of a group.
const fn is_of(group: FlexGroup, counter: DutCounter) -> bool {
    match group {
        FlexGroup::Port => matches!(
            counter,
            DutCounter::PortReceived
                | DutCounter::PortSent
                | DutCounter::PortReceivedOther
                | DutCounter::PortErrors
                | DutCounter::PortDiscarded
                | DutCounter::PfcReceived
                | DutCounter::PfcSent
                | DutCounter::PfcEnded
                | DutCounter::PfcPaused
        ),
        FlexGroup::Queue => matches!(
            counter,
            DutCounter::QueueSent | DutCounter::QueueSentBytes | DutCounter::QueueDropped
        ),
        FlexGroup::PgDrop => matches!(counter, DutCounter::GroupDropped),
    }
}
