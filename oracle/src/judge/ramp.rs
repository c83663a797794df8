//! The trigger ramp: the probability of a detection over the length of the storm (F14).

use super::fired::{self, Limits, Storms};
use super::{Fired, Grid, StormTrial, Subject};
use crate::spec::pfcwd::{Rule, Stimulus};
use crate::verdict::{Curve, CurvePoint};
use crate::{Finding, Judgement};
use rig_capture::{Span, Unit};

/// What a sweep over storm lengths shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ramp {
    /// One judgement a length.
    pub judgements: Vec<Judgement>,
    /// All lengths together.
    pub curve: Curve,
    /// What the calibrating storms showed, which must all be detected, and the grid that they gave.
    pub findings: Vec<Finding>,
}

/// Judges a sweep. `calibrations` are storms that always fire, from the same session; they show the grid of the polls.
pub fn judge(
    subject: &Subject,
    rule: &Rule,
    stimulus: &Stimulus,
    calibrations: &[StormTrial],
    lengths: &[Storms],
    limits: &Limits,
) -> Ramp {
    let mut all: Vec<StormTrial> = calibrations.to_vec();
    all.extend(lengths.iter().flat_map(|storms| storms.trials.iter().cloned()));
    all.sort_by_key(|seen| seen.storm_start);
    let grid = Grid::of_trials(rule, &all);
    let mut findings: Vec<Finding> = calibrations
        .iter()
        .filter(|seen| seen.fired == Fired::Never)
        .map(|seen| {
            let want = format!("a detection of a pause of {}", seen.pause_length);
            subject.finding(seen, want, "none".to_owned())
        })
        .collect();
    if let Grid::NotCongruent(finding) = &grid {
        findings.push(finding.clone());
    }
    let judged = |storms: &Storms| {
        let about = Subject { point: format!("storm {}", storms.length), ..subject.clone() };
        fired::judge(&about, rule, stimulus, (storms, &grid), None, limits)
    };
    let point = |storms: &Storms| {
        let (least, greatest) = rule.chances(storms.length, stimulus);
        CurvePoint {
            x: storms.length.0,
            measured: fired::measured(rule, stimulus, storms, &grid, limits),
            predicted: Span::exactly(u64::midpoint(least.ppm(), greatest.ppm())),
        }
    };
    Ramp {
        judgements: lengths.iter().map(judged).collect(),
        curve: Curve {
            measure: subject.measure,
            x: "length of the pause".to_owned(),
            x_unit: Unit::Ps,
            unit: Unit::Ppm,
            points: lengths.iter().map(point).collect(),
            fitted: Vec::new(),
        },
        findings,
    }
}
