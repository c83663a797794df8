//! What a case concludes, and what led to it.

use crate::{Prediction, Resolution};
use core::fmt;
use rig_capture::{FrameRef, Reading, Span, Unit};

/// The conclusion of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every measurement was taken and is as predicted, or as the case expects.
    Pass,
    /// The device deviates.
    Fail(Vec<Finding>),
    /// The evidence does not decide.
    Inconclusive(Doubt),
    /// The lab has no device to which the case applies; says why.
    Skipped(String),
    /// The rig or the lab broke; says how.
    Broken(String),
}

/// Why the evidence does not decide: a stable word that cases may expect, and the details for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// `storm-lapse`, `capture-hole`, `late-send`, `dut-late`, `not-observable`, `not-measured`, `stimulus-not-applied`,
    /// `too-few-trials`, `pause-not-honoured`, `not-steered`.
    pub reason: &'static str,
    /// When, how long, how many.
    pub detail: String,
}

/// One way in which the device departs from the prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The measure, as named in the case.
    pub rule: &'static str,
    /// What was predicted.
    pub want: String,
    /// What was measured.
    pub got: String,
    /// The trial that shows it, from 1.
    pub trial: u32,
    /// Frames in that trial's evidence that show it.
    pub frames: Vec<FrameRef>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { rule, want, got, trial, frames } = self;
        write!(f, "{rule}: want {want}, got {got}, trial {trial}")?;
        for (i, FrameRef(no)) in frames.iter().enumerate() {
            write!(f, "{}#{no}", if i == 0 { ", frames " } else { ", " })?;
        }
        Ok(())
    }
}

/// A measured value beside what was predicted for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The measure, as named in the case.
    pub measure: &'static str,
    /// What it was taken on: `storm@p2 class 3`, `victim`.
    pub subject: String,
    /// Where in the sweep: `pfcwd.detection_time=250ms`; empty without a sweep.
    pub point: String,
    /// The measured value: over several trials the hull of all readings.
    pub reading: Reading,
    /// What was predicted.
    pub prediction: Prediction,
    /// How many trials it rests on.
    pub trials: u32,
    /// What each trial gave by itself, in the unit of the reading; empty where it rests on all of them together.
    pub taken: Vec<Taken>,
    /// What it looked at.
    pub looked: Looked,
    /// How small a departure it shows.
    pub resolution: Resolution,
    /// Every departure, one a trial at most.
    pub findings: Vec<Finding>,
}

/// What one trial gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Its number, from 1.
    pub trial: u32,
    /// An interval that surely holds the value; `u64::MAX` is never.
    pub span: Span,
}

/// How many things were looked at, each of which could have been otherwise: of none nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    /// How many there were.
    pub count: u64,
    /// What they are: `frames`, `marks`.
    pub of: &'static str,
}

/// What one thing that a case asked for came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was measured, on so many things.
    Measured(Looked),
    /// There is no such thing on this device, or in this stimulus.
    NotApplicable(NotApplicable),
    /// It could not be told.
    Doubt(Doubt),
}

/// A part of a measure that does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotApplicable {
    /// The measure, as named in the case.
    pub measure: &'static str,
    /// What it would be taken on.
    pub subject: String,
    /// Where in the sweep; empty without one.
    pub point: String,
    /// The reason, as a clause.
    pub why: String,
}

impl fmt::Display for NotApplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotApplicable { measure, subject, point, why } = self;
        write!(f, "{measure} of {subject}")?;
        if !point.is_empty() {
            write!(f, " at {point}")?;
        }
        write!(f, ": {why}")
    }
}

/// A measured curve beside its prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// Name of the measure.
    pub measure: &'static str,
    /// What is swept.
    pub x: String,
    /// What it counts.
    pub x_unit: Unit,
    /// What is measured at each point counts: millionths of a probability, frames.
    pub unit: Unit,
    /// The points, by x.
    pub points: Vec<CurvePoint>,
    /// What the likeliest device would show at each point, where one was fitted; else empty.
    pub fitted: Vec<u64>,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurvePoint {
    /// Where it lies, in the curve's own unit.
    pub x: u64,
    /// Measured: the least and the greatest that the trials leave possible.
    pub measured: Span,
    /// The interval that was predicted.
    pub predicted: Span,
}
