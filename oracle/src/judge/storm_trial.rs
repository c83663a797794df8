//! What one trial showed of the watchdog, and what a judgement is about.

use crate::{Finding, Judgement, Looked, Prediction, Resolution};
use rig_capture::{FrameRef, Reading, Span};
use rig_units::{Dur, Time};

/// What one valid trial showed of one storm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StormTrial {
    /// The trial, from 1.
    pub trial: u32,
    /// When the first XOFF reached the device, on the clock of the session.
    pub storm_start: Time,
    /// From there to the end of the pause: for so long the class surely was paused.
    pub pause_length: Dur,
    /// The same by the stamps as they are, each of which may be off as its port allows.
    pub pause_end: Dur,
    /// From the first XOFF to the last frame of the storm, late ones included, by the stamps as they are.
    pub last_frame: Dur,
    /// Whether and when the watchdog acted.
    pub fired: Fired,
    /// When it let go, counted from the storm's start; `None` when it did not within the trial.
    pub restored: Option<Sighting>,
    /// How long after the storm's start the trial was watched for a detection.
    pub watched: Dur,
    /// The same for the end of the action, which another stream may show.
    pub followed: Dur,
    /// Whether the watchdog was started afresh in the trial: when it polls from then on follows from nothing that was seen before.
    pub restarted: bool,
}

/// Whether and when the watchdog acted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fired {
    /// It did, so long after the storm's start.
    At(Sighting),
    /// It did not.
    Never,
}

/// An instant read off the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Where it surely lies, in picoseconds from the storm's start.
    pub after: Span,
    /// The frames that show it.
    pub frames: Vec<FrameRef>,
}

/// What a judgement is about, for its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The measure, as named in the case.
    pub measure: &'static str,
    /// What it was taken on: `storm@p2 class 3`.
    pub on: String,
    /// Where in the sweep; empty without one.
    pub point: String,
}

impl StormTrial {
    /// The sighting of the detection, if there was one.
    pub fn detection(&self) -> Option<&Sighting> {
        match &self.fired {
            Fired::At(sighting) => Some(sighting),
            Fired::Never => None,
        }
    }
}

impl Subject {
    /// A departure of one trial, shown by the frames of its detection.
    pub(super) fn finding(&self, seen: &StormTrial, want: String, got: String) -> Finding {
        let frames = seen.detection().map(|at| at.frames.clone()).unwrap_or_default();
        Finding { rule: self.measure, want, got, trial: seen.trial, frames }
    }

    /// A judgement on this subject: each trial is a storm that was looked at.
    pub(super) fn judgement(
        &self,
        reading: Reading,
        prediction: Prediction,
        trials: usize,
        resolution: Resolution,
        findings: Vec<Finding>,
    ) -> Judgement {
        Judgement {
            measure: self.measure,
            subject: self.on.clone(),
            point: self.point.clone(),
            reading,
            prediction,
            trials: u32::try_from(trials).unwrap_or(u32::MAX),
            taken: Vec::new(),
            looked: Looked { count: u64::try_from(trials).unwrap_or(u64::MAX), of: "storms" },
            resolution,
            findings,
        }
    }
}
