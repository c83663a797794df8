//! Two runs beside each other: new failures, what is no longer shown, and measurements that moved beyond their uncertainty.

mod case;
mod lack;
mod text;

pub use lack::{Lack, Lacking};

use crate::outcome::Outcome;
use crate::results::number::bound;
use crate::results::{Case, Results};
use case::{case_changes, new_failure};
use indexmap::IndexMap;
use serde::Serialize;

/// The format of [`Comparison::to_json`].
pub const FORMAT: &str = "rig-comparison/2";

/// What changed from one run to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The circumstances that differ: seed, lab, version, mutations, whether a run is whole.
    pub circumstances: Vec<Circumstance>,
    /// Cases that both runs have.
    pub common: usize,
    /// Of these, the ones about which nothing changed.
    pub unchanged: usize,
    /// How many of the changes are losses: [`ChangeKind::is_loss`].
    pub losses: usize,
    /// What the new run shows less than the old one, allowed or not.
    pub lacks: Vec<Lacking>,
    /// Whether something got worse: [`Comparison::regressed`], or a measurement moved beyond its uncertainty although every
    /// draw was the same. Under another seed, or on real ports, the device's polls have another phase each time: few trials
    /// of it may lie apart, both as predicted, so a shift is told there and is no alarm.
    pub worse: bool,
    /// Every change, gravest first, then in catalogue order.
    pub changes: Vec<Change>,
}

/// Something about the runs as a whole that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Circumstance {
    /// What: `seed`, `lab`, `executor`, `version`, `mutations`, `partial`.
    pub what: &'static str,
    /// In the old run.
    pub was: String,
    /// In the new run.
    pub is: String,
}

/// One change of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `suite::case`
    pub case: String,
    /// What changed.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// Which cases are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All that either run has: one that the new run has not is missing.
    All,
    /// Those that both runs have, and those that the new run was asked for and did not come to.
    Common,
}

/// What changed about a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It fails and did not, or was not there.
    NewFailure {
        /// What it was before; `null` when it was not there.
        was: Option<Outcome>,
        /// The first finding, and how many more.
        finding: String,
    },
    /// Any other change of verdict, or of the reason for it.
    Verdict {
        /// Before.
        was: Outcome,
        /// Now.
        is: Outcome,
        /// The reason of the new one; empty on a pass.
        reason: String,
    },
    /// It failed and passes.
    Fixed,
    /// It was not there.
    Appeared {
        /// Its verdict.
        is: Outcome,
    },
    /// It is not there any more.
    Vanished {
        /// Its verdict.
        was: Outcome,
        /// The new run was cut short before it.
        not_run: bool,
    },
    /// It ran on another device.
    Device {
        /// Before.
        was: String,
        /// Now.
        is: String,
    },
    /// A measurement lies wholly outside what was measured before.
    Shifted(Moved),
    /// The prediction of a measurement is another.
    Predicted(Moved),
    /// A measurement is new.
    Measured {
        /// Measure, subject and point, as [`Moved`] has it.
        measurement: String,
    },
    /// A measurement is missing.
    Unmeasured {
        /// Measure, subject and point, as [`Moved`] has it.
        measurement: String,
    },
}

/// An interval that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Measure, subject and point.
    pub measurement: String,
    /// Unit of the numbers.
    pub unit: String,
    /// Before.
    pub was: Ends,
    /// In the new run.
    pub is: Ends,
    /// By how much each moved; `null` from or to what has no limit or never happened.
    pub by: By,
}

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ends {
    /// The least; `null`: it never happened.
    #[serde(serialize_with = "bound::serialize")]
    pub lo: u64,
    /// The greatest; `null`: unbounded, or it never happened.
    #[serde(serialize_with = "bound::serialize")]
    pub hi: u64,
}

/// By how much an interval moved; negative downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each is the move of the place that its name says")]
pub struct By {
    pub lo: Option<i64>,
    pub middle: Option<i64>,
    pub hi: Option<i64>,
}

impl Moved {
    fn new(measurement: &str, unit: &str, was: (u64, u64), is: (u64, u64)) -> Moved {
        let [was, is] = [was, is].map(|(lo, hi)| Ends { lo, hi });
        let by = |was: u64, is: u64| {
            let finite = was != u64::MAX && is != u64::MAX;
            let by = i128::from(is) - i128::from(was);
            i64::try_from(by).ok().filter(|_| finite)
        };
        let middle = |ends: Ends| match ends.hi {
            u64::MAX => u64::MAX,
            // Also of an interval that ends before it begins, in a file that is none of the rig's.
            hi => ends.lo.midpoint(hi),
        };
        let by = By {
            lo: by(was.lo, is.lo),
            middle: by(middle(was), middle(is)),
            hi: by(was.hi, is.hi),
        };
        Moved { measurement: measurement.to_owned(), unit: unit.to_owned(), was, is, by }
    }
}

