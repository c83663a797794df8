//! A trial that is asked for: where, at which instant, and what for.

use super::threshold_search::{Counts, Mark};
use rig_oracle::judge;
use rig_units::Dur;

/// When a trial's storm is to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The trial starts so long from now.
    After(Dur),
    /// The storm's first frame reaches the device at this phase of the poll interval, on the session's clock.
    Phase(Dur),
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
    /// What the judge asked for, if it places the trials.
    pub inner: Option<judge::Ask>,
}
