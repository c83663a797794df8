//! Figures by hand, false alarms counted, and the planned repetitions tried out.

use super::*;
use crate::judge::fixture::Draws;

fn ramp(n: u32, pmax: f64) -> Vec<f64> {
    (0..n).map(|rank| f64::from(rank) * pmax / f64::from(n)).collect()
}

fn drawn(shares: &[f64], times: u32, draws: &mut Draws) -> Vec<(u32, u32)> {
    let one = |&p: &f64| (times, (0..times).map(|_| u32::from(draws.share() < p)).sum());
    shares.iter().map(one).collect()
}

#[test]
fn a_likelihood_is_the_product_of_what_came() {
    assert!((ln_likelihood(4, 1, 0.25) - (0.25_f64 * 0.75_f64.powi(3)).ln()).abs() < 1e-12);
    assert!(
        (ln_likelihood(4, 0, 0.0) - 0.0).abs() < 1e-12 && (ln_likelihood(4, 4, 1.0)).abs() < 1e-12
    );
    assert!(ln_likelihood(4, 1, 0.0).is_infinite() && ln_likelihood(4, 3, 1.0).is_infinite());
}

#[test]
fn one_impossible_mark_decides_and_two_impossibilities_do_not() {
    let counts = [(10, 1), (10, 5)];
    assert_eq!(judge(&counts, &[0.0, 0.5], &[0.1, 0.5], 1e-9), Verdict::Other);
    assert_eq!(judge(&counts, &[0.1, 0.5], &[0.0, 0.5], 1e-9), Verdict::Declared);
    assert_eq!(judge(&counts, &[0.0, 0.5], &[0.0, 0.4], 1e-9), Verdict::Undecided);
    assert_eq!(judge(&counts, &[0.1, 0.5], &[0.2, 0.5], 1e-6), Verdict::Undecided);
}

#[test]
fn a_burst_that_is_marked_the_other_way_round_is_told_at_once() {
    let dequeue: Vec<f64> = ramp(200, 0.5).into_iter().rev().collect();
    let enqueue = ramp(200, 0.5);
    let needed = repetitions(&dequeue, &enqueue, 1e-6, 0.99).unwrap();
    assert!(needed <= 2, "{needed}");
    let mut draws = Draws::new(1);
    let counts = drawn(&enqueue, needed, &mut draws);
    assert_eq!(judge(&counts, &dequeue, &enqueue, 1e-6), Verdict::Other);
    let counts = drawn(&dequeue, needed, &mut draws);
    assert_eq!(judge(&counts, &dequeue, &enqueue, 1e-6), Verdict::Declared);
}

#[test]
fn false_alarms_are_no_more_often_than_stated() {
    let (declared, other) = (ramp(60, 0.4), ramp(60, 0.45));
    let mut draws = Draws::new(2);
    let alarms = (0..2_000)
        .filter(|_| {
            judge(&drawn(&declared, 20, &mut draws), &declared, &other, 0.05) == Verdict::Other
        })
        .count();
    // 100 are allowed, and Markov is generous.
    assert!((1..=100).contains(&alarms), "{alarms}");
}

#[test]
fn the_planned_repetitions_have_the_power_they_were_planned_for() {
    for (pmax, other) in [(0.5, 0.55), (0.2, 0.18), (1.0, 0.9)] {
        let (declared, other) = (ramp(100, pmax), ramp(100, other));
        let needed = repetitions(&declared, &other, 1e-6, 0.9).unwrap();
        let mut draws = Draws::new(3);
        let told = (0..200)
            .filter(|_| {
                judge(&drawn(&other, needed, &mut draws), &declared, &other, 1e-6) == Verdict::Other
            })
            .count();
        // 180 of 200 are planned, with a standard deviation of 4.2.
        assert!(told >= 160, "{pmax}: {told} after {needed}");
    }
    assert_eq!(repetitions(&ramp(10, 0.5), &ramp(10, 0.5), 1e-6, 0.99), None);
    // What cannot be comes with 2 %: 1 - 0.98^n >= 0.99 from 228 on.
    assert_eq!(repetitions(&[0.0], &[0.02], 1e-6, 0.99), Some(228));
}
