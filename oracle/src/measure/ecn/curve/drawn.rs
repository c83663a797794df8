//! The curve as a report draws it: what was done to frames at each depth, and what was predicted of them.

use super::super::{Span, Unit};
use super::{Draw, Sample, ceil, floor};
use crate::judge::marking_fit::Fit;
use crate::judge::stats;
use crate::verdict::{Curve, CurvePoint};
use std::collections::BTreeSet;

/// Points of a drawn curve.
const POINTS: usize = 32;

impl Sample<'_> {
    /// The curve as it is drawn: neighbouring depths together, each with the interval that its counts leave possible.
    pub(super) fn curve(&self, fit: Option<&Fit>) -> Curve {
        let mut draws: Vec<&Draw> = self.draws.iter().collect();
        draws.sort_by_key(|draw| draw.depth);
        let distinct: BTreeSet<u64> = draws.iter().map(|draw| draw.depth.middle()).collect();
        let depths: Vec<u64> = distinct.into_iter().collect();
        let mut points = Vec::new();
        let mut fitted = Vec::new();
        for group in depths.chunks(depths.len().div_ceil(POINTS).max(1)) {
            let (Some(&first), Some(&last)) = (group.first(), group.last()) else { continue };
            let own = draws.iter().filter(|draw| (first..=last).contains(&draw.depth.middle()));
            let (mut frames, mut taken, mut least, mut most, mut likely) = (0, 0, 0.0, 0.0, 0.0);
            for draw in own {
                frames += 1;
                taken += u32::from(draw.taken);
                least += draw.shares.0;
                most += draw.shares.1;
                likely += fit.map_or(0.0, |fit| fit.share(draw.depth.middle()));
            }
            let (lo, hi) = stats::clopper_pearson(frames, taken, self.done.alpha);
            let mean = |sum: f64| sum / f64::from(frames) * 1e6;
            points.push(CurvePoint {
                x: first + (last - first) / 2,
                measured: Span { lo: floor(lo * 1e6), hi: ceil(hi * 1e6) },
                predicted: Span { lo: floor(mean(least)), hi: ceil(mean(most)) },
            });
            fitted.extend(fit.map(|_| floor(mean(likely))));
        }
        let x = [self.place.as_str(), &format!("depth, frames of {}", self.on)].join(" ");
        let x = x.trim().to_owned();
        Curve { measure: "ecn.curve", x, x_unit: Unit::Bytes, unit: Unit::Ppm, points, fitted }
    }
}
