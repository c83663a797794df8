//! Simulated series of a known mean: how often the bounds hold it, and what they cost.

use super::*;
use crate::judge::fixture::Draws;
use proptest::prelude::*;

/// Normal numbers, two at a time (Box and Muller).
struct Normal {
    draws: Draws,
    other: Option<f64>,
}

impl Normal {
    fn new(seed: u64) -> Normal {
        Normal { draws: Draws::new(seed), other: None }
    }

    fn next(&mut self) -> f64 {
        if let Some(other) = self.other.take() {
            return other;
        }
        let (radius, angle) = (1.0 - self.draws.share(), self.draws.share());
        let radius = (-2.0 * radius.ln()).sqrt();
        let (sin, cos) = (angle * core::f64::consts::TAU).sin_cos();
        self.other = Some(radius * sin);
        radius * cos
    }

    /// So many readings of mean 0 and variance 1, each of which keeps `phi` of the one before it.
    fn alike(&mut self, phi: f64, count: usize) -> Vec<f64> {
        let fresh = (1.0 - phi * phi).sqrt();
        let mut at = self.next();
        let step = |_| {
            let before = at;
            at = phi * at + fresh * self.next();
            before
        };
        (0..count).map(step).collect()
    }
}

/// Of so many experiments, how many are decided, and in how many of them a bound does not hold the mean of 0.
fn missed(
    experiments: u32,
    phi: f64,
    (runs, length): (usize, usize),
    series: usize,
    alpha: f64,
) -> (u32, u32) {
    let mut normal = Normal::new(42);
    let (mut decided, mut missed) = (0, 0);
    for _ in 0..experiments {
        let mut all: Vec<Vec<Vec<f64>>> =
            (0..series).map(|_| (0..runs).map(|_| normal.alike(phi, length)).collect()).collect();
        // Shares add up to as many as there are.
        if series > 1 {
            for (run, at) in (0..runs).flat_map(|run| (0..length).map(move |at| (run, at))) {
                let mean = all.iter().map(|one| one[run][at]).sum::<f64>() / float(series);
                all.iter_mut().for_each(|one| one[run][at] -= mean);
            }
        }
        if let Some(means) = means(&all, alpha) {
            decided += 1;
            missed += u32::from(means.iter().any(|mean| mean.mean.abs() > mean.off));
        }
    }
    (decided, missed)
}

/// As many misses as a rule that misses in exactly `alpha` of all experiments exceeds once in a thousand times: the mean and three
/// standard deviations and a half.
fn at_most(experiments: u32, alpha: f64) -> u32 {
    let mean = f64::from(experiments) * alpha;
    stats::whole((mean + 3.5 * mean.sqrt()).ceil())
}

#[test]
fn bounds_hold_as_often_as_they_say_however_alike_neighbours_are() {
    for (phi, runs, length) in
        [(0.0, 4, 64), (0.5, 4, 64), (0.9, 4, 64), (0.9, 4, 512), (0.98, 4, 64), (0.98, 4, 512)]
    {
        for (alpha, experiments) in [(1e-2, 2_000), (1e-3, 4_000)] {
            let experiments = if length > 64 { experiments / 4 } else { experiments };
            let (decided, missed) = missed(experiments, phi, (runs, length), 1, alpha);
            let most = at_most(experiments, alpha);
            assert!(missed <= most, "{phi} {length} {alpha}: {missed} of {decided}");
            // Too short a series is no verdict, a long one is.
            let enough = phi < 0.6 || length > 64;
            assert!(
                !enough || decided * 10 >= experiments * 9,
                "{phi} {length} {alpha}: {decided}"
            );
        }
    }
}

#[test]
fn shares_that_add_up_are_held_all_together() {
    for phi in [0.0, 0.9] {
        let (decided, missed) = missed(1_000, phi, (4, 64), 4, 1e-2);
        assert!(missed <= at_most(1_000, 1e-2), "{phi}: {missed} of {decided}");
        assert!(decided > 900, "{phi}: {decided}");
    }
}

#[test]
fn what_never_comes_back_to_its_mean_is_no_verdict() {
    let (decided, _) = missed(200, 0.999, (4, 64), 1, 1e-4);
    assert_eq!(decided, 0);
}

#[test]
fn independent_readings_cost_a_tenth_more_than_they_would_if_that_were_known() {
    let mut normal = Normal::new(7);
    let mut widths = 0.0;
    for _ in 0..200 {
        let series = vec![(0..4).map(|_| normal.alike(0.0, 64)).collect()];
        widths += means(&series, 1e-6).expect("enough")[0].off / 200.0;
    }
    let ideal = stats::normal_beyond(1e-6) / 16.0;
    assert!((1.0..1.2).contains(&(widths / ideal)), "{}", widths / ideal);
}

#[test]
fn slow_waves_under_a_loud_noise_are_seen_in_long_batches() {
    // Neighbours are hardly alike, and yet the mean moves with the wave.
    let mut normal = Normal::new(3);
    let wave = |at: u32| if (at / 64).is_multiple_of(2) { 0.5 } else { -0.5 };
    let noise = normal.alike(0.0, 512);
    let loud: Vec<f64> = (0_u32..).zip(&noise).map(|(at, noise)| wave(at) + noise).collect();
    let off = |values: Vec<f64>| means(&[vec![values]], 1e-3).expect("enough")[0].off;
    assert!(off(loud) > 1.8 * off(noise));
}

#[test]
fn readings_that_are_all_the_same_are_their_mean() {
    let [mean] = means(&[vec![vec![3.0; 40]]], 1e-6).expect("enough")[..] else { panic!("one") };
    assert_eq!((mean.mean, mean.off, mean.worth), (3.0, 0.0, 40));
}

#[test]
fn too_few_readings_tell_nothing() {
    let mut normal = Normal::new(1);
    assert_eq!(means(&[vec![normal.alike(0.0, 11)]], 1e-3), None);
    assert_eq!(means(&[vec![normal.alike(0.0, 30), vec![1.0]]], 1e-3), None);
    assert_eq!(means(&[], 1e-3), None);
}

proptest! {
    #[test]
    fn less_chance_of_an_error_makes_wider_bounds_about_the_same_mean(seed in 0_u64..10_000, series in 1_usize..5) {
        let mut normal = Normal::new(seed);
        let all: Vec<_> = (0..series).map(|_| vec![normal.alike(0.0, 200)]).collect();
        let (wide, narrow) = (means(&all, 1e-9).unwrap(), means(&all, 1e-3).unwrap());
        for (wide, narrow) in wide.iter().zip(&narrow) {
            prop_assert!((wide.mean - narrow.mean).abs() < 1e-12 && wide.off > narrow.off);
            prop_assert!(wide.worth <= 200);
        }
    }
}
