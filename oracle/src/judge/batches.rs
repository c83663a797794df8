//! What a series of readings comes to in the long run, though readings that follow one another are alike and so tell less than their
//! number.
//!
//! Readings are taken for a stationary series of which each keeps a share `phi` of the one before it (an autoregression of first
//! order). For each `phi` the mean's variance is known in closed form, and Student's t bounds the mean. How likely a `phi` is, follows
//! from the correlation of neighbours; what it is less likely than the best one is taken off what the mean may be off by: a profile
//! of the likelihood. The bound is the widest over all `phi`, and where a `phi` of 1 cannot be excluded there is none: that is too
//! little to tell. A series that is alike over longer stretches than its neighbours show has means of batches that vary more: the
//! bound is never narrower than by the batches of any length of which there are enough (Law, Simulation Modeling and Analysis,
//! chapter 9).
//!
//! How often bounds do not hold the mean, over `alpha`, is in the tests: below 1 for a `phi` of 0, 0.5, 0.9 and 0.98.

use super::stats;

/// Fewer readings, or batches of them, than these tell nothing.
const FEWEST: usize = 12;
/// Values of `phi` that are tried, from the best one up to 1.
const STEPS: u32 = 2_000;

/// A mean, and what it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Of all readings.
    pub mean: f64,
    /// How far off it may be, either way.
    pub off: f64,
    /// Of so many readings.
    pub readings: usize,
    /// As many independent ones would bound it as well.
    pub worth: u32,
}

impl Mean {
    /// The least that it may be.
    pub fn lo(&self) -> f64 {
        self.mean - self.off
    }

    /// The greatest.
    pub fn hi(&self) -> f64 {
        self.mean + self.off
    }

    /// How far a mean is from a limit that its bounds, at `alpha`, exclude with the power that trials are planned for. Of few readings
    /// Student's distribution has the longer tail at `alpha`, so that it is less.
    pub fn told(&self, alpha: f64) -> f64 {
        self.off + self.beyond(1.0 - stats::POWER, alpha)
    }

    /// How far on one side a mean is by chance in so many of all cases, where it is `off` at `alpha`.
    pub fn beyond(&self, chance: f64, alpha: f64) -> f64 {
        self.off * stats::normal_beyond(2.0 * chance) / stats::normal_beyond(alpha.min(0.3))
    }
}

/// The means of several series that are alike but for chance: each has a mean of its own, and all have one variance. `series` holds
/// for each of them its runs, each with as many readings as the others; `alpha` is the chance that a bound does not hold, of all
/// series together (Bonferroni). `None` where that is too little to tell.
pub fn means(series: &[Vec<Vec<f64>>], alpha: f64) -> Option<Vec<Mean>> {
    let readings = series.first()?.iter().map(Vec::len).sum::<usize>();
    if readings < FEWEST || series.iter().flatten().any(|run| run.len() < 2) {
        return None;
    }
    let means: Vec<f64> = series.iter().map(|runs| mean(runs)).collect();
    let alike = Alike::of(series, &means);
    let off = if alike.variance > 0.0 { alike.off(series, alpha)? } else { 0.0 };
    let alone = alike.beyond(series.len(), alpha) * alike.variance.sqrt();
    let worth = if off > 0.0 { (alone / off).powi(2) } else { float(readings) };
    let worth = stats::whole(worth.floor().min(float(readings)));
    Some(means.into_iter().map(|mean| Mean { mean, off, readings, worth }).collect())
}

/// What all series have in common.
struct Alike {
    /// Readings of each.
    readings: f64,
    /// Of one run.
    length: f64,
    /// Degrees of freedom of the variance. Shares add up to one: the last series says nothing new.
    free: f64,
    /// Pairs of neighbours, of all series but that one.
    pairs: f64,
    /// Of one reading.
    variance: f64,
    /// Correlation of neighbours: the best `phi`.
    phi: f64,
}

