//! What is declared of a router: it stores and forwards, with one delay for every frame, and neither classifies nor pauses.

use crate::Ports;
use rig_units::{Bytes, Dur};
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
    /// Time from the last bit in to the first bit out of an idle router.
    pub forwarding_delay: Dur,
}
