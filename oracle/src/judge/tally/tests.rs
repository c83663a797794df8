//! The distribution against sums by hand, against the binomial one, and against every outcome of few draws.

use super::*;
use proptest::prelude::*;

#[test]
fn draws_of_one_chance_are_binomial() {
    for (n, p) in [(1, 0.3), (10, 0.5), (200, 0.025), (5_000, 0.999)] {
        let tally = Tally::of(&[p], n);
        for k in 0..=n.min(220) {
            let (k, want) = (n - k, stats::at_most(n, n - k, p));
            assert!((tally.at_most(k.into()) - want).abs() < 1e-11, "{k} of {n} at {p}");
            let want = stats::at_least(n, k, p);
            assert!((tally.at_least(k.into()) - want).abs() < 1e-11, "{k} of {n} at {p}");
        }
    }
}

#[test]
fn certain_draws_shift_the_count_and_nothing_else() {
    let tally = Tally::of(&[1.0, 0.0, 1.0, 0.5], 3);
    assert!((tally.at_most(6) - 0.125).abs() < 1e-14);
    assert!(tally.at_most(5) < 1e-14 && tally.at_least(10) < 1e-14);
    assert!((tally.mean() - 7.5).abs() < 1e-14 && (tally.variance() - 0.75).abs() < 1e-14);
    let certain = Tally::of(&[1.0, 0.0], 100);
    assert_eq!(certain.bounds(1e-6), 100..=100);
    assert!(certain.is_contradicted_by(99, 1e-9) && certain.is_contradicted_by(101, 1e-9));
    assert!(!certain.is_contradicted_by(100, 1e-9));
}

#[test]
fn bounds_hold_what_may_be_and_the_next_count_contradicts() {
    let shares: Vec<f64> = (0..400).map(|n| f64::from(n) * 0.05 / 400.0).collect();
    for alpha in [0.05, 1e-3, 1e-6, 1e-9] {
        let tally = Tally::of(&shares, 50);
        let bounds = tally.bounds(alpha);
        assert!(!tally.is_contradicted_by(*bounds.start(), alpha));
        assert!(!tally.is_contradicted_by(*bounds.end(), alpha));
        assert!(tally.is_contradicted_by(bounds.start() - 1, alpha));
        assert!(tally.is_contradicted_by(bounds.end() + 1, alpha));
    }
    // Near the normal one: 498.75 and a standard deviation of 22.0; 1.96 of them.
    let bounds = Tally::of(&shares, 50).bounds(0.05);
    assert!(
        (455..=457).contains(bounds.start()) && (541..=543).contains(bounds.end()),
        "{bounds:?}"
    );
}

#[test]
fn repetitions_are_as_many_as_the_power_needs() {
    // One draw, one half or always: 2^-n < 5e-7 from n = 21.
    assert_eq!(repetitions(&[0.5], &[1.0], (1e-6, 0.99), 1_000), Some(21));
    assert_eq!(repetitions(&[0.5], &[0.5], (1e-6, 0.99), 1_000), None);
    let declared: Vec<f64> = (0..100).map(|n| f64::from(n) * 0.0005).collect();
    let other: Vec<f64> = declared.iter().map(|p| p * 1.1).collect();
    let n = repetitions(&declared, &other, (1e-6, 0.99), 100_000).unwrap();
    let tells = |n: u32| {
        let beyond = Tally::of(&declared, n).bounds(1e-6).end() + 1;
        Tally::of(&other, n).at_least(beyond)
    };
    assert!(tells(n) >= 0.99 && tells(n - 1) < 0.99, "{n}");
}

proptest! {
    #[test]
    fn every_outcome_of_few_draws_is_counted(shares in prop::collection::vec(0.0..=1.0_f64, 1..10)) {
        let mut counts = vec![0.0; shares.len() + 1];
        for outcome in 0..1_u32 << shares.len() {
            let chance = |(at, p): (usize, &f64)| if outcome >> at & 1 == 1 { *p } else { 1.0 - p };
            counts[outcome.count_ones() as usize] += shares.iter().enumerate().map(chance).product::<f64>();
        }
        let tally = Tally::of(&shares, 1);
        for count in 0..counts.len() {
            let at_most: f64 = counts[..=count].iter().sum();
            prop_assert!((tally.at_most(count as u64) - at_most.min(1.0)).abs() < 1e-12);
            let at_least: f64 = counts[count..].iter().sum();
            prop_assert!((tally.at_least(count as u64) - at_least.min(1.0)).abs() < 1e-12);
        }
    }
}
