//! How a switch sends and obeys priority flow control.

use crate::field::Holds::{Quanta as Pause, Range, Switch};
use crate::field::{Field, needed, optional};
use rig_units::{Quanta, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the switch sends and obeys priority flow control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Pause time that the switch asks for when it sends XOFF.
    pub quanta: Quanta,
    /// Time between two XOFF frames while a class stays congested, of each anew.
    pub refresh: Within,
    /// Time the MAC takes from the last bit of a PFC frame to the last start of a frame of that class
    /// (IEEE 802.3 31B.3.7 gives the most), of each frame anew.
    pub response: Within,
    /// Time from the last bit of the frame that crosses a limit to the XOFF standing at the MAC, of each anew. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emission: Option<Within>,
    /// Time from a group falling back to where it may go on to the XON standing at the MAC, of each anew. Absent: as an XOFF takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Within>,
    /// Whether an XON frame counts as a received PFC frame in `SAI_PORT_STAT_PFC_<p>_RX_PKTS`.
    pub xon_counts: bool,
}

impl Pfc {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("quanta", Pause, "65535q"),
        needed("refresh", Range, "100us").varies(),
        needed("response", Range, "2.02us").varies(),
        optional("emission", Range).varies(),
        optional("resumption", Range).varies(),
        needed("xon_counts", Switch, "true").tried(&["true", "false"]),
    ];
}
