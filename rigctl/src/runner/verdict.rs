//! The conclusion of a case from its judgements, its doubts and its void trials.

use rig_oracle::verdict::{Doubt, Finding, Judgement, Verdict};
use rig_testcases::{Case, Expect};

/// Of a hundred trials more than this many void ones leave a case undecided.
const VOID_PERCENT: usize = 20;

/// Concludes: a finding fails; too many void trials, or anything that could not be read, leaves open; else it passes. A
/// case that is about a void measurement passes with exactly that.
pub fn conclude(
    case: &Case,
    judgements: &[Judgement],
    doubts: &[Doubt],
    void: &[&Doubt],
    trials: usize,
) -> Verdict {
    let too_many = void.len() * 100 > trials * VOID_PERCENT;
    let of_void = void.first().filter(|_| too_many).map(|first| Doubt {
        reason: first.reason,
        detail: format!("{} of {trials} trials void, the first: {}", void.len(), first.detail),
    });
    let doubt = of_void.or_else(|| doubts.first().cloned());
    let findings: Vec<Finding> =
        judgements.iter().flat_map(|judgement| judgement.findings.clone()).collect();
    match (&case.expect, doubt) {
        (Expect::Inconclusive { reason }, Some(doubt))
            if doubt.reason == reason && findings.is_empty() =>
        {
            Verdict::Pass
        }
        (Expect::Inconclusive { reason }, _) => Verdict::Fail(vec![Finding {
            rule: "verdict",
            want: format!("inconclusive for {reason}"),
            got: "a measurement that counts".to_owned(),
            trial: 1,
            frames: Vec::new(),
        }]),
        (Expect::Pass, _) if !findings.is_empty() => Verdict::Fail(findings),
        (Expect::Pass, Some(doubt)) => Verdict::Inconclusive(doubt),
        (Expect::Pass, None) if judgements.is_empty() => Verdict::Inconclusive(Doubt {
            reason: "too-few-trials",
            detail: "nothing was measured".to_owned(),
        }),
        (Expect::Pass, None) => Verdict::Pass,
    }
}