impl Alike {
    fn of(series: &[Vec<Vec<f64>>], means: &[f64]) -> Alike {
        let (mut squares, mut ends, mut products, mut pairs) = (0.0, 0.0, 0.0, 0);
        for (runs, mean) in series.iter().zip(means) {
            for run in runs {
                let off = |at: usize| run[at] - mean;
                squares += (0..run.len()).map(|at| off(at).powi(2)).sum::<f64>();
                products += (1..run.len()).map(|at| off(at - 1) * off(at)).sum::<f64>();
                ends += f64::midpoint(off(0).powi(2), off(run.len() - 1).powi(2));
                pairs += run.len() - 1;
            }
        }
        let runs = series.first().map_or(0, Vec::len);
        let readings = float(series.iter().flatten().map(Vec::len).sum()) / float(series.len());
        let told = float(series.len().saturating_sub(1).max(1));
        // Each pair against the squares of its two readings: the ends of a run stand in one pair only.
        let seen = if squares > ends { products / (squares - ends) } else { 0.0 };
        // That the mean comes from the same readings takes so much off (Marriott and Pope, Biometrika 41, 1954).
        let phi = seen + (1.0 + 3.0 * seen) / readings;
        Alike {
            readings,
            length: readings / float(runs),
            free: (readings - 1.0) * told,
            pairs: float(pairs) * told / float(series.len()),
            variance: squares / ((readings - 1.0) * float(series.len())),
            phi: phi.clamp(-0.999, 0.9999),
        }
    }

    /// What Student's t exceeds for independent readings.
    fn beyond(&self, series: usize, alpha: f64) -> f64 {
        stats::student_beyond(stats::whole(self.free), alpha / float(series))
    }

    /// How far the mean of a series may be off.
    fn off(&self, series: &[Vec<Vec<f64>>], alpha: f64) -> Option<f64> {
        let beyond = self.beyond(series.len(), alpha);
        // The bound as a loss of logarithms of likelihood, which `phi` and the mean share.
        let all = self.free * (beyond.powi(2) / self.free).ln_1p();
        let from = self.phi.max(0.0);
        let mut square = 0.0_f64;
        for step in 0..=STEPS {
            let phi = from + (1.0 - from) * f64::from(step) / f64::from(STEPS);
            let worse = 1.0 + (phi - self.phi).powi(2) / (1.0 - self.phi.powi(2));
            let left = all - self.pairs * worse.ln();
            if left <= 0.0 {
                break;
            }
            if step == STEPS {
                return None;
            }
            // The variance of the readings, from that of what each adds to the share of the one before.
            let added = self.variance * (1.0 - self.phi.powi(2)) * worse;
            let variance = added / (1.0 - phi.powi(2)) * self.alike_for(phi) / self.readings;
            square = square.max(self.free * (left / self.free).exp_m1() * variance);
        }
        Some(square.max(beyond.powi(2) * coarsest(series)).sqrt())
    }

    /// By how much more the mean of a run varies than that of independent readings.
    fn alike_for(&self, phi: f64) -> f64 {
        let ends = 2.0 * phi * (1.0 - phi.powf(self.length)) / (self.length * (1.0 - phi).powi(2));
        (1.0 + phi) / (1.0 - phi) - ends
    }
}

/// The variance of the mean by batches, of the length by which it is the greatest.
fn coarsest(series: &[Vec<Vec<f64>>]) -> f64 {
    let mut series = series.to_vec();
    let mut greatest = 0.0_f64;
    loop {
        let batches = series[0].iter().map(Vec::len).sum::<usize>();
        if batches < FEWEST || series.iter().flatten().any(Vec::is_empty) {
            return greatest;
        }
        let square = |runs: &Vec<Vec<f64>>| {
            let mean = mean(runs);
            runs.iter().flatten().map(|value| (value - mean).powi(2)).sum::<f64>()
        };
        let squares: f64 = series.iter().map(square).sum();
        let free = float((batches - 1) * series.len());
        greatest = greatest.max(squares / free / float(batches));
        series.iter_mut().flatten().for_each(|run| *run = halved(run));
    }
}

/// Neighbours put together; one that has none is left out.
fn halved(run: &[f64]) -> Vec<f64> {
    run.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect()
}

fn mean(runs: &[Vec<f64>]) -> f64 {
    let all = runs.iter().flatten();
    let (sum, count) = all.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of readings are far below 2^53")]
fn float(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests;
