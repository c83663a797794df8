//! Every measure of a case: its analyser over all trials, beside the oracle's prediction.

use super::points::Point;
use super::session::{Session, Trial};
use rig_oracle::verdict::{Curve, Doubt, Finding, Judgement, Verdict};
use rig_testcases::{Case, Expect, Measure};

mod loss;
mod watchdog;

/// What the measures of one session came to.
#[derive(Debug, Default)]
pub struct Judged {
    /// Measured values beside predicted ones.
    pub judgements: Vec<Judgement>,
    /// Measured curves.
    pub curves: Vec<Curve>,
    /// What could not be decided.
    pub doubts: Vec<Doubt>,
}

/// Judges every measure of the case on the trials of one session.
pub fn judge(session: &Session<'_>, points: &[Point], trials: &[Trial]) -> Judged {
    let mut judged = Judged::default();
    for measure in &session.case.measure {
        match measure {
            Measure::Detection { .. } | Measure::Restoration { .. } => {
                watchdog::judge(session, points, trials, measure, &mut judged);
            }
            Measure::Loss { .. } => loss::judge(session, trials, measure, &mut judged),
            _ => {}
        }
    }
    judged
}

/// Why a trial does not count; `None` when it does.
pub fn void(number: u32, script: &rig_testcases::Script, observation: &rig_capture::Observation) -> Option<Doubt> {
    let _ = (number, script, observation);
    None
}

/// The conclusion of a case.
pub fn verdict(
    case: &Case,
    judgements: &[Judgement],
    doubts: &[Doubt],
    trials: &[Trial],
    planned: u32,
) -> Verdict {
    let _ = (trials, planned);
    let findings: Vec<Finding> = judgements.iter().flat_map(|judgement| judgement.findings.clone()).collect();
    let doubt = doubts.first().cloned();
    match (&case.expect, doubt) {
        (Expect::Inconclusive { reason }, Some(doubt)) if doubt.reason == reason => Verdict::Pass,
        _ if !findings.is_empty() => Verdict::Fail(findings),
        (_, Some(doubt)) => Verdict::Inconclusive(doubt),
        (Expect::Inconclusive { .. } | Expect::Pass, None) => Verdict::Pass,
    }
}
