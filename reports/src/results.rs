//! `results.json`: the measurements of a run for scripts, versioned.
//!
//! Equal runs give equal bytes, apart from what sits under `wall`. Lengths of time are picoseconds, probabilities
//! and rates millionths, as the `unit` beside them says. Numbers above 2^53 are strings of digits.

mod build;
pub(crate) mod number;
mod read;
mod schema;

pub use read::Unreadable;
pub use schema::schema;

use crate::outcome::Outcome;
use crate::{EvidenceFile, LeftOut, Sending, TableFile, Trials};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The format that this version writes.
pub const FORMAT: &str = "rig-results/2";
/// The format before: without the readings of each trial, numbers above 2^53 as such, and `18446744073709551615` for no
/// limit. It is read, too.
pub const EARLIER: &str = "rig-results/1";

/// A whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// [`FORMAT`].
    pub format: String,
    /// Version of the rig.
    pub version: String,
    /// The seed of all draws.
    #[serde(with = "number::whole")]
    #[schemars(schema_with = "number::whole::schema")]
    pub seed: u64,
    /// Name of the lab.
    pub lab: String,
    /// `virtual` or `wire`.
    pub executor: String,
    /// Mutations that a device has on which a case ran, as typed.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A case and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// How many were run, and how many were void.
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
    /// What of its measures could not be told, each with the reason, all of it; absent where there is no such thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// Captures kept.
    pub evidence: Vec<EvidenceFile>,
    /// Captures that the evidence budget had no room for; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_left_out: Vec<LeftOut>,
    /// Tables of what each trial showed, of measurements that rest on all trials together; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableFile>,
}

/// One measured value beside its prediction. `name`, `subject` and `point` name it within its case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// The measure, such as `pfcwd.detection`.
    pub name: String,
    /// What it was taken on.
    pub subject: String,
    /// Where in the sweep; empty without one.
    pub point: String,
    /// `ps`, `frames`, `ppm`, `bps`, `bytes` or `count`: the unit of all numbers that follow.
    pub unit: String,
    /// The middle one of the readings, each by its own middle; without readings the middle of `lo` and `hi`, rounded down.
    /// `null` where `words` says why.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub value: u64,
    /// The least that the trials leave possible.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub lo: u64,
    /// The greatest.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub hi: u64,
    /// From the least reading to the greatest, middle to middle; `null` where they are no readings of one value.
    #[serde(default)]
    #[schemars(schema_with = "number::optional_schema")]
    pub spread: Option<u64>,
    /// How far the value may lie from the middle of one reading: of the least certain one; without readings half of what
    /// lies between `lo` and `hi`. `null` where that has no limit.
    #[serde(default)]
    #[schemars(schema_with = "number::optional_schema")]
    pub uncertainty: Option<u64>,
    /// The least that was predicted.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub predicted_lo: u64,
    /// The greatest.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub predicted_hi: u64,
    /// What each `null` among the numbers above stands for, by key: `unbounded`, `never`; absent without any.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub words: IndexMap<String, String>,
    /// The formula's id, such as `F13`.
    pub formula: String,
    /// The formula with this case's numbers.
    pub formula_text: String,
    /// Where the formula comes from.
    pub formula_source: String,
    /// How many trials it rests on.
    pub trials: u32,
    /// What each trial gave by itself, in the order of the trials; empty where it rests on all of them together, which the
    /// tables of the case show one by one.
    #[serde(default)]
    pub readings: Vec<Reading>,
    /// How many things it looked at, each of which could have been otherwise.
    #[serde(default)]
    pub looked: u64,
    /// What they are, such as `frames`.
    #[serde(default)]
    pub looked_at: String,
    /// How small a departure it shows, of the value and of what is declared of the device; why there is none, where there is none.
    pub resolution: String,
}

/// What one trial gave: an interval that surely holds the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The trial, from 1.
    pub trial: u32,
    /// The least; `null`: it never happened.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub lo: u64,
    /// The greatest; `null`: unbounded.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub hi: u64,
}

/// One departure of the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Where it lies, in the curve's own unit.
    #[serde(with = "number::whole")]
    #[schemars(schema_with = "number::whole::schema")]
    pub x: u64,
    /// The least that the trials leave possible.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub lo: u64,
    /// The greatest.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub hi: u64,
    /// Predicted: the middle.
    #[serde(with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub predicted: u64,
    /// The least that is predicted.
    #[serde(default, with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub predicted_lo: u64,
    /// The greatest.
    #[serde(default, with = "number::bound")]
    #[schemars(schema_with = "number::bound::schema")]
    pub predicted_hi: u64,
    /// What the likeliest device would show, where one was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<u64>,
}

/// All that may differ between two runs of one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
