//! Kinds of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of device a profile describes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An Ethernet switch.
    Switch,
    /// One RDMA NIC or more, each behind a port of the rig.
    Nic,
}

impl Kind {
    /// Their names in YAML.
    pub const NAMES: [(&str, Kind); 2] = [("switch", Kind::Switch), ("nic", Kind::Nic)];
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = Kind::NAMES.into_iter().find(|(_, kind)| kind == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}
