//! The receive buffer of a NIC: what has arrived and the host has not taken yet, and the PFC that this calls for.
//!
//! The transport looks at a frame when it arrives: its acknowledgement does not wait for the host. Left out on purpose: an end of the
//! buffer, so that nothing is lost; frames without payload, which the NIC keeps to itself.

use super::Config;
use super::backpressure::Sends;
use super::host_memory::HostMemory;
use super::pause_watchdog::PauseWatchdog;
use crate::model::chance;
use crate::model::host::PFC_SIZE;
use crate::model::packet::{CLASSES, Packet, ROCE_OVERHEAD, bit, slot};
use crate::model::pfc_gen::{self, PfcGen, Xon};
use crate::model::ring::Ring;
use crate::model::rounding::Rounding;
use rig_lab::NicPfcFaults;
use rig_units::{Bytes, Dur, Quanta, Time, Within};
use std::collections::VecDeque;

/// What a NIC that departs so makes of what it should send: XOFF, XON, and how it says them.
fn installed(sends: &Sends, faults: &NicPfcFaults, seed: u64) -> (u64, u64, pfc_gen::Config) {
    let late = faults.nic_xoff_late.map_or(Dur::ZERO, |ns| Dur::ns(ns.into()));
    let emission = Within::between(sends.emission.least() + late, sends.emission.most() + late);
    let says = match (faults.nic_xon_missing, faults.nic_xon_late) {
        (true, _) => Xon::Never,
        (false, Some(us)) => Xon::After(Dur::us(us.into())),
        (false, None) => Xon::AtOnce,
    };
    // Half the way between the two.
    let middle = sends.xon + sends.xoff.saturating_sub(sends.xon) / 2;
    let xoff = if faults.nic_pauses_without_need { middle } else { sends.xoff };
    let xon = if faults.nic_xon_early { middle } else { sends.xon };
    let way = Rounding::of_device(chance::draw(chance::stream(seed, *b"nicsteps"), 0));
    let [xoff, xon] = [xoff, xon].map(|of| way.in_steps(of, sends.threshold_step));
    let config = pfc_gen::Config {
        sends: if faults.nic_xoff_missing { 0 } else { sends.classes },
        quanta: if faults.nic_pause_too_short { Quanta(sends.quanta.0 / 2) } else { sends.quanta },
        refresh: if faults.nic_refresh_missing {
            None
        } else {
            Some(Within::exactly(sends.refresh))
        },
        size: PFC_SIZE,
        fault: None,
        xon: says,
        emission,
        resumption: sends.emission,
        seed: chance::stream(seed, *b"nictells"),
        class_off_by: u32::from(faults.nic_pause_wrong_priority),
        ends_with_link: false,
        ends_with_port: false,
    };
    (xoff, xon, config)
}

/// What has arrived and is not taken.
#[derive(Debug, Clone)]
pub(super) struct ReceiveBuffer {
    memory: HostMemory,
    xoff: u64,
    xon: u64,
    /// Whether a class that fills stops all of them.
    stops_all: bool,
    /// Classes without PFC that its words name.
    names_too: u8,
    /// When each frame is out, its class and its size; in order.
    waiting: VecDeque<(Time, u8, u16)>,
    level: [u64; CLASSES],
    pfc: PfcGen,
    watchdog: Option<Box<PauseWatchdog>>,
    /// Frames of PFC that are to leave, and how many have left for each class.
    words: Ring,
    told: [u64; CLASSES],
}

impl ReceiveBuffer {
    /// Nothing in it; `None` where the host takes all at once, or the NIC sends no PFC.
    pub(super) fn of(config: &Config) -> Option<Box<ReceiveBuffer>> {
        let faults = &config.faults.pfc;
        let memory = HostMemory::of(&config.memory, config.seed, faults)?;
        let sends = config.sends?;
        let (xoff, xon, pfc) = installed(&sends, faults, config.seed);
        Some(Box::new(ReceiveBuffer {
            memory,
            xoff,
            xon,
            stops_all: faults.nic_pauses_all_priorities,
            names_too: if faults.nic_pauses_priorities_without_pfc { !sends.classes } else { 0 },
            waiting: VecDeque::new(),
            level: [0; CLASSES],
            pfc: PfcGen::new(&pfc),
            watchdog: PauseWatchdog::of(&sends, faults, config.seed).map(Box::new),
            words: Ring::default(),
            told: [0; CLASSES],
        }))
    }

