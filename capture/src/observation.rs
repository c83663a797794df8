//! Everything that one trial left behind, with how much of it can be trusted.

use crate::{Approach, AtRest, Dir, HostReport, Loads, Record, What};
use core::cmp::Ordering;
use rig_testcases::{Injected, Setting};
use rig_units::{Dur, PortSpeed, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was seen during one trial. Times count from the trial's start.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// When the trial started, on the clock of the session: trials of one session share the device's own rhythm.
    pub origin: Time,
    /// How long it was watched.
    pub length: Dur,
    /// The rig's ports, in the order of the script.
    pub ports: Vec<PortTrace>,
    /// Every recorded frame, by time, then port, then direction.
    pub records: Vec<Record>,
    /// Frames of each stream: sent and received, recorded or not, by index in the script.
    pub streams: Vec<StreamCount>,
    /// What loads came to, recorded or not.
    pub loads: Loads,
    /// The device's counters before and after, under their SAI names; empty when the adapter offers none.
    pub counters: Counters,
    /// What the device said, on the rig's clock; `None` when the adapter offers no events.
    pub events: Option<Vec<DutEvent>>,
    /// What the hosts behind NICs say of what they asked for; `None` where nobody offers it.
    pub hosts: Option<HostReport>,
    /// What the rig did to frames that it passed on from one NIC to another.
    pub injected: Vec<Touched>,
    /// What the device answered to settings changed on the way.
    pub config: Vec<ConfigOutcome>,
    /// How far all this can be trusted.
    pub integrity: Integrity,
}

impl Observation {
    /// How far off an instant at the device may be, at the worst of the ports.
    pub fn bound(&self) -> Dur {
        self.ports.iter().map(PortTrace::bound).max().unwrap_or_default()
    }

    /// How many bytes of memory it takes at least: what grows with what was seen.
    pub fn takes(&self) -> usize {
        size_of_val(&self.records[..])
            + size_of_val(&self.counters.values[..])
            + self.loads.takes()
            + self.hosts.as_ref().map_or(0, HostReport::takes)
            + self.events.as_ref().map_or(0, |events| size_of_val(&events[..]))
    }

    /// Whether frames of `stream` were counted and not recorded.
    pub fn partial(&self, stream: u16) -> bool {
        if self.integrity.unrecorded == 0 {
            return false;
        }
        let Some(count) = self.streams.get(usize::from(stream)) else { return false };
        let (mut sent, mut received) = (0, 0);
        for record in &self.records {
            match (record.what, record.dir) {
                (What::Data { stream: of, .. }, Dir::Tx) if of == stream => sent += 1,
                (What::Data { stream: of, .. }, Dir::Rx) if of == stream => received += 1,
                _ => {}
            }
        }
        count.sent > sent || count.received > received
    }
}

/// One port of the rig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortTrace {
    /// Its name: `p1`.
    pub name: String,
    /// At which its link runs.
    pub speed: PortSpeed,
    /// The device's port behind it, by the device's name for it.
    pub dut_port: String,
    /// Time a bit needs through the cable.
    pub cable: Dur,
    /// Where its timestamps come from.
    pub provenance: Provenance,
    /// Whether the 802.1Q tag of a frame that it receives is seen: on some ways the kernel takes it off before the rig sees the frame.
    pub sees_tags: bool,
    /// What lies between its cable and the NIC that is looked at over it; `None`: nothing, the NIC is at the end of the cable.
    pub approach: Option<Approach>,
}

impl PortTrace {
    /// How far off an instant at the device behind it may be, as a timestamp of it tells.
    pub fn bound(&self) -> Dur {
        let spread = self.approach.as_ref().map_or(Dur::ZERO, Approach::spread);
        self.provenance.bound() + spread
    }

    /// The least that a frame is on its way between the rig and the device, from its last bit to its last bit.
    pub fn way(&self, size: u16) -> Dur {
        self.cable + self.approach.as_ref().map_or(Dur::ZERO, |approach| approach.takes(size))
    }
}

/// Where a timestamp comes from, and how far off it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Virtual time: exact.
    Virtual,
    /// The NIC's own clock.
    Hardware {
        /// Error bound.
        bound: Dur,
    },
    /// The host's clock, when software saw the frame.
    Software {
        /// Error bound.
        bound: Dur,
    },
}

