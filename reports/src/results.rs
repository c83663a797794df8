//! `results.json`: the measurements of a run for scripts, versioned.
//!
//! Equal runs give equal bytes, apart from what sits under `wall`. Lengths of time are picoseconds, probabilities
//! and rates millionths, as the `unit` beside them says.

mod build;
mod read;

pub use read::Unreadable;

use crate::Sending;
use crate::outcome::Outcome;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The format that this version writes, and the only one it reads.
pub const FORMAT: &str = "rig-results/1";

/// A whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// [`FORMAT`].
    pub format: String,
    /// Version of the rig.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// The lab.
    pub lab: String,
    /// `virtual` or `wire`.
    pub executor: String,
    /// Mutations, as typed.
    pub mutations: Vec<String>,
    /// Why the run is not whole; `null` when it is.
    pub partial: Option<String>,
    /// Cases that never ran because of that.
    pub not_run: Vec<String>,
    /// Counts and exit code.
    pub summary: Summary,
    /// The cases, in catalogue order.
    pub cases: Vec<Case>,
    /// All that may differ between equal runs.
    pub wall: Wall,
}

/// How many cases ended how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the number of cases that its name says")]
pub struct Summary {
    pub run: usize,
    pub passed: usize,
    pub failed: usize,
    pub inconclusive: usize,
    pub broken: usize,
    pub skipped: usize,
    /// Exit code of the run.
    pub exit: u8,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// `suite::case`
    pub id: String,
    /// The conclusion.
    pub verdict: Outcome,
    /// A stable word for it: the doubt's (`storm-lapse`), `not-applicable`, `rig-or-lab`; `null` on pass and fail.
    pub reason: Option<String>,
    /// The reason in full; `null` on pass and fail.
    pub detail: Option<String>,
    /// The device; empty when the case was skipped.
    pub dut: String,
    /// Why a lab cares.
    pub why: String,
    /// Where the case comes from.
    pub source: Vec<String>,
    /// Trials.
    pub trials: Trials,
    /// What the rig sent in the trials that count; absent where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sending: Vec<Sending>,
    /// What was measured, beside what was predicted.
    pub measurements: Vec<Measurement>,
    /// What was departed from; empty unless the verdict is `fail`.
    pub findings: Vec<Finding>,
    /// Measured curves.
    pub curves: Vec<Curve>,
    /// What of the case could not be done in this lab, each with the reason; absent where there is no such thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What of its measures does not apply to this device or stimulus, each with the reason; absent where there is no such thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<String>,
    /// Captures kept.
    pub evidence: Vec<Evidence>,
}

/// How many trials a case took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trials {
    /// Planned by the judgement.
    pub planned: u32,
    /// Run, void ones included.
    pub run: u32,
    /// Void ones.
    pub void: Vec<Void>,
}

/// A trial that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Void {
    /// Its number, from 1.
    pub trial: u32,
    /// Why.
    pub reason: String,
}

/// One measured value beside its prediction. `name`, `subject` and `point` name it within its case.
/// `18446744073709551615` stands for no limit as an upper end, and for what never happened as the value itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// The measure, such as `pfcwd.detection`.
    pub name: String,
    /// What it was taken on.
    pub subject: String,
    /// Where in the sweep; empty without one.
    pub point: String,
    /// `ps`, `frames`, `ppm` or `bps`: the unit of the five values that follow.
    pub unit: String,
    /// The middle of `lo` and `hi`, rounded down.
    pub value: u64,
    /// The least that the trials leave possible.
    pub lo: u64,
    /// The greatest.
    pub hi: u64,
    /// The least that was predicted.
    pub predicted_lo: u64,
    /// The greatest.
    pub predicted_hi: u64,
    /// The formula's id, such as `F13`.
    pub formula: String,
    /// The formula with this case's numbers.
    pub formula_text: String,
    /// Where the formula comes from.
    pub formula_source: String,
    /// How many trials it rests on.
    pub trials: u32,
    /// How many things it looked at, each of which could have been otherwise.
    #[serde(default)]
    pub looked: u64,
    /// What they are, such as `frames`.
    #[serde(default)]
    pub looked_at: String,
    /// What could not have been told apart; empty where there is no such thing.
    pub resolution: String,
}

/// One departure of the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The measure.
    pub rule: String,
    /// What was predicted.
    pub want: String,
    /// What was measured.
    pub got: String,
    /// The trial that shows it, from 1.
    pub trial: u32,
    /// Numbers of the frames that show it, from 1.
    pub frames: Vec<u64>,
    /// The file they are in, relative to the output directory; `null` when none was kept.
    pub evidence: Option<String>,
}

/// A measured curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// The measure.
    pub name: String,
    /// What is swept.
    pub x: String,
    /// What it counts: `ps` or `frames`.
    #[serde(default)]
    pub x_unit: String,
    /// What is measured at each point counts: `ppm` of a probability, or `frames`.
    #[serde(default)]
    pub unit: String,
    /// The points, by x.
    pub points: Vec<Point>,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: u64,
    /// The least that the trials leave possible.
    pub lo: u64,
    /// The greatest.
    pub hi: u64,
    /// Predicted: the middle.
    pub predicted: u64,
    /// The least that is predicted.
    #[serde(default)]
    pub predicted_lo: u64,
    /// The greatest.
    #[serde(default)]
    pub predicted_hi: u64,
    /// What the likeliest device would show, where one was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<u64>,
}

/// A capture kept as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Path relative to the output directory.
    pub path: String,
    /// The trial it shows, from 1.
    pub trial: u32,
    /// Frames in it.
    pub frames: u64,
}

/// All that may differ between two runs of one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wall {
    /// What was known at the start.
    #[serde(flatten)]
    pub start: crate::Wall,
    /// How long the run took.
    pub took_ms: u64,
    /// How long each case took.
    pub cases_ms: IndexMap<String, u64>,
}

impl Results {
    /// The text of `results.json`: pretty-printed, with a newline at the end.
    pub fn to_json(&self) -> String {
        pretty(self)
    }
}

/// `data` as people like to read JSON, with a newline at the end.
pub(crate) fn pretty(data: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(data).unwrap_or_else(|error| {
        // Only a map with keys that are no strings could; the data of this crate has none.
        unreachable!("plain data: {error}")
    });
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
