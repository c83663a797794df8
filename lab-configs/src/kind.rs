//! Kinds of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of device a profile describes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An Ethernet switch.
    Switch,
    /// One RDMA NIC or more, each behind a port of the rig.
    Nic,
    /// A router that stores and forwards, with one delay for every frame.
    Router,
    /// A software RDMA router: containers of one host share a NIC by a core that passes on what they ask for.
    RdmaRouter,
    /// Two NICs of blue-rdma, whose headers are not those of RoCEv2, each behind a port of the rig.
    BlueRdma,
    /// Several devices, a switch among them, and the links between them. A lab makes it; no profile is of it.
    #[schemars(skip)]
    System,
}

impl Kind {
    /// Their names in YAML.
    pub const NAMES: [(&str, Kind); 6] = [
        ("switch", Kind::Switch),
        ("nic", Kind::Nic),
        ("router", Kind::Router),
        ("rdma-router", Kind::RdmaRouter),
        ("blue-rdma", Kind::BlueRdma),
        ("system", Kind::System),
    ];

    /// Those of devices that a profile describes.
    pub const OF_PROFILES: &[(&str, Kind)] = Kind::NAMES.split_at(5).0;

    /// Those that forward frames from one port to another.
    pub const FORWARDING: &[Kind] = &[Kind::Switch, Kind::Router, Kind::System];

    /// Those of them that are one device, which passes on what comes over another.
    pub const PASSING: &[Kind] = Kind::FORWARDING.split_at(2).0;

    /// The same by name.
    pub fn passing() -> impl Iterator<Item = (&'static str, Kind)> {
        Kind::OF_PROFILES.iter().copied().filter(|(_, kind)| kind.is_passing())
    }

    /// Whether it passes on what comes over another device.
    pub fn is_passing(self) -> bool {
        Kind::PASSING.contains(&self)
    }

    /// Whether frames end at NICs of it, which begin connections by themselves.
    pub const fn has_nics(self) -> bool {
        matches!(self, Kind::Nic | Kind::RdmaRouter | Kind::BlueRdma)
    }

    /// Whether it stands in no system: it is under test by itself.
    pub(crate) const fn stands_alone(self) -> bool {
        matches!(self, Kind::RdmaRouter | Kind::BlueRdma)
    }

    /// Its name with the article.
    pub const fn called(self) -> &'static str {
        match self {
            Kind::Switch => "a switch",
            Kind::Nic => "a NIC",
            Kind::Router => "a router",
            Kind::RdmaRouter => "a software RDMA router",
            Kind::BlueRdma => "a pair of NICs of blue-rdma",
            Kind::System => "a system",
        }
    }

    /// One of those that pass on what comes over another device, in words: `a switch or a router`.
    pub(crate) fn any_passing() -> String {
        Kind::PASSING.iter().map(|kind| kind.called()).collect::<Vec<_>>().join(" or ")
    }

    /// Some of their names, as what is wanted of whoever names none.
    pub fn wanted(kinds: &[(&str, Kind)]) -> String {
        let names: Vec<&str> = kinds.iter().map(|&(name, _)| name).collect();
        names.join(" or ")
    }
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = Kind::NAMES.into_iter().find(|(_, kind)| kind == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}
