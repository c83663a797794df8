//! How many marks, and how many right after another, where a device counts frames since the last one.
//!
//! Judged are rows of frames that were surely between the thresholds, of which each was seen. Where a row begins after a frame that ends the count
//! its distribution is exact. Where it does not, nobody knows how far the count was: the first mark may come at once, or as late as R allows at the
//! most. Where depths are open the chances are: whatever is drawn for R, no frame is marked later where every chance is greater.

use super::super::super::judge_context::TrialReading;
use super::super::super::judged::{Judged, looked};
use super::super::{Span, Unit};
use super::{Draw, Sample, told};
use crate::judge::tally::Tally;
use crate::spec::wred::spacing;
use std::collections::BTreeMap;

/// Frames one after the other.
#[derive(Debug, Default)]
struct Row {
    /// Whether the count begins with the first of them.
    begins: bool,
    /// The chances by the curve, at the least and at the most.
    least: Vec<f64>,
    most: Vec<f64>,
    taken: Vec<bool>,
}

/// What a row may come to, as many times as rows are alike.
type Alike = BTreeMap<(bool, Vec<u64>), u32>;

impl Row {
    fn key(&self, shares: &[f64]) -> (bool, Vec<u64>) {
        (self.begins, shares.iter().map(|share| share.to_bits()).collect())
    }

    fn is_exact(&self) -> bool {
        self.begins && self.least == self.most
    }
}

/// The fewest marks that a row may come to.
fn fewest(begins: bool, shares: &[f64]) -> Vec<f64> {
    if begins {
        return spacing::marks(shares, |_| true);
    }
    // The latest first mark: R is 1, and the count was 0.
    let mut counted = (0_u32..).map(f64::from).zip(shares);
    let Some(first) = counted.position(|(count, share)| count * share >= 1.0) else {
        return vec![1.0];
    };
    one_more(spacing::marks(&shares[first..], |_| true))
}

/// The most.
fn most(begins: bool, shares: &[f64]) -> Vec<f64> {
    let all = spacing::marks(shares, |_| true);
    if begins { all } else { one_more(all) }
}

fn one_more(mut all: Vec<f64>) -> Vec<f64> {
    all.insert(0, 0.0);
    all
}

/// All of them together.
fn tally(alike: &Alike, once: impl Fn(bool, &[f64]) -> Vec<f64>) -> Tally {
    alike.iter().fold(Tally::of(&[], 0), |all, ((begins, bits), times)| {
        let shares: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
        all.plus(&Tally::repeated(&once(*begins, &shares), *times))
    })
}

impl Sample<'_> {
    /// Rows of frames between the thresholds.
    fn rows(&self) -> Vec<Row> {
        let mut order: Vec<&Draw> = self.draws.iter().collect();
        order.sort_by_key(|draw| (draw.trial, draw.queued));
        let mut rows: Vec<Row> = Vec::new();
        let mut before: Option<&Draw> = None;
        for draw in order {
            let follows = before.filter(|last| {
                last.trial == draw.trial && (last.queued.0, last.queued.1 + 1) == draw.queued
            });
            let inside = |draw: &Draw| draw.met.and_then(|met| met.between());
            if let Some((lo, hi)) = inside(draw) {
                if follows.and_then(inside).is_none() {
                    let ended = |last: &Draw| last.met.is_some_and(|met| met.ends_the_count());
                    rows.push(Row { begins: follows.is_some_and(ended), ..Row::default() });
                }
                if let Some(row) = rows.last_mut() {
                    row.least.push(lo);
                    row.most.push(hi);
                    row.taken.push(draw.taken);
                }
            }
            before = Some(draw);
        }
        rows
    }

    /// Judges them.
    pub(super) fn spaced(&self, judged: &mut Judged) {
        let rows = self.rows();
        let frames: usize = rows.iter().map(|row| row.taken.len()).sum();
        if frames == 0 {
            return;
        }
        let (mut least, mut greatest) = (Alike::new(), Alike::new());
        for row in &rows {
            *least.entry(row.key(&row.least)).or_default() += 1;
            *greatest.entry(row.key(&row.most)).or_default() += 1;
        }
        let taken = rows.iter().flat_map(|row| &row.taken).filter(|taken| **taken).count();
        let (low, high) = (tally(&least, fewest), tally(&greatest, most));
        let span = self.span(&low, &high);
        let text = format!(
            "{} to {} of {frames} frames between kmin and kmax {}, counted since the last one, {:.1} on the average",
            Unit::Frames.show(span.lo),
            Unit::Frames.show(span.hi),
            self.rule.fate.done_to(),
            f64::midpoint(low.mean(), high.mean()),
        );
        self.counted(
            self.rule.fate.done_to(),
            (Unit::Frames, taken, frames),
            (&low, &high, text),
            judged,
        );
        if !rows.iter().all(Row::is_exact) {
            return;
        }
        let next = tally(&least, |_, shares| spacing::marks(shares, |gap| gap == 1));
        let pairs = |row: &Row| row.taken.windows(2).filter(|pair| pair[0] && pair[1]).count();
        let pairs = rows.iter().map(pairs).sum();
        let span = self.span(&next, &next);
        let text = format!(
            "{} to {} pairs of frames that follow one another, counted since the last one {}",
            span.lo,
            span.hi,
            self.rule.fate.done_to()
        );
        let what = format!("{} one after the other", self.rule.fate.done_to());
        self.counted(&what, (Unit::Count, pairs, frames), (&next, &next, text), judged);
    }

    fn span(&self, low: &Tally, high: &Tally) -> Span {
        let alpha = self.done.alpha;
        Span { lo: *low.bounds(alpha).start(), hi: *high.bounds(alpha).end() }
    }

    fn counted(
        &self,
        what: &str,
        (unit, count, frames): (Unit, usize, usize),
        (low, high, text): (&Tally, &Tally, String),
        judged: &mut Judged,
    ) {
        let span = self.span(low, high);
        let read = TrialReading {
            span: Span::exactly(u64::try_from(count).unwrap_or(u64::MAX)),
            want: self.prediction(unit, span, text),
            got: None,
            records: Vec::new(),
            looked: looked(frames, "frames"),
        };
        self.push(what, (self.draws[0].trial, read), told(unit, span, (low, high)), judged);
    }
}
