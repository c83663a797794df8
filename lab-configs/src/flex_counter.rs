//! How a switch's software copies the chip's counters: SONiC's flex counters, groups of counters that are read and written to
//! COUNTERS_DB, each by an interval of its own (sonic.md section 4.2).

use crate::field::Holds::Time;
use crate::field::{Field, optional};
use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The copying of counters. Nothing set: what is shown is the chip's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlexCounter {
    /// Time between two copies of the counters of ports (`counterpoll port`, 1 s by default). Absent: there are no copies of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<Dur>,
    /// The same of those of queues (`counterpoll queue`, 10 s by default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Dur>,
    /// The same of what priority groups drop (`counterpoll pg-drop`, 10 s by default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pg_drop: Option<Dur>,
}

impl FlexCounter {
    /// Its fields, a row each. What a device shows that copies twice as seldom, one shows that copies as often as it should and takes
    /// an interval to read.
    pub const FIELDS: &[Field] = &[
        optional("port", Time).by_case().tried(&["x3", "never"]),
        optional("queue", Time).by_case().tried(&["x3", "never"]),
        optional("pg_drop", Time).by_case().tried(&["x3", "never"]),
    ];

    /// Time between two copies of a group.
    pub const fn every(&self, group: FlexGroup) -> Option<Dur> {
        match group {
            FlexGroup::Port => self.port,
            FlexGroup::Queue => self.queue,
            FlexGroup::PgDrop => self.pg_drop,
        }
    }
}

/// A group of counters that are copied together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlexGroup {
    /// What ports count.
    Port,
    /// What queues send and drop.
    Queue,
    /// What priority groups drop.
    PgDrop,
}

impl FlexGroup {
    /// Their names in cases, in the order of [`NAMES`](Self::NAMES).
    pub const WORDS: &[&str] = &["port", "queue", "pg-drop"];
    /// All of them, with those names.
    pub const NAMES: [(&str, FlexGroup); 3] = [
        (Self::WORDS[0], FlexGroup::Port),
        (Self::WORDS[1], FlexGroup::Queue),
        (Self::WORDS[2], FlexGroup::PgDrop),
    ];
    /// What stands before the name of a counter that is a copy, as `USER_WATERMARKS` before that of a watermark: the table of
    /// COUNTERS_DB.
    pub const TABLE: &str = "COUNTERS";
}
