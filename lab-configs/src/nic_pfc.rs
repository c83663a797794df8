//! How a NIC obeys priority flow control: in which priorities, and how soon.

use crate::field::Holds::{List, Range};
use crate::field::{Field, needed};
use rig_units::Within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a NIC obeys priority flow control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicPfc {
    /// Priorities with PFC enabled (IEEE 802.1Q DCBX `pfcEnable`; `dcb pfc`, `mlnx_qos --pfc`): an XOFF for another holds nothing.
    pub priorities: Vec<u8>,
    /// Time from the last bit of a PFC frame to the last start of a packet of that priority (IEEE 802.3 31B.3.7 gives the most), of each
    /// frame anew.
    pub response: Within,
}

impl NicPfc {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("priorities", List, "[3,4]").by_case().live(),
        needed("response", Range, "1us").varies(),
    ];

    /// Whether an XOFF for `class` holds what it sends in that class.
    pub fn obeys(&self, class: u8) -> bool {
        self.priorities.contains(&class)
    }

    /// The same of all of them: bit `c` is class `c`.
    pub fn enabled(&self) -> u8 {
        let bits = self.priorities.iter().filter_map(|class| 1_u8.checked_shl((*class).into()));
        bits.fold(0, |all, bit| all | bit)
    }
}
