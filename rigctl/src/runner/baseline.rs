//! The healthy device against the catalogue, before anything is concluded from broken ones: every case must be green,
//! and its judgements tell what the catalogue can tell apart at all.

use super::case::{self, Rig};
use super::pool::{News, in_order};
use rig_oracle::Verdict;
use rig_testcases::Case;
use std::collections::{BTreeMap, BTreeSet};

/// What the healthy device showed.
#[derive(Debug, Default)]
pub struct Healthy {
    /// Cases that neither passed nor were skipped.
    pub not_green: Vec<String>,
    /// Per parameter: the intervals within which its values cannot be told apart.
    pub resolution: BTreeMap<String, Vec<String>>,
}

impl Healthy {
    /// Whether every case was.
    pub fn green(&self) -> bool {
        self.not_green.is_empty()
    }
}

/// Runs every case on the device as it is declared.
pub fn run(rig: &Rig<'_>, cases: &[&Case], jobs: usize) -> Healthy {
    let mut healthy = Healthy::default();
    let mut brackets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    in_order(
        cases.len(),
        jobs,
        rig.stop,
        |index| case::run(rig, cases[index]).report,
        |_, news| {
            let News::Done(report) = news else { return };
            if !matches!(report.verdict, Verdict::Pass | Verdict::Skipped(_)) {
                healthy.not_green.push(report.id.to_string());
            }
            for judgement in report.judgements {
                for alike in judgement.resolution.alike {
                    brackets.entry(alike.parameter.clone()).or_default().insert(alike.values());
                }
            }
        },
    );
    healthy.resolution = brackets
        .into_iter()
        .map(|(parameter, all)| (parameter, all.into_iter().collect()))
        .collect();
    healthy
}
