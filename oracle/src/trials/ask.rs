//! A trial that is asked for: where, at which instant, and what for.

use super::threshold_search::{Counts, Mark};
use rig_units::Dur;

/// When a trial's storm is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The trial starts so long from now.
    After(Dur),
    /// The storm's first frame reaches the device at this phase of the poll interval, on the session's clock.
    Phase(Dur),
}

/// When a trial starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// So long from now.
    After(Dur),
    /// As soon as the instant that lies `lead` into the trial falls on this phase of what comes around every so often, on the
    /// session's clock.
    InStep {
        /// From the start to that instant.
        lead: Dur,
        /// Where in the period it falls.
        phase: Dur,
        /// The period.
        every: Dur,
    },
}

/// For how long a device is left alone before a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rests {
    /// After a boot: until what it had begun before it was configured is over.
    pub fresh: Dur,
    /// After other trials: until what they may have left is over.
    pub used: Dur,
}

/// What has to be done with a device before its next trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// It is left alone.
    Rest,
    /// It is booted: what a trial left never is over.
    Reboot,
}

/// What a trial is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is judged at its point.
    Planned,
    /// It only shows the grid of the device's polls.
    Calibration,
    /// It tries one number of frames.
    Search(Mark),
}

/// The next trial.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Index of its point.
    pub point: usize,
    /// When its storm is to start.
    pub place: Place,
    /// How long its pause is to be; `None`: as its script says.
    pub length: Option<Dur>,
    /// How many frames each searched stream sends; `None`: nothing is searched.
    pub counts: Option<Counts>,
    /// What it is for.
    pub role: Role,
}
