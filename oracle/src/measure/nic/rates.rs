//! What a flow comes to: its least and its last rate, and what leaves back to back.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::told;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::limited::{Limited, SOURCE};
use super::{BEHIND, OF_FLOW, gap_stamps};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::{Limiting, Part};
use rig_testcases::vocabulary::Entry;

/// `rate.least`.
pub(in super::super) static LEAST: Known = Known {
    entry: Entry {
        name: "rate.least",
        parts: Some(&[Part::Rp]),
        about: "the least rate between two packets of a flow",
        source: "DCQCN 3.1",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of the packets that show the rate"),
    red: Red::Mutated("minimum-rate", "deviation=min_rate_ignored"),
    expected: |_, context, _| {
        let least = context.nics().nic.rp.min_rate;
        by_source(format!("as the CNPs ask for, and no less than {least}"), SOURCE)
    },
    judge: |measure, done, judged| rate(done, measure.named("flow"), Which::Least, judged),
    stamps: Some(gap_stamps::of_least),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `rate.final`.
pub(in super::super) static FINAL: Known = Known {
    entry: Entry {
        name: "rate.final",
        parts: Some(&[Part::Rp]),
        about: "the rate at the trial's end",
        source: "DCQCN 3.1",
        ..OF_FLOW
    },
    tells: Tells::Width("the timestamps of the packets that show the rate"),
    red: Red::Mutated("additive-increase", "nic.rp.ai_rate=x1.1"),
    expected: |_, _, _| by_source("what cuts and increases come to", SOURCE),
    judge: |measure, done, judged| rate(done, measure.named("flow"), Which::Final, judged),
    stamps: Some(gap_stamps::of_cut),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// `rate.bursts`.
pub(in super::super) static BURSTS: Known = Known {
    entry: Entry {
        name: "rate.bursts",
        parts: Some(&[Part::Rp]),
        about: "how many packets leave back to back while the flow is held back",
        source: "the declared burst",
        ..OF_FLOW
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("packets-or-bursts", "nic.rp.limiting=packet"),
    expected: |_, context, _| {
        let rp = &context.nics().nic.rp;
        let text = format!("per {}: one packet, or {} at least", rp.limiting.words(), rp.burst);
        told(text, "ceil(burst / packet)", SOURCE)
    },
    judge: |measure, done, judged| bursts(done, measure.named("flow"), judged),
    stamps: Some(gap_stamps::of_cut),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

/// Which rate of a trial is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Least,
    Final,
}

/// Judges the least rate, or the last.
fn rate(done: &JudgeContext<'_>, flow: &str, which: Which, judged: &mut Judged) {
    let name = match which {
        Which::Least => "rate.least",
        Which::Final => "rate.final",
    };
    done.each(name, flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        if limited.cnps.is_empty() {
            let why = format!("no CNP was sent for {flow}: it has no reason to slow down");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        limited.takes_effect(trial, flow)?;
        let curve = limited.follow().curve;
        let (measured, predicted) = match which {
            Which::Least => (
                least(curve.iter().map(|point| point.measured)),
                least(curve.iter().map(|point| point.predicted)),
            ),
            Which::Final => {
                let last = curve.last();
                (last.map(|point| point.measured), last.map(|point| point.predicted))
            }
        };
        let (Some(span), Some(predicted)) = (measured, predicted) else {
            return Err(trial.doubt(&format!("{flow} sent no two packets")).into());
        };
        if span.meets(predicted) {
            limited.shows(trial, &curve)?;
        }
        let want = Prediction {
            unit: Unit::Bps,
            span: Span {
                lo: predicted.lo.saturating_sub(limited.apart.part(predicted.lo)),
                hi: predicted.hi.saturating_add(limited.apart.part(predicted.hi)),
            },
            formula: "cuts, alpha, increases, and the least rate",
            text: format!(
                "{} after {} CNPs; no less than {}",
                rig_capture::Reading { unit: Unit::Bps, span: predicted, frames: Vec::new() },
                limited.cnps.len(),
                limited.rp.min_rate
            ),
            source: SOURCE,
        };
        let looked = looked(curve.len(), "rates between two packets");
        Ok(TrialReading { span, want, got: None, records: Vec::new(), looked })
    });
}

/// What the least of some rates may be, each somewhere in its span.
fn least(spans: impl Iterator<Item = Span>) -> Option<Span> {
    spans.reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) })
}

/// Judges how many packets leave back to back while the flow is held back.
fn bursts(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("rate.bursts", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        let (_, held) = limited.held(trial)?;
        let after = &limited.frames[held + 1..];
        let mut runs = Vec::new();
        let mut run = 1_u64;
        for pair in after.windows(2) {
            if pair[1].1 > limited.free(pair[0].1, pair[0].2) {
                runs.push(run);
                run = 0;
            }
            run += 1;
        }
        let (Some(&lo), Some(&hi)) = (runs.iter().min(), runs.iter().max()) else {
            return Err(trial.doubt("the flow was not held back long enough").into());
        };
        let size = after.iter().map(|(.., bytes)| bytes.0).min().unwrap_or(1);
        let most = after.iter().map(|(.., bytes)| bytes.0).max().unwrap_or(1);
        let (lo_want, hi_want, text) = match limited.rp.limiting {
            Limiting::Packet => (1, 1, "each packet by itself".to_owned()),
            Limiting::Burst => {
                let (lo, hi) =
                    (limited.rp.burst.0.div_ceil(most), limited.rp.burst.0.div_ceil(size));
                (lo, hi, format!("bursts of {} at least, back to back", limited.rp.burst))
            }
        };
        if hi > hi_want
            && let Some(step) = limited.rp.pacer_step
        {
            let why = format!(
                "{hi} packets back to back may be those of a pacer that ticks every {step}"
            );
            return Err(Doubt { reason: "not-observable", ..trial.doubt(&why) }.into());
        }
        let want = Prediction {
            unit: Unit::Frames,
            span: Span { lo: lo_want, hi: hi_want },
            formula: "ceil(burst / packet)",
            text,
            source: SOURCE,
        };
        let got = Some(format!("{lo} to {hi} packets back to back, in {} runs", runs.len()));
        // Every run has to be as long, not one of them.
        let span = if lo >= lo_want && hi <= hi_want {
            Span { lo, hi }
        } else {
            Span::exactly(if lo < lo_want { lo } else { hi })
        };
        let records = vec![limited.frames[held].0, limited.frames[held + 1].0];
        let looked = looked(runs.len(), "runs of packets");
        Ok(TrialReading { span, want, got, records, looked })
    });
}
