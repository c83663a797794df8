//! What a NIC sent on its connections, each frame held against what its connection says: how many are not so, and what the first of them is.

use super::super::judge_context::TrialReading;
use super::super::judged::looked;
use crate::Prediction;
use rig_capture::{Span, Unit};

/// Of `all` frames that were looked at those that are `wrong`, each by its record and in words; wanted is `each of N frames` and `what`.
pub(super) fn reading(
    all: usize,
    wrong: Vec<(usize, String)>,
    what: &str,
    source: &'static str,
) -> TrialReading {
    let got = wrong.first().map(|(_, first)| match wrong.len() {
        1 => first.clone(),
        some => format!("{first}, and {} more", some - 1),
    });
    let want = Prediction {
        unit: Unit::Frames,
        span: Span::exactly(0),
        formula: "",
        text: format!("each of {all} frames {what}"),
        source,
    };
    let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
    let records = wrong.into_iter().map(|(record, _)| record).collect();
    TrialReading { span, want, got, records, looked: looked(all, "frames of connections") }
}
