//! Where the parts of a case stand in its file.

use rig_lab::yaml::Spot;
use std::collections::BTreeMap;

/// Where the parts of a case stand, by key.
pub(super) type Places = BTreeMap<String, Spot>;
