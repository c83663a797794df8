//! Reboots of a switch (sonic.md section 7, rows 15 and 69). In a warm one the software begins anew and the chip goes on: frames pass,
//! ports obey PFC, and a queue that is stormed stays so. In a fast one the chip begins anew once the software is up again, in a cold one
//! both stop at once, for half of what is declared at least. Whatever polls for watchdogs does nothing until the software is back.
//!
//! Left out on purpose: copies of counters and of watermarks, which go on; counters of the chip, which a chip that begins anew would
//! begin at 0, and which count here as dropped what comes while it stands still; the light of its ports, which a cold one takes down.

use super::guard::Guard;
use super::switched::Switched;
use crate::model::chance::{self, Draws};
use crate::model::network::Network;
use crate::model::pfcwd::Event;
use crate::model::topology::PortId;
use rig_lab::{Reboot, RebootKind, RuleFamily};
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;

/// For how long a chip that stops twice passes frames in between.
const BETWEEN: Dur = Dur::ms(20);

/// Where a device says of a kind by when it is back.
type Says = fn(&Reboot) -> Option<Dur>;

/// Each kind, under which name it is counted, and where a device says that it can do it.
const KINDS: [(RebootKind, &str, Says); 3] = [
    (RebootKind::Warm, "REBOOT_CAUSE warm-reboot", |declared| declared.warm),
    (RebootKind::Fast, "REBOOT_CAUSE fast-reboot", |declared| declared.fast),
    (RebootKind::Cold, "REBOOT_CAUSE reboot", |declared| declared.cold),
];

/// What of a reboot is still to come: instants that are over, or never come, are the end of time.
#[derive(Debug)]
pub(super) struct Absence {
    /// The chip stops.
    off: Time,
    /// The chip goes on.
    on: Time,
    /// The software is back.
    back: Time,
    /// Whether it was ever rebooted.
    pub(super) has_been: bool,
    /// How it was told to last.
    kind: RebootKind,
    /// From how many of each kind it has come back, in the order of [`KINDS`].
    causes: [u64; 3],
    /// For how long the chip stops once more.
    again: Option<Dur>,
    /// Guarded queues of which a row says that they are stormed, although their watchdogs were stopped.
    rows: Vec<usize>,
    away: Draws,
    outages: Draws,
    before: Draws,
}

impl Absence {
    /// None.
    pub(super) fn new(seed: u64) -> Absence {
        let draws = |name| Draws::new(chance::stream(seed, name));
        Absence {
            off: Time::MAX,
            on: Time::MAX,
            back: Time::MAX,
            has_been: false,
            kind: RebootKind::Cold,
            causes: [0; 3],
            again: None,
            rows: Vec::new(),
            away: draws(*b"rb--away"),
            outages: draws(*b"rboutage"),
            before: draws(*b"rbbefore"),
        }
    }

    /// When something of it happens next.
    pub(super) fn next(&self) -> Time {
        self.off.min(self.on).min(self.back)
    }

    /// From how many it has come back of each kind that it can do.
    fn counted(&self, declared: &Reboot) -> impl Iterator<Item = (&'static str, u64)> {
        let can = KINDS.into_iter().zip(self.causes);
        can.filter(move |((_, _, says), _)| says(declared).is_some())
            .map(|((_, name, _), count)| (name, count))
    }

    /// Adds all of these.
    pub(super) fn name(&self, declared: &Reboot, into: &mut BTreeMap<String, u64>) {
        into.extend(self.counted(declared).map(|(name, count)| (name.to_owned(), count)));
    }

    /// One of them.
    pub(super) fn find(&self, declared: &Reboot, name: &str) -> Option<u64> {
        self.counted(declared).find(|(own, _)| *own == name).map(|(_, count)| count)
    }

    /// The watchdogs are stopped, and what says of their queues that they are stormed is left behind.
    pub(super) fn leave_rows(&mut self, guards: &[Guard]) {
        let stormed = (0..).zip(guards).filter(|(_, guard)| guard.watchdog.is_stormed());
        self.rows = stormed.map(|(index, _)| index).collect();
    }
}

