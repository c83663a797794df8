//! Why a case that suits a device cannot be done there.

/// What a case that suits a device lacks there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// Something that a control would do: configure the device, read its counters, hear its events, one of its verbs.
    Control,
    /// Timestamps that are near enough.
    Stamps,
    /// That the device is found as the case needs it.
    Found,
    /// Something else of the lab: keys, a link that can be taken down, ports at line rate.
    Lab,
}

impl Missing {
    /// Every one with the word for it, in the order of a table.
    pub const NAMES: [(&'static str, Missing); 4] = [
        ("control", Missing::Control),
        ("stamps", Missing::Stamps),
        ("found", Missing::Found),
        ("lab", Missing::Lab),
    ];

    /// With the reason, in words.
    pub fn so(self, why: impl Into<String>) -> Unfit {
        Unfit { lack: self, why: why.into() }
    }
}

/// Why nothing can be done of a case on a device that it suits: the reason of a skip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What it lacks.
    pub lack: Missing,
    /// In words.
    pub why: String,
}
