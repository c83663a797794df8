//! Watermarks as SONiC keeps them: a poll loop reads those of the chip and clears them, and three copies hold the greatest
//! value that was read (sonic.md sections 2.5 and 4.2; watermarkorch.cpp and the watermark scripts of sonic-swss).
//!
//! A copy that is cleared shows 0 until the next poll, which may bring back what the chip saw before the clear: a clear
//! request clears the copy and not the chip. The periodic copy is cleared at every telemetry interval; of a reset and a poll at
//! one instant the reset comes first. Both loops start at a phase that the seed draws.
//!
//! Left out: the time that a poll takes, groups of counters that are polled one after the other.

use super::polls::draw;
use crate::model::network::Network;
use rig_lab::{BufferFaults, Watermark, WatermarkCopy};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// The copies, and when what is done to them; none on a device that does not poll.
#[derive(Debug, Clone)]
pub(super) struct Watermarks {
    loops: Option<Loops>,
    faults: BufferFaults,
    /// The names of what is read, once it has been: `Ethernet0:3 SAI_...`. A switch has the same ones for life.
    names: Vec<String>,
    /// So many of them, the first ones, are of ports.
    of_ports: usize,
    /// What each copy shows of those. In front of their names stands that of its table: `USER_WATERMARKS Ethernet0:3 SAI_...`.
    copies: BTreeMap<WatermarkCopy, Vec<u64>>,
}

#[derive(Debug, Clone, Copy)]
struct Loops {
    poll: (Time, Dur),
    telemetry: (Time, Dur),
}

/// Names of the two draws, so that neither moves the other, nor those of the watchdog.
const POLL: [u8; 8] = *b"wm-poll_";
const TELEMETRY: [u8; 8] = *b"wm-telem";

impl Watermarks {
    /// Each loop's first turn lies within one interval of the start.
    pub(super) fn new(seed: u64, config: &Watermark, faults: BufferFaults) -> Watermarks {
        let first = |name, every: Dur| (Time::ZERO + draw(seed, name, 0, Dur::ZERO, every), every);
        let least = |every: Dur| every.max(Dur::us(1));
        let telemetry = least(config.telemetry.unwrap_or(Watermark::TELEMETRY));
        let loops = config.poll.map(|poll| Loops {
            poll: first(POLL, least(poll)),
            telemetry: first(TELEMETRY, telemetry),
        });
        let (names, of_ports) = (Vec::new(), 0);
        Watermarks { loops, faults, names, of_ports, copies: BTreeMap::new() }
    }

    /// When [`wake`](Self::wake) has to be called next.
    pub(super) fn next(&self) -> Time {
        self.loops.map_or(Time::MAX, |loops| loops.poll.0.min(loops.telemetry.0))
    }

    /// Does what is due at `now`.
    pub(super) fn wake(&mut self, now: Time, switch: u16, network: &mut Network) {
        let Some(loops) = &mut self.loops else { return };
        let due = |(next, every): &mut (Time, Dur)| {
            let is_due = *next == now;
            *next += if is_due { *every } else { Dur::ZERO };
            is_due
        };
        let (resets, polls) = (due(&mut loops.telemetry), due(&mut loops.poll));
        if resets {
            self.clear(WatermarkCopy::Periodic);
            if self.faults.watermark_persistent_forgets {
                self.clear(WatermarkCopy::Persistent);
            }
        }
        if polls {
            self.read(switch, network);
        }
    }

    fn read(&mut self, switch: u16, network: &mut Network) {
        let chip = network.switch(switch);
        if self.names.is_empty() {
            chip.watermarks(|port, class, counter, _| {
                self.of_ports += usize::from(!port.is_empty());
                self.names.push(counter.of(port, class));
            });
        }
        for (_, copy) in WatermarkCopy::NAMES {
            let copy = self.copies.entry(copy).or_default();
            copy.resize(self.names.len(), 0);
            let mut copy = copy.iter_mut();
            chip.watermarks(|_, _, _, value| {
                if let Some(most) = copy.next() {
                    *most = (*most).max(value);
                }
            });
        }
        network.clear_watermarks(switch);
    }

    /// What a request to clear a copy does.
    pub(super) fn request(&mut self, copy: WatermarkCopy) {
        if self.faults.watermark_clear_lost {
            return;
        }
        self.clear(copy);
        if self.faults.watermark_clear_clears_all {
            WatermarkCopy::CLEARED.into_iter().for_each(|(_, copy)| self.clear(copy));
        }
    }

    /// Clears one copy.
    fn clear(&mut self, copy: WatermarkCopy) {
        self.copies.entry(copy).or_default().fill(0);
    }

    /// Adds all of them under the names of their tables.
    pub(super) fn name(&self, into: &mut BTreeMap<String, u64>) {
        self.each(|table, name, _, value| {
            into.insert(format!("{table} {name}"), value);
        });
    }

    /// Adds those that are not 0, and those of the pools.
    pub(super) fn stirred(&self, into: &mut BTreeMap<String, u64>) {
        self.each(|table, name, is_of_port, value| {
            if value != 0 || !is_of_port {
                into.insert(format!("{table} {name}"), value);
            }
        });
    }

    /// Whether there are any yet.
    pub(super) const fn were_read(&self) -> bool {
        !self.names.is_empty()
    }

    /// Every one: its table, its name there, whether it is of a port, and what it shows.
    fn each(&self, mut see: impl FnMut(&str, &str, bool, u64)) {
        for (table, copy) in WatermarkCopy::NAMES {
            let values = self.copies.get(&copy).into_iter().flatten();
            for (at, (name, value)) in self.names.iter().zip(values).enumerate() {
                see(table, name, at < self.of_ports, *value);
            }
        }
    }

    /// One of them.
    pub(super) fn find(&self, name: &str) -> Option<u64> {
        let (table, name) = name.split_once(' ')?;
        let (_, copy) = WatermarkCopy::NAMES.into_iter().find(|(of, _)| *of == table)?;
        let at = self.names.iter().position(|one| one == name)?;
        self.copies.get(&copy)?.get(at).copied()
    }
}
