//! The run's false-alarm budget: one in a million, split over more judgements than there can be.

use rig_oracle::measure;
use rig_testcases::{Case, Sweep};

/// Chance that a run on a healthy device reports a deviation.
const BUDGET: f64 = 1e-6;

/// What each judgement of counts may spend.
pub fn each(cases: &[&Case]) -> f64 {
    let of_sweep = |sweep: &Sweep| match sweep {
        Sweep::Setting { values, .. } => values.len(),
        Sweep::Cable { lengths } => lengths.len(),
        Sweep::Speed { speeds } => speeds.len(),
        Sweep::Size { sizes, .. } => sizes.len(),
        Sweep::Values { values, .. } => values.len(),
        Sweep::Across { points, .. } => usize::try_from(*points).unwrap_or(usize::MAX),
    };
    let of_case = |case: &&Case| {
        let measures: usize = case.measure.iter().map(|one| measure::of(one).ways).sum();
        let ways = case.sweep.iter().map(of_sweep).fold(1, usize::saturating_mul).max(1);
        measures.saturating_mul(ways)
    };
    let judgements: usize = cases.iter().map(of_case).fold(0, usize::saturating_add);
    BUDGET / f64::from(u32::try_from(judgements.max(1)).unwrap_or(u32::MAX))
}
