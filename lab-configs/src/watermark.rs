//! How a switch's software keeps watermarks: SONiC's flex counters read and clear those of the chip, and three copies hold
//! the greatest value read (sonic.md sections 2.5 and 4.2).

use crate::field::Holds::Time;
use crate::field::{Field, optional};
use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The polling of watermarks. Nothing set: what is shown is the chip's own, until it is cleared by order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watermark {
    /// Time between two readings, each of which clears the chip's watermarks (`counterpoll watermark`, 60 s by default).
    /// Absent: they are not polled, and there are no copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<Dur>,
    /// Time between two resets of the periodic copy (`watermark telemetry interval`). Absent: 120 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Dur>,
}

impl Watermark {
    /// Its fields, a row each. What a device that polls or resets more often shows, one at another phase shows, too.
    pub const FIELDS: &[Field] = &[
        optional("poll", Time).by_case().tried(&["x1.1", "x1.5", "x2", "never"]),
        optional("telemetry", Time).by_case().tried(&["x1.25", "x1.5", "x2", "never"]),
    ];

    /// The telemetry interval of a device on which none is configured.
    pub const TELEMETRY: Dur = Dur::ms(120_000);
}

/// One of the three copies of every watermark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatermarkCopy {
    /// `PERIODIC_WATERMARKS`: reset at every telemetry interval.
    Periodic,
    /// `PERSISTENT_WATERMARKS`: until its own clear request.
    Persistent,
    /// `USER_WATERMARKS`: until its own clear request.
    User,
}

impl WatermarkCopy {
    /// All of them, with the names of their tables.
    pub const NAMES: [(&str, WatermarkCopy); 3] = [
        ("PERIODIC_WATERMARKS", WatermarkCopy::Periodic),
        ("PERSISTENT_WATERMARKS", WatermarkCopy::Persistent),
        ("USER_WATERMARKS", WatermarkCopy::User),
    ];

    /// Those that are cleared by request, with their names in cases.
    pub const CLEARED: [(&str, WatermarkCopy); 2] =
        [("user", WatermarkCopy::User), ("persistent", WatermarkCopy::Persistent)];

    /// The name of its table.
    pub const fn table(self) -> &'static str {
        match self {
            WatermarkCopy::Periodic => "PERIODIC_WATERMARKS",
            WatermarkCopy::Persistent => "PERSISTENT_WATERMARKS",
            WatermarkCopy::User => "USER_WATERMARKS",
        }
    }
}
