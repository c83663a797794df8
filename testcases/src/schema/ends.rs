//! Between which addresses frames go: of which version of IP, and which of those that either end has.

use crate::wire::{ADDRESSES, GIDS};
use rig_lab::IpVersion;
use serde_json::{Value, json};

/// The version of IP of a stream's frames, or of those of a flow's connection.
pub(super) fn over() -> Value {
    json!({
        "description": "the version of IP that its frames have; by default ipv4. Over ipv6 they are longer, which the size of a stream's counts",
        "enum": IpVersion::NAMES.map(|(name, _)| name),
    })
}

/// One of the rig's addresses.
pub(super) fn address() -> Value {
    json!({
        "description": "which of the addresses of the rig's port; 1 is the usual one",
        "type": "integer", "minimum": 1, "maximum": ADDRESSES,
    })
}

/// One of the GIDs of a NIC.
pub(super) fn gid() -> Value {
    json!({
        "description": "which of the addresses of the NIC, each a GID of it; 1 is the usual one",
        "type": "integer", "minimum": 1, "maximum": GIDS,
    })
}
