//! From the events of a run to its results.

use super::{Case, Curve, FORMAT, Finding, Measurement, Point, Reading, Results, Summary, Wall};
use crate::figure::{self, Spread};
use crate::outcome::Outcome;
use crate::text::milliseconds;
use crate::{CaseReport, EvidenceFile, Run};
use indexmap::IndexMap;
use rig_oracle::{Judgement, Taken, Verdict};

impl Results {
    /// What `run` amounts to, finished or not.
    pub fn of(run: &Run) -> Results {
        let Run { started, cases, finished } = run;
        let tally = run.tally();
        let not_run = finished.iter().flat_map(|finished| &finished.not_run);
        Results {
            format: FORMAT.to_owned(),
            version: started.version.clone(),
            seed: started.seed,
            lab: started.lab.clone(),
            executor: started.executor.to_owned(),
            mutations: started.mutations.clone(),
            partial: run.partial().map(str::to_owned),
            not_run: not_run.map(ToString::to_string).collect(),
            summary: Summary {
                run: tally.run(),
                passed: tally.count(Outcome::Pass),
                failed: tally.count(Outcome::Fail),
                inconclusive: tally.count(Outcome::Inconclusive),
                broken: tally.count(Outcome::Broken),
                skipped: tally.count(Outcome::Skipped),
                exit: run.exit().code(),
            },
            cases: cases.iter().map(Case::of).collect(),
            wall: Wall {
                start: started.wall.clone(),
                took_ms: finished.as_ref().map_or(0, |finished| milliseconds(finished.wall)),
                cases_ms: cases
                    .iter()
                    .map(|case| (case.id.to_string(), milliseconds(case.wall)))
                    .collect(),
            },
        }
    }
}

impl Case {
    /// What one case amounts to.
    pub fn of(report: &CaseReport) -> Case {
        let (reason, detail, findings) = match &report.verdict {
            Verdict::Pass => (None, None, &[][..]),
            Verdict::Fail(findings) => (None, None, &findings[..]),
            Verdict::Inconclusive(doubt) => (Some(doubt.reason), Some(&doubt.detail), &[][..]),
            Verdict::Skipped(why) => (Some("not-applicable"), Some(why), &[][..]),
            Verdict::Broken(how) => (Some("rig-or-lab"), Some(how), &[][..]),
        };
        Case {
            id: report.id.to_string(),
            verdict: Outcome::of(&report.verdict),
            reason: reason.map(str::to_owned),
            detail: detail.cloned(),
            dut: report.dut.clone(),
            why: report.why.clone(),
            source: report.source.clone(),
            trials: report.trials.clone(),
            sending: report.sending.clone(),
            measurements: report.judgements.iter().map(Measurement::of).collect(),
            findings: findings
                .iter()
                .map(|finding| Finding::of(finding, &report.evidence))
                .collect(),
            curves: report.curves.iter().map(Curve::of).collect(),
            left_out: report.left_out.clone(),
            not_applicable: report.not_applicable.clone(),
            undecided: report.undecided.clone(),
            evidence: report.evidence.clone(),
            evidence_left_out: report.evidence_left_out.clone(),
            tables: report.tables.clone(),
        }
    }
}

impl Measurement {
    fn of(judgement: &Judgement) -> Measurement {
        let Judgement {
            measure,
            subject,
            point,
            reading,
            prediction,
            trials,
            taken,
            looked,
            resolution,
            ..
        } = judgement;
        let spread = Spread::of(judgement);
        let value = spread.map_or(reading.span.middle(), |spread| spread.median);
        let (measured, predicted) = (reading.span, prediction.span);
        Measurement {
            name: (*measure).to_owned(),
            subject: subject.clone(),
            point: point.clone(),
            unit: reading.unit.name().to_owned(),
            value,
            lo: measured.lo,
            hi: measured.hi,
            spread: spread.and_then(|spread| spread.spread),
            uncertainty: spread.map_or_else(|| figure::half(measured), |spread| spread.uncertainty),
            predicted_lo: predicted.lo,
            predicted_hi: predicted.hi,
            words: words([
                ("value", value, "never"),
                ("lo", measured.lo, "never"),
                ("hi", measured.hi, if measured.lo == u64::MAX { "never" } else { "unbounded" }),
                ("predicted_lo", predicted.lo, "never"),
                (
                    "predicted_hi",
                    predicted.hi,
                    if predicted.lo == u64::MAX { "never" } else { "unbounded" },
                ),
            ]),
            formula: prediction.formula.to_owned(),
            formula_text: prediction.text.clone(),
            formula_source: prediction.source.to_owned(),
            trials: *trials,
            readings: taken.iter().map(Reading::of).collect(),
            looked: looked.count,
            looked_at: looked.of.to_owned(),
            resolution: resolution.to_string(),
        }
    }
}

impl Reading {
    const fn of(taken: &Taken) -> Reading {
        let Taken { trial, span } = *taken;
        Reading { trial, lo: span.lo, hi: span.hi }
    }
}

/// What `null` stands for, of the values that are written so.
fn words<const N: usize>(values: [(&str, u64, &str); N]) -> IndexMap<String, String> {
    let null = values.into_iter().filter(|&(_, value, _)| value == u64::MAX);
    null.map(|(key, _, word)| (key.to_owned(), word.to_owned())).collect()
}

impl Finding {
    fn of(finding: &rig_oracle::Finding, evidence: &[EvidenceFile]) -> Finding {
        let rig_oracle::Finding { rule, want, got, trial, frames } = finding;
        let file = evidence.iter().find(|file| file.trial == *trial);
        Finding {
            rule: (*rule).to_owned(),
            want: want.clone(),
            got: got.clone(),
            trial: *trial,
            frames: frames.iter().map(|frame| frame.0).collect(),
            evidence: file.map(|file| file.path.clone()),
        }
    }
}

impl Curve {
    fn of(curve: &rig_oracle::Curve) -> Curve {
        let points = curve.points.iter().enumerate().map(|(index, point)| Point {
            x: point.x,
            lo: point.measured.lo,
            hi: point.measured.hi,
            predicted: point.predicted.middle(),
            predicted_lo: point.predicted.lo,
            predicted_hi: point.predicted.hi,
            fitted: curve.fitted.get(index).copied(),
        });
        Curve {
            name: curve.measure.to_owned(),
            x: curve.x.clone(),
            x_unit: curve.x_unit.name().to_owned(),
            unit: curve.unit.name().to_owned(),
            points: points.collect(),
        }
    }
}
