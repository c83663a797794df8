//! The curve that explains marks best: kmin, kmax and pmax by maximum likelihood, each with the interval of values that the
//! marks leave possible.
//!
//! Below the jump the chance is a line, `slope (depth - kmin)`: in slope and offset the logarithm of the likelihood is concave, and
//! so whatever one fixes of the two, the rest has one maximum, and what is likely enough is one interval. Where the jump is, is
//! counted through: above it every frame is marked, so it lies above the last depth at which one was not. Between two depths
//! nothing tells one kmax from another: an interval ends at a depth, or at none.
//!
//! The intervals are where the likelihood is within the quantile of chi squared with one degree of freedom of its maximum (Wilks).
//! That is asymptotic, and nothing says that it holds at the chance which a run may spend on one judgement: of few frames the tests
//! count it out exactly, of many nobody can. So what is *judged* are exact tests of the declared curve ([`super::tally`],
//! [`super::moved`], [`super::pairs`]); an interval says by how much a device is off, and convicts nobody.

mod line;

use super::likelihood::Bin;
use super::stats;
use line::{Best, Fixed, Line};

/// One parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The most likely value; where an interval of values is, its middle, or its end if it has only one.
    pub value: f64,
    /// The least value that is possible.
    pub lo: f64,
    /// The greatest; infinite where nothing bounds it.
    pub hi: f64,
}

/// A fitted curve: depths in bytes, pmax as a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Where the chance begins.
    pub kmin: Estimate,
    /// Where it jumps.
    pub kmax: Estimate,
    /// What it grew to just below.
    pub pmax: Estimate,
    /// Logarithm of the likelihood of the marks under it.
    pub ln_likelihood: f64,
}

impl Fit {
    /// The chance at a depth.
    #[expect(clippy::cast_precision_loss, reason = "depths are far below 2^53")]
    pub fn share(&self, depth: u64) -> f64 {
        let (depth, kmin, kmax) = (depth as f64, self.kmin.value, self.kmax.value);
        if depth >= kmax {
            return 1.0;
        }
        if depth <= kmin { 0.0 } else { self.pmax.value * (depth - kmin) / (kmax - kmin) }
    }
}

/// The curve that explains the marks best, and what else explains them at a confidence of `1 - alpha`; `None` without any frame, or
/// without a mark.
pub fn fit(bins: &[Bin], alpha: f64) -> Option<Fit> {
    let mut bins: Vec<Bin> = bins.iter().copied().filter(|bin| bin.frames > 0).collect();
    bins.sort_by_key(|bin| bin.depth);
    let bins = merged(bins);
    if bins.iter().all(|bin| bin.marked == 0) {
        return None;
    }
    // The first depth from which on every frame was marked: the jump is there or later.
    let after = bins.iter().rposition(|bin| bin.marked < bin.frames).map_or(0, |at| at + 1);
    // The later the jump, the more frames the line has to explain besides: the first is the most likely.
    let line = Line::below(&bins, after);
    let top = line.most(Fixed::Nothing);
    let bar = top.ln_likelihood - stats::normal_beyond(alpha).powi(2) / 2.0;
    let later = (after + 1..=bins.len()).map(|jump| Line::below(&bins, jump));
    let later = later.map(|line| (line, line.most(Fixed::Nothing)));
    let possible: Vec<(Line<'_>, Best)> = core::iter::once((line, top))
        .chain(later.take_while(|(_, best)| best.ln_likelihood >= bar))
        .collect();
    let (from, to) = line.jump();
    // Without a mark below the jump the simplest curve is a step.
    let kmin = if top.slope > 0.0 { top.kmin } else { from };
    let kmax = if to.is_finite() { f64::midpoint(from, to) } else { from };
    let pmax = (top.slope * (kmax - kmin)).clamp(0.0, 1.0);
    let ends = |of: &dyn Fn(&Line<'_>, &Best) -> (f64, f64)| {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let all = possible.iter().map(|(line, best)| of(line, best));
        all.fold(none, |(lo, hi), (a, b)| (lo.min(a), hi.max(b)))
    };
    let (kmin_lo, kmin_hi) = ends(&|line, best| line.kmins(best, bar));
    let (kmax_lo, kmax_hi) = ends(&|line, _| line.jump());
    let (pmax_lo, pmax_hi) = ends(&|line, best| line.pmaxs(best, bar));
    Some(Fit {
        kmin: Estimate { value: kmin, lo: kmin_lo, hi: kmin_hi },
        kmax: Estimate { value: kmax, lo: kmax_lo, hi: kmax_hi },
        pmax: Estimate { value: pmax, lo: pmax_lo, hi: pmax_hi },
        ln_likelihood: top.ln_likelihood,
    })
}

/// Bins of one depth together; they come sorted.
fn merged(bins: Vec<Bin>) -> Vec<Bin> {
    let mut all: Vec<Bin> = Vec::with_capacity(bins.len());
    for bin in bins {
        match all.last_mut().filter(|last| last.depth == bin.depth) {
            Some(last) => {
                last.frames = last.frames.saturating_add(bin.frames);
                last.marked = last.marked.saturating_add(bin.marked);
            }
            None => all.push(bin),
        }
    }
    all
}

#[cfg(test)]
mod tests;
