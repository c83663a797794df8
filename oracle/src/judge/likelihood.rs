//! Which of two hypotheses about chances the counts speak for, with a false-alarm chance that holds for any number of frames.
//!
//! If the declared chances hold, the likelihood of the counts under any other hypothesis is `1 / alpha` times that under the
//! declared one with a chance of `alpha` at most: its mean is 1, and Markov's inequality does the rest. The other hypothesis has
//! to be fixed before the counts are seen, or fitted to counts of other trials (Wasserman, Ramdas and Balakrishnan, PNAS 117,
//! 2020). Nothing is asymptotic.

use super::stats;

/// Frames that saw the same depth, and how many of them were marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The depth, in bytes.
    pub depth: u64,
    /// How many frames.
    pub frames: u32,
    /// How many of them were marked; at most all.
    pub marked: u32,
}

/// What counts speak for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The declared chances are contradicted: the other ones explain the counts far better.
    Other,
    /// The other ones are contradicted.
    Declared,
    /// Neither is.
    Undecided,
}

/// The logarithm of the likelihood of marks out of frames, at a chance of `share` each: minus infinity for what cannot be.
pub fn ln_likelihood(frames: u32, marked: u32, share: f64) -> f64 {
    // A logarithm that is not asked for is not taken: it may be infinite, and it takes time.
    let part =
        |count: u32, ln: &dyn Fn() -> f64| if count == 0 { 0.0 } else { f64::from(count) * ln() };
    let unmarked = frames.saturating_sub(marked);
    let none = if share > 0.0 { part(unmarked, &|| (-share).ln_1p()) } else { 0.0 };
    none + part(marked, &|| share.ln())
}

/// The same over all of `counts`: frames and marks, in the order of `shares`.
pub fn ln_likelihood_of(counts: &[(u32, u32)], shares: &[f64]) -> f64 {
    counts.iter().zip(shares).map(|(&(frames, marked), &p)| ln_likelihood(frames, marked, p)).sum()
}

/// Judges counts between declared chances and others, at a false-alarm chance of `alpha` each way. Where an enqueue shows
/// instead of a dequeue, or an average instead of the depth, the others are those of that device.
pub fn judge(counts: &[(u32, u32)], declared: &[f64], other: &[f64], alpha: f64) -> Verdict {
    let bar = -alpha.ln();
    let (declared, other) = (ln_likelihood_of(counts, declared), ln_likelihood_of(counts, other));
    // Where both are out of the question neither speaks for anything.
    if other - declared >= bar {
        Verdict::Other
    } else if declared - other >= bar {
        Verdict::Declared
    } else {
        Verdict::Undecided
    }
}

/// About how many repetitions of a burst it takes until [`judge`] tells a device of `other` chances from `declared` ones with
/// the given power; `None` when they are the same. By the mean and the spread of the logarithm, taken to be normal: for
/// planning. Where `other` does what is out of the question when declared, one time is as good as any: until it is likely.
pub fn repetitions(declared: &[f64], other: &[f64], alpha: f64, power: f64) -> Option<u32> {
    let (mut mean, mut variance, mut seldom) = (0.0, 0.0, 0.0);
    for (&p, &q) in declared.iter().zip(other) {
        // A draw that shows at once that the device is another one: the logarithm of its not coming.
        let betrays = if p <= 0.0 {
            q
        } else if p >= 1.0 {
            1.0 - q
        } else {
            0.0
        };
        seldom += (-betrays).ln_1p();
        if p <= 0.0 || p >= 1.0 {
            continue;
        }
        let (yes, no) = ((q / p).ln(), ((1.0 - q) / (1.0 - p)).ln());
        let weigh = |chance: f64, ln: f64| if chance > 0.0 { chance * ln } else { 0.0 };
        let at = weigh(q, yes) + weigh(1.0 - q, no);
        mean += at;
        let spread = |ln: f64| if ln.is_finite() { (ln - at).powi(2) } else { 0.0 };
        variance += q * spread(yes) + (1.0 - q) * spread(no);
    }
    let z = stats::normal_beyond((2.0 * (1.0 - power)).min(0.3));
    // mean n - z sqrt(variance n) = -ln alpha, for the root of n.
    let by_odds = (mean > 0.0).then(|| {
        let spread = z * f64::sqrt(variance);
        let root = (spread + (spread * spread - 4.0 * mean * alpha.ln()).sqrt()) / (2.0 * mean);
        root * root
    });
    let by_betrayal = (seldom < 0.0).then(|| (1.0 - power).ln() / seldom);
    let n = match (by_odds, by_betrayal) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    Some(stats::whole(n.ceil()).max(1))
}

#[cfg(test)]
mod tests;
