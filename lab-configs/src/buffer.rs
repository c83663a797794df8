//! The packet buffer: one shared pool, what each priority group has for itself, and the thresholds between.

use rig_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ingress admission of lossless and egress admission of lossy traffic (sonic.md section 3.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// The shared pool, without reserves and headroom.
    pub pool: Bytes,
    /// Unit of allocation; a frame takes whole cells.
    pub cell: Bytes,
    /// What each lossless priority group has before it touches the pool (`size`).
    pub reserved: Bytes,
    /// `dynamic_th` k of lossless priority groups: the limit is 2^k times what is left of the pool.
    pub dynamic_th: i8,
    /// `dynamic_th` k of lossy egress queues.
    pub lossy_dynamic_th: i8,
    /// XON is sent when a group's shared use falls to `max(xon, limit - xon_offset)`.
    pub xon: Bytes,
    /// See `xon`.
    pub xon_offset: Bytes,
    /// Headroom of each lossless group above its limit (`xoff`): what may still arrive after XOFF.
    pub xoff: Bytes,
}
