//! Numbers of frames that are searched: where a device sends XOFF, where it drops, where it sends XON.

/// One search, without any idea of what is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threshold {
    /// `buffer.xoff`: the number of frames held that makes the device send XOFF (F4, F5).
    Xoff {
        /// Counted streams: each in a priority group of its own.
        streams: Vec<String>,
        /// How several grow.
        growth: Growth,
    },
    /// `buffer.drop`: the number of frames of which the last is the first that is lost: a lossless group's headroom is full,
    /// or a lossy queue at its limit (F5).
    Drop {
        /// Counted streams.
        streams: Vec<String>,
        /// How several grow. One after the other, earlier ones are held short of their first loss.
        growth: Growth,
    },
    /// `buffer.xon`: of a group held at its XOFF, the number of frames that must leave for the device to send XON.
    Xon {
        /// The stream that stays held.
        stay: String,
        /// The stream of the same group whose frames leave.
        leave: String,
    },
}

/// How the groups of several streams grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// `streams: [a, b]`: one after the other, each earlier one held at the number that was found for it.
    InTurn,
    /// `together: [a, b]`: all at once, by the same number of frames.
    Together,
}

impl Threshold {
    /// Its name as a measure.
    pub const fn name(&self) -> &'static str {
        match self {
            Threshold::Xoff { .. } => "buffer.xoff",
            Threshold::Drop { .. } => "buffer.drop",
            Threshold::Xon { .. } => "buffer.xon",
        }
    }

    /// The counted streams whose numbers of frames it searches.
    pub fn streams(&self) -> Vec<&str> {
        match self {
            Threshold::Xoff { streams, .. } | Threshold::Drop { streams, .. } => {
                streams.iter().map(String::as_str).collect()
            }
            Threshold::Xon { stay, leave } => vec![stay, leave],
        }
    }
}
