//! A stretch of a trial in which some flows share a path.

use rig_units::Dur;

/// Flows that share a path, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The flows: at least two, all that are under way.
    pub flows: Vec<String>,
    /// From when on, from the trial's start.
    pub from: Dur,
    /// Until when.
    pub until: Dur,
}
