//! What is declared of a router: it stores and forwards, with one delay whatever the frame, and neither classifies nor pauses.

use crate::Ports;
use rig_units::{Bytes, Ppm, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A router. Its rows are those of whatever forwards frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// Its ports, in order.
    pub ports: Ports,
    /// Largest frame the ports take, FCS counted.
    pub mtu: Bytes,
    /// How far its clock may be off, either way (IEEE 802.3 allows the clock of a port 100 ppm). Absent: it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Ppm>,
    /// Time from the last bit in to the first bit out of an idle router, of each frame anew. No frame overtakes another.
    pub forwarding_delay: Within,
}
