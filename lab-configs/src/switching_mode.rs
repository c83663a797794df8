//! Whether a switch has to have all of a frame before it goes on with it (`SAI_SWITCH_ATTR_SWITCHING_MODE`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a frame has come: from then on its cells are taken and count at every limit, and its way through the switch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchingMode {
    /// Once its last bit is in.
    #[default]
    StoreAndForward,
    /// Once its first bit is in, behind the preamble. A PFC frame has come with its last bit here, too.
    CutThrough,
}

impl SwitchingMode {
    /// Whether it is the one of a switch of which nothing is said.
    pub fn is_usual(&self) -> bool {
        *self == SwitchingMode::default()
    }
}
