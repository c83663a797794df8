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
    /// A router that stores and forwards, with one delay for every frame.
    Router,
}

impl Kind {
    /// Their names in YAML.
    pub const NAMES: [(&str, Kind); 3] =
        [("switch", Kind::Switch), ("nic", Kind::Nic), ("router", Kind::Router)];

    /// Its name with the article.
    pub const fn called(self) -> &'static str {
        match self {
            Kind::Switch => "a switch",
            Kind::Nic => "a NIC",
            Kind::Router => "a router",
        }
    }

    /// Their names, as what is wanted of whoever names none.
    pub fn wanted() -> String {
        Kind::NAMES.map(|(name, _)| name).join(" or ")
    }
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = Kind::NAMES.into_iter().find(|(_, kind)| kind == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}
