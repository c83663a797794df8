//! Which of the two becomes of a frame in a queue that marks below kmax and drops from there on (`harddrop`).

use super::super::super::judge_context::TrialReading;
use super::super::super::judged::{Judged, looked};
use super::super::{Fate, Span, Unit};
use super::{Draw, Sample, depth};
use crate::Resolution;

impl Sample<'_> {
    /// Judges those that were surely below kmax, or surely not, and were marked or dropped.
    pub(super) fn manner(&self, judged: &mut Judged) {
        if self.rule.fate != Fate::MarkOrDrop {
            return;
        }
        let sure = |draw: &&Draw| draw.taken && draw.beyond.0 == draw.beyond.1;
        let sure: Vec<&Draw> = self.draws.iter().filter(sure).collect();
        let Some(first) = sure.first() else { return };
        let wrong: Vec<&Draw> =
            sure.iter().copied().filter(|draw| draw.lost != draw.beyond.0).collect();
        let text = match wrong.first() {
            Some(draw) if draw.lost => {
                format!("marked and not dropped at a depth of {}", depth(draw))
            }
            Some(draw) => format!("dropped and not marked at a depth of {}", depth(draw)),
            None => format!("marked below kmax, dropped from there on: {} frames", sure.len()),
        };
        let count = u64::try_from(wrong.len()).unwrap_or(u64::MAX);
        let want = self.prediction(Unit::Frames, Span::exactly(0), text);
        let trial = wrong.first().map_or(first.trial, |draw| draw.trial);
        let own = wrong.iter().filter(|draw| draw.trial == trial);
        let records = own.map(|draw| draw.record).collect();
        let got = wrong.first().map(|draw| {
            let (done, not) = if draw.lost { ("dropped", "marked") } else { ("marked", "dropped") };
            format!("{count} frames {done} where they should be {not}, or the other way round")
        });
        let looked = looked(sure.len(), "frames that were marked or dropped");
        let read = TrialReading { span: Span::exactly(count), want, got, records, looked };
        let each = Resolution::certain(Unit::Frames, Span::exactly(0), 0);
        self.push("marked below kmax, dropped above", (trial, read), each, judged);
    }
}
