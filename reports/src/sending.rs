//! What the rig itself sent in the trials of a case that count: the same frames counted at three places, beside the plan,
//! and on real ports how exactly it kept to its plan.

use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One stream or storm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sending {
    /// Its name in the case.
    pub name: String,
    /// The fewest frames that its rhythm asks for, pauses taken off; `null` where that cannot be told.
    pub planned_lo: Option<u64>,
    /// The most.
    pub planned_hi: Option<u64>,
    /// Sent by the rig.
    pub sent: u64,
    /// Received by the rig; `null` for a storm, whose frames end at the device.
    pub received: Option<u64>,
    /// Of both, those that are recorded frame by frame.
    pub recorded: u64,
    /// How far gaps from frame to frame were from the planned ones; `null` in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_error: Option<Errors>,
    /// How late frames were handed over; `null` in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_by: Option<Errors>,
}

/// Figures of a histogram, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each is the quantile that its name says")]
pub struct Errors {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

/// What the machine itself allowed right before the run: a loop that keeps the same gap and sends nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// The gap, in picoseconds.
    pub gap: u64,
    /// How far off it was.
    pub gap_error: Errors,
    /// How late it was.
    pub late_by: Errors,
}

impl Floor {
    /// In one line for people.
    pub fn line(&self) -> String {
        let Floor { gap, gap_error, late_by } = self;
        format!("gap error at {}: {}; late by {}", Dur(*gap), gap_error.line(), late_by.line())
    }
}

impl Errors {
    /// In one line for people.
    pub fn line(&self) -> String {
        let Errors { p50, p90, p99, max, .. } = *self;
        let [p50, p90, p99, max] = [p50, p90, p99, max].map(whole);
        format!("p50 {p50}, p90 {p90}, p99 {p99}, max {max}")
    }

    /// Each figure as people read it, to three digits.
    pub fn shown(&self) -> [String; 5] {
        let Errors { p50, p90, p99, p99_9, max } = *self;
        [p50, p90, p99, p99_9, max].map(whole)
    }
}

/// To three digits, not below a nanosecond: the histogram keeps no more.
fn whole(ps: u64) -> String {
    let mut unit = 1_000;
    while ps / unit >= 1_000 {
        unit *= 10;
    }
    match (ps + unit / 2) / unit * unit {
        0 => "0ns".to_owned(),
        rounded => Dur(rounded).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_to_three_digits_and_not_below_a_nanosecond() {
        let shown = [0, 499, 7_499, 123_456, 999_600_000, 12_345_678_901].map(whole);
        assert_eq!(shown, ["0ns", "0ns", "7ns", "123ns", "1ms", "12.3ms"]);
    }

    #[test]
    fn the_floor_is_one_line() {
        let errors =
            |p50| Errors { p50, p90: p50 * 2, p99: p50 * 10, p99_9: p50 * 50, max: p50 * 100 };
        let floor = Floor { gap: 100_000_000, gap_error: errors(80_000), late_by: errors(45_000) };
        insta::assert_snapshot!(floor.line(), @"gap error at 100us: p50 80ns, p90 160ns, p99 800ns, max 8us; late by p50 45ns, p90 90ns, p99 450ns, max 4.5us");
    }
}
