//! A lab: which devices there are, how the rig is cabled to them, and through what they are reached.

use crate::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a device is reached.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// The model, in virtual time, in this process.
    Emulated,
}

/// A lab as it is used: profiles read and resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lab {
    /// Its name: the stem of its file.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// How its devices are reached.
    pub adapter: Adapter,
    /// Length of the cables between the rig's ports and the device, in centimetres.
    pub cable_cm: u64,
    /// The devices, in the order of the file. Rig port `p1` is cabled to each device's first port, and so on.
    pub duts: Vec<Profile>,
}
