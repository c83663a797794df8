//! What a switch says of its reboots: by when its software is back, and for how long its chip passes nothing (sonic.md section 7, rows 15
//! and 69).

use crate::field::Holds::Time;
use crate::field::{Field, optional};
use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its reboots. Of a kind of which nothing is said nothing is predicted, and it is not asked for one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reboot {
    /// The latest at which its software is back after a warm reboot, and its watchdogs poll again: a storm that begins later is detected
    /// like any other. How much sooner is open. The chip goes on all the while, with all that it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm: Option<Dur>,
    /// The same of a fast reboot, in which the chip is begun anew once its software is up again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast: Option<Dur>,
    /// The longest from the first frame that does not pass in a fast reboot to the last; some time before the software is back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_outage: Option<Dur>,
    /// The same of a cold reboot, in which the chip stops with its software.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<Dur>,
    /// The same of a cold reboot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_outage: Option<Dur>,
}

impl Reboot {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        optional("warm", Time).tried(&["x4"]),
        optional("fast", Time).tried(&["x4"]),
        optional("fast_outage", Time).tried(&["x4"]),
        optional("cold", Time).tried(&["x4"]),
        optional("cold_outage", Time).tried(&["x2"]),
    ];

    /// The latest at which its software is back.
    pub const fn back(&self, kind: RebootKind) -> Option<Dur> {
        match kind {
            RebootKind::Warm => self.warm,
            RebootKind::Fast => self.fast,
            RebootKind::Cold => self.cold,
        }
    }

    /// The longest from the first frame that does not pass to the last; `None` where that is not said. A warm one takes nothing from anybody.
    pub const fn outage(&self, kind: RebootKind) -> Option<Dur> {
        match kind {
            RebootKind::Warm => Some(Dur::ZERO),
            RebootKind::Fast => self.fast_outage,
            RebootKind::Cold => self.cold_outage,
        }
    }
}

/// A way of beginning anew, by SONiC's words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RebootKind {
    /// The software alone: `warm-reboot`.
    Warm,
    /// The software, and the chip as soon as that is up again: `fast-reboot`.
    Fast,
    /// All of it at once: `reboot`.
    Cold,
}

impl RebootKind {
    /// Each of them.
    pub const ALL: [RebootKind; 3] = [RebootKind::Warm, RebootKind::Fast, RebootKind::Cold];

    /// What a switch that runs SONiC says, once it is back, that it was rebooted by: `cause` in a row of `REBOOT_CAUSE` (STATE_DB), as
    /// `show reboot-cause history` prints it.
    pub const fn cause(self) -> &'static str {
        match self {
            RebootKind::Warm => "warm-reboot",
            RebootKind::Fast => "fast-reboot",
            RebootKind::Cold => "reboot",
        }
    }

    /// The name under which a device counts how often it has come back from one.
    pub fn counter(self) -> String {
        format!("REBOOT_CAUSE {}", self.cause())
    }
}
