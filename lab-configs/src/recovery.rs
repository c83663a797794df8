//! How a reliable connection recovers from a hole in its packet sequence numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sender sends again for a hole, and what its receiver makes of what came behind that. Both are a NIC's own: each end of a
/// connection keeps to what its NIC has.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The receiver throws away what comes behind a hole, and the sender sends on from the packet that is missing (IBTA volume 1, 9.7.5 and
    /// 9.9).
    GoBackN,
    /// The receiver keeps it, and the sender sends the packet again that is missing, and no other (US patent 10,430,374 B2; NVIDIA
    /// `selective_repeat_forced_en` of `ROCE_ACCL`).
    SelectiveRepeat,
}

impl Recovery {
    /// What it is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Recovery::GoBackN => "go-back-N",
            Recovery::SelectiveRepeat => "selective repeat",
        }
    }
}
