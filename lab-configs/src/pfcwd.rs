//! Configuration of the PFC watchdog, with SONiC's names where it has them (`PFC_WD` table).

use crate::field::Holds::{Count, Range, Switch, Time, Word};
use crate::field::{Field, needed, optional};
use core::fmt;
use rig_units::{Dur, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Which counters a watchdog reads and how it concludes from them (`pfcwd-traces/README.md`, systems.md B4).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RuleFamily {
    /// PFC frames since the last poll, no pause ended since, paused now and at the last poll.
    Broadcom,
    /// A queue that holds data, sent nothing and was paused more than 0.99 of the measured interval.
    Mellanox,
    /// Paused at the instant of the poll; no history.
    #[serde(rename = "cisco-8000")]
    Cisco8000,
    /// A queue that sent nothing: holding data with PFC frames arriving, or empty and paused above 0.8 of P.
    Barefoot,
    /// N checks of T that each saw a pause at any time since the check before (N = detection_time / poll_interval);
    /// then restoration_time of the action, whatever the storm does, then detection again.
    IntervalCounter,
    /// A timer in the ASIC that runs while the class is paused, and no poll (SAI's deadlock detection, `PFC_TC_DLD_INTERVAL`);
    /// then restoration_time of the action, whatever the storm does (`PFC_TC_DLR_INTERVAL`), then detection again.
    Hardware,
}

impl RuleFamily {
    /// All of them, by the names they have in YAML.
    pub const NAMES: [(&'static str, RuleFamily); 6] = [
        ("broadcom", RuleFamily::Broadcom),
        ("mellanox", RuleFamily::Mellanox),
        ("cisco-8000", RuleFamily::Cisco8000),
        ("barefoot", RuleFamily::Barefoot),
        ("interval-counter", RuleFamily::IntervalCounter),
        ("hardware", RuleFamily::Hardware),
    ];
}

impl fmt::Display for RuleFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What the watchdog does to a stormed queue.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Discard what the queue would send.
    Drop,
    /// Ignore the pause and send.
    Forward,
    /// Report only.
    Alert,
}

/// What becomes of the frames that a queue held when the drop action begins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Backlog {
    /// They leave at line rate.
    Drains,
    /// They are discarded.
    Discarded,
}

/// How the drop action is built.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DropBy {
    /// Ingress table (class and in-port of the stormed port) and egress table: both directions of the port's class.
    Acl,
    /// The queue's buffer profile becomes zero: only what would leave by the queue.
    ZeroBuffer,
}

/// What each true poll takes from the time left.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Charge {
    /// The nominal poll interval; fires when the time left is no more than one interval.
    Interval,
    /// The measured time since the last evaluated poll; fires when the sum exceeds 0.99 of the detection time.
    Elapsed,
}

/// Which way a configuration takes into the device, and so what is checked on it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ConfigPath {
    /// Validated against the YANG model: a detection time below the poll interval is refused.
    Yang,
    /// Written to CONFIG_DB directly: only orchagent's own range checks apply.
    Redis,
    /// Typed, as `pfcwd start` and `pfcwd interval`: each looks at the ranges of what it sets, and the second at the times that are set.
    Cli,
}

/// The watchdog's configuration, the same on every port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfcwd {
    /// How long a queue must be stormed; 100 ms to 5 s.
    pub detection_time: Dur,
    /// How long a stormed queue must be quiet; 100 ms to 60 s. Absent: it never restores by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoration_time: Option<Dur>,
    /// Time between two polls of the counters.
    pub poll_interval: Dur,
    /// What is done to a stormed queue.
    pub action: Action,
    /// Whether the drop handler sits on every guarded queue of every port, storm or not.
    pub big_red_switch: bool,
    /// What each true poll takes from the time left.
    pub charge: Charge,
    /// Fewest consecutive true polls before it fires.
    pub min_samples: u32,
    /// By how much later than the poll interval after the one before each poll comes, of each anew. It adds up from poll to poll, as
    /// in a loop that sleeps once its work is done. Absent: not at all, so that all polls lie on one grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Within>,
    /// At most so many polls in a row are left out, each time another number of them, as by a loop whose work takes longer than the
    /// poll interval. Absent, or 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "none_for_zero")]
    pub skipped_polls: Option<u32>,
    /// From the poll that decides to the instant at which the action begins or ends on the wire, of each anew: what the
    /// software between the two takes (redis, orchagent, syncd, SAI). An alert is the decision itself. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_latency: Option<Within>,
    /// Of a watchdog in hardware: by how much later than it is set to each of its timers runs out, of each anew, such as a tick of
    /// its clock. No other has timers. Absent: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_lag: Option<Within>,
    /// What becomes of the held frames when the drop action begins.
    pub backlog: Backlog,
    /// How the drop action is built.
    pub drop_by: DropBy,
    /// Which checks a configuration passes on its way in.
    pub config_path: ConfigPath,
}

/// A count of which 0 says the same as nothing.
fn none_for_zero<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    Ok(Option::deserialize(value)?.filter(|&count| count > 0))
}

impl Pfcwd {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("detection_time", Time, "200ms").by_case().live().timing(),
        optional("restoration_time", Time).by_case().live().timing(),
        needed("poll_interval", Time, "100ms").by_case().live().timing(),
        needed("action", Word, "drop").by_case().live().tried(&["drop", "forward", "alert"]),
        needed("big_red_switch", Switch, "false").by_case().live().tried(&["true"]),
        needed("charge", Word, "interval").live().timing().tried(&["interval", "elapsed"]),
        needed("min_samples", Count, "1").live().timing().tried(&["2"]),
        optional("jitter", Range).live().varies().tried(&["never", "50us..1.1ms"]),
        optional("skipped_polls", Count).live().tried(&["1"]),
        optional("action_latency", Range).varies().tried(&["20ms"]),
        optional("timer_lag", Range).varies().tried(&["20ms"]),
        needed("backlog", Word, "drains").live().tried(&["drains", "discarded"]),
        needed("drop_by", Word, "acl").live().tried(&["acl", "zero-buffer"]),
        needed("config_path", Word, "yang").live().tried(&["yang", "redis", "cli"]),
    ];

    /// Detection times that orchagent accepts (`PFC_WD_DETECTION_TIME_MIN/MAX`, pfcwdorch.h).
    pub const DETECTION_RANGE: (Dur, Dur) = (Dur::ms(100), Dur::ms(5_000));
    /// Restoration times that orchagent accepts (`PFC_WD_RESTORATION_TIME_MIN/MAX`, pfcwdorch.h).
    pub const RESTORATION_RANGE: (Dur, Dur) = (Dur::ms(100), Dur::ms(60_000));
    /// Poll intervals that SONiC's own command takes (sonic-utilities `pfcwd/main.py`).
    pub const TYPED_INTERVALS: (Dur, Dur) = (Dur::ms(100), Dur::ms(1_000));
    /// More polls in a row than this are not left out but lost.
    pub const MOST_SKIPPED: u32 = 100;
}