impl Comparison {
    /// What changed from `old` to `new`, which may lack what is `allowed`.
    pub fn of(old: &Results, new: &Results, scope: Scope, allowed: &[Lack]) -> Comparison {
        let before = by_id(old);
        let after = by_id(new);
        let mut changes = Vec::new();
        let mut unchanged = 0;
        for case in &new.cases {
            let kinds = match before.get(&*case.id) {
                Some(was) => {
                    let kinds = case_changes(was, case);
                    unchanged += usize::from(kinds.is_empty());
                    kinds
                }
                None if scope == Scope::Common => continue,
                None if case.verdict == Outcome::Fail => vec![new_failure(None, case)],
                None => vec![ChangeKind::Appeared { is: case.verdict }],
            };
            changes.extend(kinds.into_iter().map(|kind| Change { case: case.id.clone(), kind }));
        }
        for case in old.cases.iter().filter(|case| !after.contains_key(&*case.id)) {
            let not_run = new.not_run.contains(&case.id);
            if not_run || scope == Scope::All {
                let kind = ChangeKind::Vanished { was: case.verdict, not_run };
                changes.push(Change { case: case.id.clone(), kind });
            }
        }
        changes.sort_by_key(|change| change.kind.gravity());
        let common = new.cases.iter().filter(|case| before.contains_key(&*case.id)).count();
        let mut comparison = Comparison {
            format: FORMAT,
            circumstances: circumstances(old, new),
            common,
            unchanged,
            losses: changes.iter().filter(|change| change.kind.is_loss()).count(),
            lacks: lack::lacks(old, new, &changes, allowed),
            worse: false,
            changes,
        };
        let shifted = comparison.shifted() && same_draws(old, new);
        comparison.worse = shifted || comparison.regressed();
        comparison
    }

    /// Whether a case fails that did not, or the new run lacks something that it may not lack: what a nightly run should
    /// end red on.
    pub fn regressed(&self) -> bool {
        let failure = |change: &Change| matches!(change.kind, ChangeKind::NewFailure { .. });
        self.lacks.iter().any(|lacking| !lacking.allowed) || self.changes.iter().any(failure)
    }

    /// Whether a measurement moved beyond its uncertainty.
    pub fn shifted(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.kind, ChangeKind::Shifted(_)))
    }

    /// The comparison for scripts: pretty-printed, with a newline at the end.
    pub fn to_json(&self) -> String {
        crate::results::pretty(self)
    }
}

impl ChangeKind {
    /// Whether the old run showed something that the new one does not, without a word against the device: a case passed
    /// and is undecided, broken or skipped, a case or a measurement is no longer there.
    pub const fn is_loss(&self) -> bool {
        let passed = matches!(self, ChangeKind::Verdict { was: Outcome::Pass, is, .. } if !matches!(is, Outcome::Pass));
        passed || matches!(self, ChangeKind::Vanished { .. } | ChangeKind::Unmeasured { .. })
    }

    /// Its place in the report.
    const fn gravity(&self) -> u8 {
        match self {
            ChangeKind::NewFailure { .. } => 0,
            ChangeKind::Verdict { .. } if self.is_loss() => 1,
            ChangeKind::Vanished { .. } => 2,
            ChangeKind::Unmeasured { .. } => 3,
            ChangeKind::Verdict { .. } => 4,
            ChangeKind::Fixed => 5,
            ChangeKind::Appeared { .. } => 6,
            ChangeKind::Device { .. } => 7,
            ChangeKind::Shifted(_) => 8,
            ChangeKind::Predicted(_) => 9,
            ChangeKind::Measured { .. } => 10,
        }
    }
}

/// What `results.json` calls runs in virtual time.
const VIRTUAL: &str = "virtual";

/// Whether nothing but the device or the rig can have moved anything between the two.
pub fn same_draws(old: &Results, new: &Results) -> bool {
    old.seed == new.seed && [old, new].iter().all(|run| run.executor == VIRTUAL)
}

fn by_id(results: &Results) -> IndexMap<&str, &Case> {
    results.cases.iter().map(|case| (&*case.id, case)).collect()
}

fn circumstances(old: &Results, new: &Results) -> Vec<Circumstance> {
    let whole = |results: &Results| results.partial.clone().unwrap_or_else(|| "whole".to_owned());
    let mutations = |results: &Results| match results.mutations.as_slice() {
        [] => "none".to_owned(),
        all => all.join(" "),
    };
    let pairs = [
        ("seed", old.seed.to_string(), new.seed.to_string()),
        ("lab", old.lab.clone(), new.lab.clone()),
        ("executor", old.executor.clone(), new.executor.clone()),
        ("version", old.version.clone(), new.version.clone()),
        ("mutations", mutations(old), mutations(new)),
        ("partial", whole(old), whole(new)),
    ];
    let differing = pairs.into_iter().filter(|(_, was, is)| was != is);
    differing.map(|(what, was, is)| Circumstance { what, was, is }).collect()
}

#[cfg(test)]
mod tests;
