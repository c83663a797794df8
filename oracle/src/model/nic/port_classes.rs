//! How traffic classes share a NIC's port: as declared, as a device has it, and as one has it that departs.

use crate::model::chance;
use crate::model::packet::{CLASSES, bit, slot};
use rig_lab::{EtsFaults, Selection};
use rig_units::Ppm;

/// How traffic classes share a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortClasses {
    /// Bit `p` of a class is set where priority `p` is in it.
    pub(super) members: [u8; CLASSES],
    /// What a class weighs, in millionths of all; 0 of a strict one.
    pub(super) weights: [u32; CLASSES],
    /// The most that a class sends, in bits a second of frames; 0 where nothing limits it.
    pub(super) limits: [u64; CLASSES],
    /// By how much a weight may be off.
    precision: Ppm,
}

/// Millionths in a hundredth.
const PERCENT: u32 = Ppm::ONE.0 / 100;
impl PortClasses {
    /// As `declared`; `None` where nothing is known of it.
    pub(super) fn declared(declared: &rig_lab::Ets) -> Option<PortClasses> {
        let (classes, table) = declared.classes.as_ref().zip(declared.priorities.as_ref())?;
        let mut ets = PortClasses {
            members: [0; CLASSES],
            weights: [0; CLASSES],
            limits: [0; CLASSES],
            precision: declared.precision.unwrap_or_default(),
        };
        for (class, priority) in table.iter().zip(0_u8..) {
            ets.members[slot(*class)] |= bit(priority);
        }
        for (weight, class) in ets.weights.iter_mut().zip(classes) {
            *weight = match class {
                Selection::Strict => 0,
                Selection::Percent(percent) => u32::from(*percent) * PERCENT,
            };
        }
        for (class, rate) in declared.limits.iter().flatten() {
            ets.limits[slot(*class)] = rate.bps;
        }
        Some(ets)
    }

    /// As a device has it whose ways `seed` decides.
    pub(super) fn of_device(mut self, seed: u64) -> PortClasses {
        let stream = chance::stream(seed, *b"etsshare");
        for (weight, class) in self.weights.iter_mut().zip(0..).filter(|(weight, _)| **weight > 0) {
            let values = u128::from(self.precision.0) * 2 + 1;
            let above = (u128::from(chance::draw(stream, class)) * values) >> 64;
            let above = u32::try_from(above).unwrap_or(0);
            // Nobody is left with nothing.
            *weight = (*weight + above).saturating_sub(self.precision.0).max(PERCENT / 10);
        }
        self
    }

    /// As a device has it that departs so, on a port of `line` bits a second.
    pub(super) fn departing(mut self, faults: &EtsFaults, line: u64) -> PortClasses {
        let weights = self.weights;
        let sharing = || (0..CLASSES).filter(|class| weights[*class] > 0);
        let (first, last) = (sharing().next(), sharing().next_back());
        let alike = Ppm::ONE.0 / u32::try_from(sharing().count().max(1)).unwrap_or(1);
        if let (true, Some(first), Some(last)) = (faults.ets_shares_swapped, first, last) {
            self.weights.swap(first, last);
        }
        if faults.ets_shares_equal {
            let shares = self.weights.iter_mut().filter(|weight| **weight > 0);
            shares.for_each(|weight| *weight = alike);
        }
        if faults.ets_unused_kept {
            for (limit, weight) in self.limits.iter_mut().zip(self.weights) {
                let own = u128::from(line) * u128::from(weight) / u128::from(Ppm::ONE.0);
                let own = u64::try_from(own).unwrap_or(u64::MAX);
                if weight > 0 && (*limit == 0 || *limit > own) {
                    *limit = own;
                }
            }
        }
        if faults.ets_strict_in_turn {
            let strict = (0..CLASSES).filter(|class| self.members[*class] != 0);
            for class in strict.filter(|class| self.weights[*class] == 0).collect::<Vec<_>>() {
                self.weights[class] = Ppm::ONE.0;
            }
        }
        if faults.ets_limit_ignored {
            self.limits = [0; CLASSES];
        }
        if faults.ets_priority_off_by_one {
            self.members = self.members.map(|members| members.rotate_right(1));
        }
        self
    }

    /// The traffic class of a priority.
    pub(super) fn class_of(&self, priority: u8) -> usize {
        self.members.iter().position(|members| members & bit(priority) != 0).unwrap_or(0)
    }
}
