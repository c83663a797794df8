//! A stretch of a trial in which some flows share a path.

use rig_units::Dur;

/// Flows that share a path, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The flows: at least two, all that are under way.
    pub flows: Vec<String>,
    /// From when on, from the trial's start.
    pub from: Dur,
    /// Until when, from the trial's start.
    pub until: Dur,
}

impl Window {
    /// Every flow of some windows, once.
    pub fn flows_of(windows: &[Window]) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for flow in windows.iter().flat_map(|window| &window.flows) {
            if !all.contains(&flow.as_str()) {
                all.push(flow);
            }
        }
        all
    }
}
