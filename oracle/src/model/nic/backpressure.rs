//! When a NIC sends PFC, and what it says.

use rig_lab::NicPfc;
use rig_units::{Dur, Quanta, Within};

/// When a NIC sends PFC, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sends {
    /// Bit `c` is set when it sends PFC for class `c`.
    pub classes: u8,
    /// More of a class that waits calls for XOFF.
    pub xoff: u64,
    /// No more of it calls for XON.
    pub xon: u64,
    /// In steps of how many bytes it keeps the two; without it to the byte.
    pub threshold_step: Option<u64>,
    /// What XOFF asks for.
    pub quanta: Quanta,
    /// From one XOFF to the next.
    pub refresh: Dur,
    /// From what calls for a word to the word.
    pub emission: Within,
    /// How long it asks before it stops asking, if it ever does.
    pub watchdog: Option<Within>,
}

impl Sends {
    /// As `declared`; `None` where it sends none.
    pub(in crate::model::nic) fn declared(declared: &NicPfc) -> Option<Sends> {
        Some(Sends {
            classes: declared.enabled(),
            xoff: declared.xoff?.0,
            xon: declared.xon?.0,
            threshold_step: declared.threshold_step.map(|step| step.0),
            quanta: declared.quanta?,
            refresh: declared.refresh?,
            emission: declared.emission.unwrap_or(Within::ZERO),
            watchdog: declared.watchdog,
        })
    }
}
