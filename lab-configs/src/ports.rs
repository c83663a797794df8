//! The ports of a device.

use rig_units::PortSpeed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All front-panel ports, as groups of equal ones.
pub type Ports = Vec<PortGroup>;

/// So many ports of one speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortGroup {
    /// Ports of this speed.
    pub count: u16,
    /// The nominal MAC rate of each.
    pub speed: PortSpeed,
}

/// Speed of port `index` of these, counted from 0; `None` past the last.
pub(crate) fn speed_of(ports: &[PortGroup], index: u16) -> Option<PortSpeed> {
    let mut before = 0;
    ports.iter().find_map(|group| {
        before += group.count;
        (index < before).then_some(group.speed)
    })
}
