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

/// Ports of these speeds, each as it is, or at its share of `top` where one is given: a port of speed `fastest` runs at that.
pub(crate) fn scaled(
    speeds: &[PortSpeed],
    fastest: Option<PortSpeed>,
    top: Option<PortSpeed>,
) -> Ports {
    let fastest = fastest.map_or(1, PortSpeed::bps);
    let mut ports: Ports = Vec::new();
    for &own in speeds {
        let speed = match top {
            None => own,
            Some(top) => {
                let share = u128::from(top.bps()) * u128::from(own.bps()) / u128::from(fastest);
                let share = u64::try_from(share).ok().and_then(PortSpeed::from_bps);
                // A share at which no byte lasts whole picoseconds: the speed of the wire itself.
                share.unwrap_or(top)
            }
        };
        match ports.last_mut().filter(|group| group.speed == speed) {
            Some(group) => group.count += 1,
            None => ports.push(PortGroup { count: 1, speed }),
        }
    }
    ports
}
