//! The packet buffer: pools that are counters over one memory, what each priority group has for itself, and the thresholds
//! between (sonic.md sections 2.4 and 3.5, systems.md A1 and A6).

use crate::Memories;
use crate::field::Holds::{Count, Exponent, Range, Size, Word};
use crate::field::{Field, needed, optional};
use crate::memories::none_for_one;
use rig_units::{Bytes, Dur, PortSpeed, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Ingress admission of lossless and egress admission of lossy traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// `ingress_lossless_pool`: what all traffic shares, without reserves and headroom.
    pub pool: Bytes,
    /// `egress_lossy_pool`: what all lossy queues share of it.
    pub lossy_pool: Bytes,
    /// Unit of allocation; a frame takes whole cells.
    pub cell: Bytes,
    /// What is stored with each frame and takes its place in the first cell.
    pub descriptor: Bytes,
    /// What each lossless priority group has before it touches the pool (`size`).
    pub reserved: Bytes,
    /// `dynamic_th` k of lossless priority groups: the limit is 2^k times what is left of the pool.
    pub dynamic_th: i8,
    /// `static_th` of lossless priority groups: the limit, whatever is left. Absent: `dynamic_th` holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_th: Option<Bytes>,
    /// `dynamic_th` of a port's lossless groups together: they get 2^k times what is left of the pool, and each group 2^k times
    /// what is left of that. Absent: ports have no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_dynamic_th: Option<i8>,
    /// `dynamic_th` k of lossy egress queues: 2^k times what is left of the lossy pool.
    pub lossy_dynamic_th: i8,
    /// `static_th` of lossy egress queues: the limit of each, whatever is left. Absent: `lossy_dynamic_th` holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossy_static_th: Option<Bytes>,
    /// XON is sent when a group's shared use falls to `max(xon, limit - xon_offset)`.
    pub xon: Bytes,
    /// See `xon`.
    pub xon_offset: Bytes,
    /// Headroom of each lossless group above its limit (`xoff`): what may still arrive after XOFF.
    pub xoff: Bytes,
    /// The shared headroom pool, out of which every group takes at most `xoff`. Absent: each group has `xoff` of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<Bytes>,
    /// By how many cells the limit and the headroom of each lossless group or virtual output queue, how far below its limit it may go on, and the
    /// limit of each lossy queue, may lie off what is declared, either way: what frames on their way inside, rounding and an accounting that lags
    /// come to. A device has one of these at each, and keeps it. Absent, or 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "none_for_zero")]
    pub margin: Option<u32>,
    /// How long after it has come in a frame does not count yet at the limit of its lossless group, whose cells it has: lazy accounting. The pool,
    /// the headroom and what leaves count at once. A device has one of these, and keeps it. Absent, or 0: frames count at once.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "at_once_for_zero"
    )]
    pub accounting_delay: Option<Within>,
    /// Where the frame is charged that makes a group cross its limit.
    pub crossing: Crossing,
    /// Whose share of the pool a limit is about. Absent: the ingress priority group's.
    #[serde(default, deserialize_with = "or_ingress")]
    pub accounting: Accounting,
    /// The packet memories (ITM, XPE) among which frames are divided by the pipe that they come in by: each has pools, groups and queues of its
    /// own, an equal part of what is declared of each pool, and all other thresholds as they are declared. Absent, or 1: no matter where from.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "none_for_one")]
    pub ingress_memories: Option<Memories>,
    /// The same by the pipe that they leave by; with both there is a memory for each pair. Absent, or 1: no matter where to.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "none_for_one")]
    pub egress_memories: Option<Memories>,
}

impl Buffer {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("pool", Size, "10875072B").by_case(),
        needed("lossy_pool", Size, "10875072B").by_case(),
        needed("cell", Size, "208B"),
        needed("descriptor", Size, "0B"),
        needed("reserved", Size, "1248B").by_case(),
        needed("dynamic_th", Exponent, "-3").by_case().live(),
        optional("static_th", Size).by_case(),
        optional("port_dynamic_th", Exponent).by_case(),
        needed("lossy_dynamic_th", Exponent, "3").by_case(),
        optional("lossy_static_th", Size).by_case(),
        needed("xon", Size, "2288B").by_case(),
        needed("xon_offset", Size, "2288B").by_case(),
        needed("xoff", Size, "165568B").by_case(),
        optional("headroom_pool", Size).by_case(),
        optional("margin", Count).tried(&["40"]),
        // Longer than from one frame to the next where groups are filled.
        optional("accounting_delay", Range).tried(&["100us"]),
        needed("crossing", Word, "headroom").tried(&["headroom", "shared"]),
        optional("accounting", Word).tried(&["ingress", "voq"]),
        optional("ingress_memories", Count).tried(&["2"]),
        optional("egress_memories", Count).tried(&["2"]),
    ];

    /// More cells than this are no margin.
    pub const MOST_MARGIN: u32 = 1_000;

    /// Later than this no frame counts: then nothing could be told.
    pub const MOST_DELAY: Dur = Dur::ms(1);

    /// How many bytes, preamble and gaps counted, a port of this speed may have brought that do not count yet.
    pub fn uncounted(&self, speed: PortSpeed) -> u64 {
        self.accounting_delay.map_or(0, |delay| delay.most().0 / speed.byte().0.max(1))
    }

    /// What is declared that leaves open how much more than its limit a group may take in, in words; `None`: nothing.
    pub fn left_open(&self) -> Option<String> {
        let margin = self.margin.map(|cells| format!("margin of {cells} cells"));
        margin.or_else(|| Some(format!("accounting delay of {}", self.accounting_delay?)))
    }

    /// How many bytes a threshold may lie off what is declared, either way.
    pub fn margin(&self) -> u64 {
        u64::from(self.margin.unwrap_or(0)).saturating_mul(self.cell.0.max(1))
    }

    /// What is set of ingress groups although limits are those of virtual output queues: there is neither a reserve nor a limit of the
    /// port (SAI has both of what comes in by a port), nor is it declared how late such a queue counts.
    pub fn misplaced(&self) -> Vec<&'static str> {
        let set = [
            ("reserved", self.reserved > Bytes(0)),
            ("port_dynamic_th", self.port_dynamic_th.is_some()),
            ("accounting_delay", self.accounting_delay.is_some()),
        ];
        let voq = self.accounting == Accounting::Voq;
        set.into_iter().filter(|(_, is_set)| voq && *is_set).map(|(path, _)| path).collect()
    }
}

/// Where the frame is charged that makes a group cross its limit. It makes the device send XOFF either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// To the headroom: it would pass the limit, so it is the first one above.
    Headroom,
    /// To the pool: the group was within its limit when it arrived. The one after it is the first in the headroom.
    Shared,
}

/// Whose share of the pool a lossless limit is about, and so which frames make the device send XOFF. Headroom is the ingress
/// priority group's either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// The priority group's: everything of one class that came in by one port, wherever it goes.
    #[default]
    Ingress,
    /// The virtual output queue's: everything of one class that goes to one port, wherever it came in.
    Voq,
}

/// A count of which 0 says the same as nothing.
fn none_for_zero<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u32>, D::Error> {
    Ok(Option::deserialize(value)?.filter(|&count| count > 0))
}

/// A delay of which 0 says the same as nothing.
fn at_once_for_zero<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Within>, D::Error> {
    Ok(Option::deserialize(value)?.filter(|&delay| delay != Within::ZERO))
}

/// What is unset is the default: profiles written before there was a choice stay as they are.
fn or_ingress<'de, D: Deserializer<'de>>(value: D) -> Result<Accounting, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}
