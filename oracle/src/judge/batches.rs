//! What a series of readings comes to in the long run, from the means of batches of it (Law, Simulation Modeling and Analysis,
//! chapter 9).
//!
//! Readings that follow one another are alike, so they tell less than their number. Neighbouring batches are put together until
//! their means look independent of one another, or too few would be left: from then on they are taken for draws of one normal
//! distribution, and Student's t bounds its mean. That is exact only for long batches; the bounds are as wide as the run's chance of
//! a false alarm asks, and that is where the care lies.

use super::stats;

/// Fewer batches than these are put together no more.
const FEWEST: usize = 12;
/// Neighbours whose correlation is above so many of its standard deviations are taken for alike.
const ALIKE: f64 = 1.64;

/// A mean, and what it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Of all readings.
    pub mean: f64,
    /// How far off it may be, either way.
    pub off: f64,
    /// From so many batches.
    pub batches: usize,
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
}

/// The means of several series that are alike but for chance: each has a mean of its own, and all have one variance. `series` holds
/// for each of them its runs, each with as many readings as the others; `alpha` is the chance that a bound does not hold, of all
/// series together (Bonferroni). `None` where that is too little to tell.
pub fn means(series: &[Vec<Vec<f64>>], alpha: f64) -> Option<Vec<Mean>> {
    let mut series = series.to_vec();
    loop {
        let batches = series.first()?.iter().map(Vec::len).sum::<usize>();
        if batches < FEWEST || series.iter().flatten().any(Vec::is_empty) {
            return None;
        }
        if batches / 2 < FEWEST || !alike(&series) {
            return bounded(&series, batches, alpha);
        }
        series.iter_mut().flatten().for_each(|run| *run = halved(run));
    }
}

/// Neighbours put together; one that has none is left out.
fn halved(run: &[f64]) -> Vec<f64> {
    run.chunks_exact(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect()
}

/// Whether neighbours are more alike than chance makes them.
fn alike(series: &[Vec<Vec<f64>>]) -> bool {
    let (mut products, mut squares, mut pairs) = (0.0, 0.0, 0_usize);
    for runs in series {
        let mean = average(runs.iter().flatten().copied());
        for run in runs {
            squares += run.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            products += run.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
            pairs += run.len() - 1;
        }
    }
    squares > 0.0 && products / squares * float(pairs).sqrt() > ALIKE
}

fn bounded(series: &[Vec<Vec<f64>>], batches: usize, alpha: f64) -> Option<Vec<Mean>> {
    let means: Vec<f64> =
        series.iter().map(|runs| average(runs.iter().flatten().copied())).collect();
    let squares = |(runs, mean): (&Vec<Vec<f64>>, &f64)| -> f64 {
        runs.iter().flatten().map(|value| (value - mean).powi(2)).sum()
    };
    let squares: f64 = series.iter().zip(&means).map(squares).sum();
    // Shares add up to one: the last of them says nothing new.
    let free = (batches - 1) * series.len().saturating_sub(1).max(1);
    let variance = squares / float((batches - 1) * series.len());
    let beyond = stats::student_beyond(u32::try_from(free).ok()?, alpha / float(series.len()));
    let off = beyond * (variance / float(batches)).sqrt();
    Some(means.into_iter().map(|mean| Mean { mean, off, batches }).collect())
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of batches are far below 2^53")]
fn float(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that look drawn: the fractions of multiples of the golden ratio, scattered.
    fn drawn(count: u32, seed: u32) -> Vec<f64> {
        let mix = |i: u32| (f64::from(i * 7 + seed).sin() * 43_758.545_3).rem_euclid(1.0);
        (0..count).map(mix).collect()
    }

    #[test]
    fn the_bounds_are_students() {
        // 12 values of mean 6.5 and variance 13: t(11) at 5 % is 2.201, so 6.5 +- 2.201 sqrt(13 / 12) = 2.291.
        let values = [1, 12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7].map(f64::from);
        let [mean] = means(&[vec![values.to_vec()]], 0.05).expect("enough")[..] else {
            panic!("one series")
        };
        assert!((mean.mean - 6.5).abs() < 1e-12 && mean.batches == 12);
        assert!((mean.off - 2.291).abs() < 1e-3, "{mean:?}");
    }

    #[test]
    fn neighbours_that_are_alike_are_put_together() {
        let each = drawn(48, 1);
        let stretched: Vec<f64> = each.iter().flat_map(|&value| [value; 4]).collect();
        let of = |values: Vec<f64>| means(&[vec![values]], 1e-3).expect("enough")[0];
        let (fine, coarse) = (of(each), of(stretched));
        assert!((fine.mean - coarse.mean).abs() < 1e-12);
        assert_eq!(fine.batches, 48);
        assert!(coarse.batches <= 48, "{coarse:?}");
        assert!(coarse.off >= fine.off * 0.9, "four times the readings tell no more");
    }

    #[test]
    fn too_few_batches_tell_nothing() {
        assert_eq!(means(&[vec![drawn(11, 1)]], 1e-3), None);
        assert!(means(&[vec![drawn(6, 1), drawn(6, 2)]], 1e-3).is_some());
        assert_eq!(means(&[], 1e-3), None);
    }

    proptest! {
        #[test]
        fn less_chance_of_an_error_makes_wider_bounds_about_the_same_mean(seed in 0_u32..10_000, series in 1_usize..5) {
            let all: Vec<_> = (0..series).map(|i| vec![drawn(32, seed + u32::try_from(i).unwrap() * 1_000)]).collect();
            let (wide, narrow) = (means(&all, 1e-9).unwrap(), means(&all, 1e-3).unwrap());
            for (wide, narrow) in wide.iter().zip(&narrow) {
                prop_assert!((wide.mean - narrow.mean).abs() < 1e-12 && wide.off > narrow.off);
            }
        }
    }
}