impl Provenance {
    /// How far off a timestamp may be.
    pub const fn bound(self) -> Dur {
        match self {
            Provenance::Virtual => Dur::ZERO,
            Provenance::Hardware { bound } | Provenance::Software { bound } => bound,
        }
    }
}

/// Frames of one stream, whether recorded or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCount {
    /// Sent by the rig.
    pub sent: u64,
    /// Received by the rig, at any port.
    pub received: u64,
    /// Received out of order.
    pub reordered: u64,
}

/// The names of counters, in order.
pub type Names = Arc<[String]>;

/// Counter values by name, before and after the trial and, of some, on the way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// By name those that the device has at the trial's start, at its end, or both, and that were not left out.
    names: Names,
    /// Of each name the value at the trial's start, and at its end.
    values: Vec<[Option<u64>; 2]>,
    /// Those that were left out: they are 0.
    at_rest: Vec<Arc<AtRest>>,
    /// On the way: for a page, not for a verdict.
    pub samples: Samples,
    /// The longest that the device took to do as it was told or to be read, after that was due: what was cleared in the trial, what
    /// was read at its end. None in virtual time.
    pub took: Dur,
    /// The longest that it took to do as a step told it, after that was due: a part of what it took. None in virtual time.
    pub obeyed: Dur,
    /// What the device itself calls those that it has other names for.
    pub vendor: Arc<BTreeMap<String, String>>,
    /// What the device has and has no value, as nothing shows that what was read of it stood still.
    pub moving: Arc<BTreeSet<String>>,
    /// What the device is known not to count, or to count otherwise than the name says, each with the reason.
    pub absent: Arc<BTreeMap<String, String>>,
}

/// Counters that were read now and then during a trial; none when nobody asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// Time between two readings at most: a change is noticed so much later at most.
    pub every: Dur,
    /// Counters that the device has, in the order in which they were asked for: the first value that was read, and each
    /// that differed from the one before, with the time of the reading.
    pub steps: Vec<(String, Vec<(Time, u64)>)>,
}

impl Counters {
    /// What was read before and after a trial.
    pub fn read(before: BTreeMap<String, u64>, after: BTreeMap<String, u64>) -> Counters {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
        loop {
            // As a rule no counter comes or goes.
            let order = match (before.peek(), after.peek()) {
                (Some((one, _)), Some((other, _))) => one.cmp(other),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let first = if order.is_le() { before.next() } else { None };
            let second = if order.is_ge() { after.next() } else { None };
            values.push([&first, &second].map(|one| one.as_ref().map(|(_, value)| *value)));
            names.extend(first.or(second).map(|(name, _)| name));
        }
        Counters { names: names.into(), values, ..Counters::default() }
    }

    /// The same, and those that are `at_rest` were left out where they are 0.
    #[must_use]
    pub fn but_for(mut self, at_rest: Vec<Arc<AtRest>>) -> Counters {
        let is_there = |name: &str| at_rest.iter().any(|rest| rest.has(name));
        for (name, values) in self.names.iter().zip(&mut self.values) {
            if values.contains(&None) && is_there(name) {
                *values = values.map(|value| value.or(Some(0)));
            }
        }
        Counters { at_rest, ..self }
    }

    /// What `name` was at the trial's end; `None` when the device has no such counter.
    pub fn after(&self, name: &str) -> Option<u64> {
        self.of(name)[1]
    }

    /// By how much `name` grew; `None` when the device has no such counter.
    pub fn grew(&self, name: &str) -> Option<u64> {
        let [before, after] = self.of(name);
        Some(after? - before.unwrap_or(0).min(after?))
    }

    /// Whether the device had such a counter at the trial's start, or at its end.
    pub fn has(&self, name: &str) -> bool {
        self.of(name) != [None; 2]
    }

    /// The name, and behind it what the device calls it where that is another one.
    pub fn called(&self, name: &str) -> String {
        let vendor = self.vendor.get(name).map(|vendor| format!(" ({vendor})"));
        format!("{name}{}", vendor.unwrap_or_default())
    }

    fn of(&self, name: &str) -> [Option<u64>; 2] {
        match self.names.binary_search_by(|one| one.as_str().cmp(name)) {
            Ok(at) => self.values[at],
            Err(_) if self.at_rest.iter().any(|rest| rest.has(name)) => [Some(0); 2],
            Err(_) => [None; 2],
        }
    }

    /// Takes the names from `others`, where they are the same: those of a case are in memory once.
    pub fn share(&mut self, others: &mut Names) {
        if self.names == *others {
            self.names = Arc::clone(others);
        } else {
            *others = Arc::clone(&self.names);
        }
    }

    /// Whether the names are those of `other`, in memory too.
    #[cfg(test)]
    pub(crate) fn shares(&self, other: &Counters) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }

