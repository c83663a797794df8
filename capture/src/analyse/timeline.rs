//! What happened in one trial, as lanes over time: for a page, not for a verdict.

use rig_units::{Dur, Time};

/// The lanes. Instants count from the start of the trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    /// Intervals during which a class was paused, by who paused it: `storm@p2 class 3`.
    pub pauses: Vec<(String, Vec<(Time, Time)>)>,
    /// Frames sent and not yet delivered: a step each time that their number changes.
    pub held: Vec<(Time, u64)>,
    /// Frames delivered so far: a step each time that their number changes.
    pub delivered: Vec<(Time, u64)>,
    /// When the device sent a PFC frame.
    pub dut_pfc: Vec<Time>,
    /// Instants worth a name: `detection`, `storm ends`.
    pub marks: Vec<(Time, String)>,
    /// How long the trial was watched.
    pub length: Dur,
}
