//! Bounds by chance. Where counts are few an interval of whole counts cannot miss as often as it may, and some bounds hold for more
//! than is drawn here: of these it is said how often they miss, and that it is no more than alpha.

use crate::{Draws, trials};
use rig_oracle::judge::likelihood::Bin;
use rig_oracle::judge::{batches, marking_fit, stats, tally::Tally};
use rig_oracle::model::wred::Curve;
use rig_units::Ppm;

const ALPHA: f64 = 0.05;
/// A row that departs from alpha as far by chance is one in as many.
const CHANCE: f64 = 1e-4;

/// How often a bound may miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misses {
    /// As often as alpha says.
    AsOften,
    /// No more often.
    AtMost,
}

/// Whether so many misses are what alpha says; otherwise which way they are off.
fn off(misses: u32, of: u32, alpha: f64, how: Misses) -> Option<&'static str> {
    if stats::at_least(of, misses, alpha) < CHANCE {
        Some("does not cover")
    } else if how == Misses::AsOften && stats::at_most(of, misses, alpha) < CHANCE {
        Some("is far too wide")
    } else {
        None
    }
}

/// Counts misses over all trials, and holds them against alpha.
fn row(name: &str, how: Misses, mut misses: impl FnMut(&mut Draws) -> bool) {
    let mut draws = Draws(7);
    judge(name, how, (0..trials()).map(|_| u32::from(misses(&mut draws))).sum());
}

/// Prints a row, and holds it against alpha.
#[expect(clippy::print_stdout, reason = "how often a bound misses is the result")]
fn judge(name: &str, how: Misses, missed: u32) {
    let of = trials();
    println!("{name}: misses {missed} of {of}, alpha says {:.0}", ALPHA * f64::from(of));
    assert_eq!(off(missed, of, ALPHA, how), None, "{name}");
}

/// Hits out of so many at a chance.
fn hits(draws: &mut Draws, of: u32, chance: f64) -> u32 {
    (0..of).map(|_| u32::from(draws.share() < chance)).sum()
}

#[test]
fn a_probability_behind_counts_is_within_its_bounds() {
    for (of, chance) in [(40, 0.1), (400, 0.5), (2_000, 0.01)] {
        row(&format!("clopper_pearson, {of} at {chance}"), Misses::AtMost, |draws| {
            let (lo, hi) = stats::clopper_pearson(of, hits(draws, of, chance), ALPHA);
            chance < lo || hi < chance
        });
    }
}

#[test]
fn a_count_of_unlike_draws_is_within_its_bounds() {
    // Of thousands of draws whole counts come near to alpha.
    let shares: Vec<f64> = (1..=60_u32).map(|k| f64::from(k) / 100.0).collect();
    let bounds = Tally::of(&shares, 100).bounds(ALPHA);
    row("tally of 6000 marks", Misses::AsOften, |draws| {
        let marks = shares.iter().map(|&share| hits(draws, 100, share)).sum::<u32>();
        !bounds.contains(&u64::from(marks))
    });
}

/// A normal number, near enough for what a mean makes of it (Irwin and Hall).
fn normal(draws: &mut Draws) -> f64 {
    (0..12).map(|_| draws.share()).sum::<f64>() - 6.0
}

#[test]
fn a_mean_of_readings_that_are_alike_is_within_its_bounds() {
    for phi in [0.0, 0.5, 0.9] {
        let fresh = f64::sqrt(1.0 - phi * phi);
        row(&format!("means of 200, phi {phi}"), Misses::AtMost, |draws| {
            let mut at = normal(draws);
            let mut step = || {
                at = phi * at + fresh * normal(draws);
                at
            };
            let series = vec![vec![(0..200).map(|_| step()).collect()]];
            batches::means(&series, ALPHA).is_some_and(|means| means[0].mean.abs() > means[0].off)
        });
    }
}

#[test]
fn the_curve_that_a_device_marks_by_is_within_the_intervals_of_the_fit() {
    let curve = Curve { kmin: 10_000, kmax: 40_000, pmax: Ppm(200_000) };
    let depths: Vec<u64> = (0..45).map(|behind| behind * 1_040).collect();
    let mut draws = Draws(7);
    let mut fit = || {
        let mut bin = |depth: u64| {
            let chance = curve.chance(depth, false, Ppm(0));
            let hit = |draw: u64| chance.certain().unwrap_or_else(|| chance.hit(draw));
            let marked = (0..400).map(|_| u32::from(hit(draws.next()))).sum();
            Bin { depth, frames: 400, marked }
        };
        let bins: Vec<Bin> = depths.iter().map(|&depth| bin(depth)).collect();
        marking_fit::fit(&bins, ALPHA).expect("some marks")
    };
    let beyond = |one: marking_fit::Estimate, truth: f64| truth < one.lo || one.hi < truth;
    let mut missed = [0; 3];
    for _ in 0..trials() {
        let fit = fit();
        let all = [beyond(fit.kmin, 10_000.0), beyond(fit.kmax, 40_000.0), beyond(fit.pmax, 0.2)];
        missed.iter_mut().zip(all).for_each(|(missed, beyond)| *missed += u32::from(beyond));
    }
    judge("fitted kmin", Misses::AsOften, missed[0]);
    // The jump is seen between two depths, and what pmax grew to is asked at each of the jumps that may be: of 1 000 trials 0 and 12.
    judge("fitted kmax", Misses::AtMost, missed[1]);
    judge("fitted pmax", Misses::AtMost, missed[2]);
}

#[test]
fn an_interval_of_half_its_alpha_or_twice_is_found() {
    let tell = |alpha: f64, how| {
        let mut draws = Draws(7);
        let bounds = Tally::of(&[0.3], 6_000).bounds(alpha);
        let beyond = |_| u32::from(!bounds.contains(&u64::from(hits(&mut draws, 6_000, 0.3))));
        off((0..1_000).map(beyond).sum(), 1_000, ALPHA, how)
    };
    assert_eq!(tell(2.0 * ALPHA, Misses::AtMost), Some("does not cover"));
    assert_eq!(tell(ALPHA / 5.0, Misses::AsOften), Some("is far too wide"));
    assert_eq!(tell(ALPHA, Misses::AsOften), None);
}