    /// Leaves the names alone, and gives the values.
    pub(crate) fn take(&mut self) -> Vec<[Option<u64>; 2]> {
        core::mem::take(&mut self.values)
    }

    /// The same counters with these values.
    pub(crate) fn with(&self, values: Vec<[Option<u64>; 2]>) -> Counters {
        Counters { values, ..self.clone() }
    }
}

/// Something the device reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutEvent {
    /// When, on the rig's clock, from the start of the trial.
    pub at: Time,
    /// How far off that may be, either way: what is known of the clock that it was read from.
    pub off: Dur,
    /// The device's port, by its own name.
    pub port: String,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// What it reported.
    pub kind: DutEventKind,
}

/// What a device reports of its watchdog (redis channel `PFC_WD_ACTION`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DutEventKind {
    /// A storm was detected.
    Storm,
    /// The queue was restored.
    Restore,
}

/// A frame that the rig changed on the way from one NIC to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// When its last bit arrived.
    pub at: Time,
    /// The rig port that it arrived at.
    pub port: u16,
    /// By which of the injections, in the order of the script; `None`: by a bottleneck without room.
    pub injection: Option<u16>,
    /// What was done to it.
    pub what: Injected,
}

/// What the device answered to a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigOutcome {
    /// As the case asks for it.
    pub setting: Setting,
    /// Why it was refused; `None` when it was taken.
    pub refused: Option<String>,
}

/// How far an observation can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Integrity {
    /// Frames that the capture lost.
    pub lost: u64,
    /// Frames that were left out of the records on purpose: most of a load, and what a tap does not ask for.
    pub unrecorded: u64,
    /// Frames that the rig sent late, beyond its stated error.
    pub late: Vec<Lateness>,
    /// Where and why the record ends early or leaves frames out (a capture file cut short, or kept small).
    pub cut: Option<String>,
    /// Why the device itself cannot be trusted in this trial (an emulated one that fell behind).
    pub dut: Option<String>,
    /// How long the machine that the device runs on kept it waiting for a processor (a device in a guest).
    pub waits: DutWaits,
    /// The longest stretch in which a port went deaf, if one did.
    pub silent: Option<SilentPort>,
    /// How often the device acted between the trial and the readings of its counters, before or after it: what they then say
    /// is not what the trial shows.
    pub unseen: u64,
    /// Which event of the device's may have been before the trial, and by how much: whether it tells of the trial nobody knows.
    pub undated: Option<String>,
}

/// A stretch in which nothing at all arrived at a port, while frames were sent there that nothing holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilentPort {
    /// The rig's port.
    pub port: u16,
    /// The stream of the first frame that nobody answered.
    pub stream: u16,
    /// How many frames were sent there meanwhile.
    pub frames: u64,
    /// When the first of them left, from the trial's start.
    pub from: Time,
    /// When something arrived again, or the trial was over.
    pub until: Time,
}

/// What a device in a guest waited for a processor, and how much of that a trial bears.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DutWaits {
    /// The stretches, in their order.
    pub stretches: Vec<DutWait>,
    /// How long one may be.
    pub most: Dur,
    /// How much of each the device makes up for, so that it sends no less for it.
    pub makes_up: Dur,
}

/// A stretch in which a device in a guest was behind, because it had no processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DutWait {
    /// When it was furthest behind.
    pub at: Time,
    /// By how much, at most.
    pub by: Dur,
}

/// A frame that left later than planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lateness {
    /// When it left.
    pub at: Time,
    /// How late.
    pub by: Dur,
    /// The stream or storm, by name.
    pub sender: String,
}
