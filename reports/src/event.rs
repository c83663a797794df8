//! What happens during a run, in the order in which it is reported: cases in catalogue order, whatever finished first.

use crate::{Budget, Floor, Pausing, Sending};
use rig_capture::analyse::timeline::Timeline;
use rig_oracle::{Curve, Judgement, Verdict};
use rig_testcases::CaseId;
use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One event of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// The run starts.
    Started(Box<Started>),
    /// A case starts. Only for progress: not ordered, not written to any file.
    CaseStarted(CaseId),
    /// A case ended.
    CaseFinished(Box<CaseReport>),
    /// The run ends.
    Finished(Finished),
}

/// What is known when a run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The seed; everything random in the run follows from it.
    pub seed: u64,
    /// Version of the rig.
    pub version: String,
    /// The lab, by name.
    pub lab: String,
    /// `virtual` or `wire`.
    pub executor: &'static str,
    /// Mutations of the command line that a device has on which a case runs, as typed.
    pub mutations: Vec<String>,
    /// The cases that are to run, in the order of the catalogue.
    pub cases: Vec<CaseId>,
    /// Wall-clock facts.
    pub wall: Wall,
}

/// Wall-clock facts: all that may differ between two runs of one seed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Wall {
    /// When the run started, RFC 3339 in UTC.
    pub started: String,
    /// The command line.
    pub command: String,
    /// The output directory.
    pub out: String,
    /// The machine.
    pub host: String,
    /// How many cases ran side by side.
    pub jobs: usize,
    /// How the rig's own ports took pauses before the run; absent in virtual time, and where nothing was to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pausing: Option<Box<Pausing>>,
    /// What the run was planned to be; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What the machine itself allowed right before the run; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Box<Floor>>,
}

/// One case, ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseReport {
    /// Its name.
    pub id: CaseId,
    /// Why a lab cares.
    pub why: String,
    /// Where it comes from.
    pub source: Vec<String>,
    /// The device it ran on; empty when it was skipped.
    pub dut: String,
    /// The conclusion.
    pub verdict: Verdict,
    /// What was measured, beside what was predicted.
    pub judgements: Vec<Judgement>,
    /// Measured curves.
    pub curves: Vec<Curve>,
    /// What of the case could not be done in this lab, each with the reason.
    pub left_out: Vec<String>,
    /// What of its measures does not apply to this device or stimulus, each with the reason.
    pub not_applicable: Vec<String>,
    /// What of its measures could not be told, each with the reason.
    pub undecided: Vec<String>,
    /// How many were run, and how many were void.
    pub trials: Trials,
    /// What the rig sent in those that count.
    pub sending: Vec<Sending>,
    /// Evidence files, paths relative to the output directory.
    pub evidence: Vec<EvidenceFile>,
    /// Captures that the evidence budget had no room for.
    pub evidence_left_out: Vec<LeftOut>,
    /// Files with what each trial showed of values that rest on all of them together.
    pub tables: Vec<TableFile>,
    /// What happened in the first trial, for the page.
    pub timeline: Option<Timeline>,
    /// What the system is made of that it ran on, a line each; empty for a device by itself.
    pub system: Vec<String>,
    /// What of the stimulus a reader must know, a line each.
    pub stimulus: Vec<String>,
    /// The command that repeats this case.
    pub repeat: String,
    /// Virtual time that the case took.
    pub simulated: Dur,
    /// Wall-clock time that the case took.
    pub wall: Dur,
}

/// How many trials a case took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Trials {
    /// Planned by the judgement.
    pub planned: u32,
    /// Run, void ones included.
    pub run: u32,
    /// Those that do not count.
    pub void: Vec<Void>,
}

/// A trial that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Void {
    /// Its number, from 1.
    pub trial: u32,
    /// Why it does not count.
    pub reason: String,
}

/// A capture kept as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct EvidenceFile {
    /// Path relative to the output directory.
    pub path: String,
    /// The trial it shows, from 1.
    pub trial: u32,
    /// Frames in it.
    pub frames: u64,
    /// Its size.
    #[serde(default)]
    pub bytes: u64,
}

/// A table of what each trial showed of values that rest on all of them together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableFile {
    /// Name of the measure.
    pub measure: String,
    /// Path relative to the output directory.
    pub path: String,
    /// Rows in it, but for the names of the columns.
    pub rows: u64,
}

/// A capture that the evidence budget had no room for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The trial that it would show, from 1.
    pub trial: u32,
    /// What it would have taken.
    pub bytes: u64,
    /// Whether a finding cites it.
    pub cited: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Whether it was cut short (Ctrl-C, disk full): the report is partial. Says by what.
    pub partial: Option<String>,
    /// Cases that never ran because of that.
    pub not_run: Vec<CaseId>,
    /// Wall-clock time of the whole run.
    pub wall: Dur,
}