    /// One that works otherwise, and has counted what this one has.
    pub(super) fn anew(&self, config: &Config) -> Option<Box<ReceiveBuffer>> {
        let mut fresh = ReceiveBuffer::of(config)?;
        fresh.told = self.told;
        Some(fresh)
    }

    /// A frame with payload is here at `now`.
    pub(super) fn arrives(&mut self, now: Time, packet: &Packet) {
        self.on_wake(now);
        let longer = if packet.is_v6() { Packet::V6_LONGER } else { 0 };
        let payload = packet.size.saturating_sub(ROCE_OVERHEAD + longer);
        let size = Bytes(packet.size.into());
        let out = self.memory.takes(now, packet.stream, size, Bytes(payload.into()));
        self.waiting.push_back((out, packet.class, packet.size));
        self.level[slot(packet.class)] += size.0;
        if self.level[slot(packet.class)] > self.xoff {
            self.sets(now, packet.class, true);
        }
    }

    /// Does what is due at `now`: frames that the host has taken by then, and words.
    pub(super) fn on_wake(&mut self, now: Time) {
        while let Some(&(out, class, size)) = self.waiting.front()
            && out <= now
        {
            self.waiting.pop_front();
            self.level[slot(class)] -= u64::from(size);
            if self.is_relieved(class) {
                self.sets(out, class, false);
            }
        }
        if self.pfc.wake_at().is_some_and(|due| due <= now) {
            let word = self.pfc.on_wake(now);
            self.says(now, word);
        }
    }

    /// Whether no more of a class waits than calls for XON; where one stops all, of any.
    fn is_relieved(&self, class: u8) -> bool {
        match self.stops_all {
            true => self.level.iter().all(|level| *level <= self.xon),
            false => self.level[slot(class)] <= self.xon,
        }
    }

    fn sets(&mut self, now: Time, class: u8, congested: bool) {
        let all = if self.stops_all { u8::MAX } else { bit(class) };
        for class in (0..8).filter(|class| all & bit(*class) != 0) {
            if self.pfc.is_congested(class) != congested {
                let word = self.pfc.set_congested(now, class, congested);
                self.says(now, word);
            }
        }
    }

    fn says(&mut self, now: Time, word: Option<Packet>) {
        let word = match &mut self.watchdog {
            Some(watchdog) => watchdog.passes(now, self.pfc.asserted(), word),
            None => word,
        };
        if let Some(mut word) = word {
            let zero = word.zero == word.enable;
            word.enable |= self.names_too;
            word.zero |= if zero { self.names_too } else { 0 };
            self.words.push(&word.with_record(true));
        }
    }

    /// When [`on_wake`](Self::on_wake) has to be called next; [`Time::MAX`] if nothing is due.
    pub(super) fn wake(&self) -> Time {
        let is_congested = (0..8).any(|class| self.pfc.is_congested(class));
        let out = self.waiting.front().filter(|_| is_congested).map(|(out, ..)| *out);
        out.into_iter().chain(self.pfc.wake_at()).min().unwrap_or(Time::MAX)
    }

    /// The word that leaves next.
    pub(super) fn word(&self) -> Option<&Packet> {
        self.words.front()
    }

    /// It has left.
    pub(super) fn said(&mut self) {
        let word = self.words.front();
        for (class, told) in (0..8).zip(&mut self.told) {
            *told += u64::from(word.is_some_and(|word| word.enable & bit(class) != 0));
        }
        self.words.drop_front();
    }

    /// Frames of PFC for `class` that have left, XON included.
    pub(super) fn pauses_sent(&self, class: u8) -> u64 {
        self.told[slot(class)]
    }

    /// The link went down: what waits, either way, is gone, and nobody is told to pause.
    pub(super) fn clear(&mut self, config: &Config) {
        if let Some(fresh) = self.anew(config) {
            *self = *fresh;
        }
    }
}

#[cfg(test)]
mod tests;
