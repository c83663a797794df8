//! Gaps worked by hand, counts against draws of every R, and open depths against exact ones.

use super::*;
use proptest::prelude::*;
use rig_units::{Bytes, Ppm};

const CURVE: Curve = Curve { kmin: Bytes(1_000), kmax: Bytes(2_000), pmax: Ppm(500_000) };

const HELD: Curves = Curves { least: CURVE, most: CURVE, is_step: false };

fn met(depth: u64) -> Met {
    Met::at(&HELD, depth, depth)
}

/// The chances of a row of frames at one depth each that are not taken until the last.
fn row(depths: &[u64]) -> Vec<f64> {
    let mut gap = Gap::UNKNOWN.after(&HELD, met(999), Some(false));
    let mut all = Vec::new();
    for &depth in depths {
        let (lo, hi) = gap.chances(&HELD, met(depth));
        assert!((lo - hi).abs() < 1e-12, "{depth}: {lo} to {hi}");
        all.push(lo);
        gap = gap.after(&HELD, met(depth), Some(false));
    }
    all
}

fn near(a: &[f64], b: &[f64]) {
    assert!(
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12),
        "{a:?} {b:?}"
    );
}

#[test]
fn at_one_depth_every_gap_up_to_its_longest_is_as_likely() {
    // A quarter: the first has a count of 0, then one of the next four is marked, each as likely.
    near(&row(&[1_500; 5]), &[0.0, 0.25, 1.0 / 3.0, 0.5, 1.0]);
    // Floyd and Jacobson's p / (1 - count p).
    let hazard = |count: f64| 0.25 / (1.0 - count * 0.25);
    near(&row(&[1_500; 5])[1..], &[0.0, 1.0, 2.0, 3.0].map(hazard));
    // What is below kmin ends the count; at kmin it goes on.
    near(&row(&[1_500, 1_500, 999, 1_500, 1_500]), &[0.0, 0.25, 0.0, 0.0, 0.25]);
    near(&row(&[1_500, 1_500, 1_000, 1_500]), &[0.0, 0.25, 0.0, (0.75 - 0.25) / 0.75]);
    // A frame at a lower chance has none where R is known to be above.
    near(&row(&[1_500, 1_500, 1_100, 1_500]), &[0.0, 0.25, 0.0, (0.75 - 0.25) / 0.75]);
}

#[test]
fn a_mark_begins_a_count_of_one_and_what_is_above_kmax_one_of_none() {
    let gap = Gap::UNKNOWN.after(&HELD, met(1_500), Some(true));
    assert_eq!(gap.chances(&HELD, met(1_500)), (0.25, 0.25));
    let gap = Gap::UNKNOWN.after(&HELD, met(2_000), Some(true));
    assert_eq!(gap.chances(&HELD, met(1_500)), (0.0, 0.0));
    // Of a queue that nobody saw before nothing is certain.
    assert_eq!(Gap::UNKNOWN.chances(&HELD, met(1_500)), (0.0, 1.0));
    assert_eq!(Gap::UNKNOWN.chances(&HELD, met(2_000)), (1.0, 1.0));
}

#[test]
fn of_a_frame_that_does_not_show_either_may_be() {
    let gap = Gap::UNKNOWN.after(&HELD, met(1_500), Some(true));
    let hidden = gap.after(&HELD, met(1_500), None);
    // Marked: a count of 1. Not marked: a count of 2, and R above a quarter.
    assert_eq!(hidden.chances(&HELD, met(1_500)), (0.0, 0.5));
}

#[test]
fn marks_at_one_depth_are_a_renewal_with_uniform_gaps() {
    // Four frames at a half, the first with a count of 0: of the next three the gaps are 1 or 2. None: no. One: 2 then not 1, that is a quarter ...
    let all = marks(&[0.5; 4], |_| true);
    // Gaps: 1,1,1 (1/8): 3; 1,1,2 (1/8): 2; 1,2 (1/4): 2; 2,1 (1/4): 2; 2,2 (1/4): 1.
    near(&all, &[0.0, 0.25, 5.0 / 8.0, 1.0 / 8.0]);
    // Those right after one another: 3, 2, 1, 1, 0.
    near(&marks(&[0.5; 4], |gap| gap == 1), &[0.25, 0.5, 1.0 / 8.0, 1.0 / 8.0]);
    near(&marks(&[], |_| true), &[1.0]);
}

proptest! {
    /// A draw for every R of a grid, frame by frame.
    #[test]
    fn marks_are_as_likely_as_frames_that_are_drawn_for_show(sixths in prop::collection::vec(0_u32..=6, 1..6)) {
        const GRID: u32 = 6;
        let shares: Vec<f64> = sixths.iter().map(|sixth| f64::from(*sixth) / f64::from(GRID)).collect();
        // k p is a whole number of sixths: an R in the middle of each sixth is as good as all of them.
        let mut counts = vec![0.0; shares.len() + 1];
        let words = shares.iter().map(|_| GRID).product::<u32>();
        for word in 0..words {
            let (mut count, mut done, mut left) = (0_u32, 0_usize, word);
            for &sixth in &sixths[1..] {
                count += 1;
                if count * sixth > left % GRID {
                    (count, left) = (0, left / GRID);
                    done += 1;
                }
            }
            counts[done] += 1.0 / f64::from(words);
        }
        let all = marks(&shares, |_| true);
        for (at, want) in counts.iter().enumerate() {
            let got = all.get(at).copied().unwrap_or(0.0);
            prop_assert!((got - want).abs() < 1e-9, "{} {} {}", at, got, want);
        }
    }

    /// Whatever is left open, what is known holds.
    #[test]
    fn open_depths_leave_open_what_the_exact_ones_say(
        frames in prop::collection::vec((500_u64..2_500, 0_u64..400, 0_u64..400, any::<bool>(), any::<bool>()), 1..20)
    ) {
        let (mut exact, mut open) = (Gap::UNKNOWN, Gap::UNKNOWN);
        exact = exact.after(&HELD, met(0), Some(false));
        open = open.after(&HELD, Met::at(&HELD, 0, 1_500), None);
        for (depth, less, more, coin, shows) in frames {
            let wide = Met::at(&HELD, depth - less, depth + more);
            let (lo, hi) = exact.chances(&HELD, met(depth));
            let (least, most) = open.chances(&HELD, wide);
            prop_assert!(least <= lo + 1e-12 && hi <= most + 1e-12, "{} {} {} {}", least, lo, hi, most);
            let taken = if hi <= 0.0 { false } else if lo >= 1.0 { true } else { coin };
            exact = exact.after(&HELD, met(depth), Some(taken));
            open = open.after(&HELD, wide, shows.then_some(taken));
        }
    }
}