impl Switched {
    /// It reboots now; whether it knows how long that takes.
    pub(super) fn reboots(&mut self, kind: RebootKind, network: &mut Network) -> bool {
        let declared = &self.running.reboot;
        let (most, outage) = match kind {
            RebootKind::Warm => (declared.warm, Some(Dur::ZERO)),
            RebootKind::Fast => (declared.fast, declared.fast_outage),
            RebootKind::Cold => (declared.cold, declared.cold_outage),
        };
        let Some((most, outage)) = most.zip(outage) else { return false };
        if self.faults.reboot.reboot_ignored {
            return true;
        }
        // One that is still on its way is over.
        self.reboots_on(Time::MAX, network);
        let now = network.now();
        let absence = &mut self.absence;
        let outage = absence.outages.next(Within::between(outage.scaled(1, 2), outage));
        let away = absence.away.next(Within::at_most(most)).max(outage);
        let before = Within::at_most(away.saturating_sub(outage));
        (absence.kind, absence.off, absence.on) = (kind, Time::MAX, Time::MAX);
        match kind {
            RebootKind::Warm => (),
            RebootKind::Fast => absence.off = now + absence.before.next(before),
            RebootKind::Cold => absence.off = now,
        }
        if kind != RebootKind::Warm {
            absence.on = absence.off + outage;
            absence.again = self.faults.reboot.reboot_stops_twice.then_some(outage);
        }
        absence.back = now + away;
        absence.has_been = true;
        self.polls.wait(now + away);
        // The chip of a fast one keeps its handlers until it begins anew.
        self.actions.forget();
        if kind == RebootKind::Warm {
            self.chip_goes_on(network);
            self.absent(true, network);
        }
        self.reboots_on(now, network);
        true
    }

    /// What of a reboot is due.
    pub(super) fn reboots_on(&mut self, due: Time, network: &mut Network) {
        let is_due = |at: Time| at <= due && at < Time::MAX;
        if is_due(self.absence.off) {
            self.absence.off = Time::MAX;
            self.guards.iter_mut().for_each(|guard| guard.release(network));
            network.set_chip(self.at, false);
            self.forget(network);
        }
        if is_due(self.absence.on) {
            self.absence.on = Time::MAX;
            network.set_chip(self.at, true);
            if let Some(outage) = self.absence.again.take() {
                self.absence.off = network.now() + BETWEEN;
                self.absence.on = self.absence.off + outage;
            }
            if self.faults.reboot.reboot_leaves_pfc_off {
                self.each_class(network, |network, at, class| network.ignore_pfc(at, class, true));
            }
        }
        if is_due(self.absence.back) {
            self.absence.back = Time::MAX;
            let kinds = KINDS.into_iter().zip(&mut self.absence.causes);
            let told = self.absence.kind;
            kinds.filter(|((kind, ..), _)| *kind == told).for_each(|(_, count)| *count += 1);
            self.absent(false, network);
        }
    }

    /// The software of a chip that goes on has forgotten what it saw of storms, but for queues that are stormed: it is told of these. A
    /// watchdog in hardware is the chip's.
    fn chip_goes_on(&mut self, network: &mut Network) {
        if self.family == Some(RuleFamily::Hardware) {
            return;
        }
        let Some(fresh) = self.watchdog() else { return };
        for guard in &mut self.guards {
            let stormed = guard.watchdog.is_stormed();
            guard.begin(fresh.clone());
            if stormed && self.faults.reboot.warm_reboot_ends_storm {
                guard.release(network);
            } else if stormed {
                guard.watchdog.told(Event::Storm);
            }
        }
        for index in core::mem::take(&mut self.absence.rows) {
            if !self.guards[index].watchdog.is_stormed() {
                self.guards[index].watchdog.told(Event::Storm);
                self.handle(index, self.effect(), network);
            }
        }
    }

    /// What a chip does wrong while its software is away in a warm reboot, or no longer.
    fn absent(&self, on: bool, network: &mut Network) {
        let faults = self.faults.reboot;
        self.each_class(network, |network, at, class| {
            if faults.warm_reboot_drops {
                network.drop_egress(at, class, on);
            }
            if faults.warm_reboot_ignores_pfc {
                network.ignore_pfc(at, class, on);
            }
        });
    }

    /// Each class of each port that exists.
    fn each_class(&self, network: &mut Network, visit: impl Fn(&mut Network, PortId, u8)) {
        for port in network.switch(self.at).port_numbers() {
            let at = PortId { switch: self.at, port };
            (0..8).for_each(|class| visit(network, at, class));
        }
    }
}
