//! What the later of two runs shows less than the earlier one: each an alarm, unless it is allowed by its own name.
//!
//! Every loss belongs to one lack, the nearest cause: a case that was not run because the run was cut short is no missing
//! case, and what an undecided case did not measure is no missing measurement. So one flag allows one thing whole.

use super::{Change, ChangeKind};
use crate::outcome::Outcome;
use crate::results::Results;
use crate::shown::printable;
use crate::text::count;
use core::fmt;
use indexmap::IndexMap;
use serde::Serialize;

/// A way in which a run shows less than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// It was cut short.
    Partial,
    /// No case of it ran.
    Empty,
    /// Cases or measurements are not there any more.
    Missing,
    /// Cases that passed are inconclusive or skipped.
    Undecided,
    /// Cases that passed are broken.
    Broken,
}

impl Lack {
    /// Every one, in the order in which they are told.
    pub const ALL: [Lack; 5] =
        [Lack::Partial, Lack::Empty, Lack::Missing, Lack::Undecided, Lack::Broken];

    /// The flag of `rigctl compare` that allows it.
    pub const fn flag(self) -> &'static str {
        match self {
            Lack::Partial => "--allow-partial",
            Lack::Empty => "--allow-empty",
            Lack::Missing => "--allow-missing",
            Lack::Undecided => "--allow-undecided",
            Lack::Broken => "--allow-broken",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Lack::Partial => "Partial",
            Lack::Empty => "Empty",
            Lack::Missing => "Missing",
            Lack::Undecided => "Undecided",
            Lack::Broken => "Broken",
        }
    }
}

/// One lack of the new run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// What is lacking.
    pub what: Lack,
    /// How many cases it concerns: not run, not there, not decided, broken.
    pub cases: usize,
    /// How many measurements of cases that it does not concern as a whole.
    pub measurements: usize,
    /// In words.
    pub says: String,
    /// What allows it.
    pub flag: &'static str,
    /// Whether that was said.
    pub allowed: bool,
}

/// `     Missing 2 cases and 0 measurements of the old run are not in the new one (--allow-missing)`
impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lacking { what, says, flag, allowed, .. } = self;
        write!(f, "{:>12} {}", what.word(), printable(says))?;
        if *allowed { write!(f, ", allowed") } else { write!(f, " ({flag})") }
    }
}

/// Everything that `new` lacks, `changes` being what changed to it.
pub(super) fn lacks(
    old: &Results,
    new: &Results,
    changes: &[Change],
    allowed: &[Lack],
) -> Vec<Lacking> {
    let ran =
        |run: &Results| run.cases.iter().filter(|case| case.verdict != Outcome::Skipped).count();
    let empty = ran(new) == 0;
    // Of these the verdict is told; what they did not measure goes with it.
    let lost = changes.iter().filter_map(|Change { case, kind }| match kind {
        ChangeKind::Verdict { is, .. } if kind.is_loss() => Some((&**case, *is)),
        _ => None,
    });
    let lost: IndexMap<&str, Outcome> = lost.collect();
    let mut cases = [0; Lack::ALL.len()];
    let mut measurements = 0;
    for Change { case, kind } in changes.iter().filter(|change| change.kind.is_loss()) {
        match (kind, lost.get(&**case)) {
            (ChangeKind::Vanished { not_run: true, .. }, _)
            | (ChangeKind::Unmeasured { .. }, Some(_)) => {}
            _ if empty => {}
            (ChangeKind::Unmeasured { .. }, None) => measurements += 1,
            (ChangeKind::Vanished { .. }, _) => cases[Lack::Missing as usize] += 1,
            (_, Some(Outcome::Broken)) => cases[Lack::Broken as usize] += 1,
            _ => cases[Lack::Undecided as usize] += 1,
        }
    }
    cases[Lack::Partial as usize] = new.not_run.len();
    cases[Lack::Empty as usize] = ran(old);
    let of = |what: Lack| {
        let cases = cases[what as usize];
        let measurements = if what == Lack::Missing { measurements } else { 0 };
        let says = match what {
            Lack::Partial if new.partial.is_some() || cases > 0 => {
                let why = new.partial.as_deref().unwrap_or("for no reason that it tells");
                let were = if cases == 1 { "was" } else { "were" };
                format!("the new run was cut short: {why}; {} {were} not run", count(cases, "case"))
            }
            Lack::Empty if empty => {
                format!("the new run has no case that ran; the old one has {cases}")
            }
            Lack::Missing if cases + measurements > 0 => format!(
                "{} and {} of the old run are not in the new one",
                count(cases, "case"),
                count(measurements, "measurement")
            ),
            Lack::Undecided if cases == 1 => {
                "1 case that passed decides nothing any more".to_owned()
            }
            Lack::Undecided if cases > 1 => {
                format!("{cases} cases that passed decide nothing any more")
            }
            Lack::Broken if cases == 1 => "1 case that passed is broken".to_owned(),
            Lack::Broken if cases > 1 => format!("{cases} cases that passed are broken"),
            _ => return None,
        };
        let allowed = allowed.contains(&what);
        Some(Lacking { what, cases, measurements, says, flag: what.flag(), allowed })
    };
    Lack::ALL.into_iter().filter_map(of).collect()
}
