//! How often two frames one after the other are both marked: whether each frame is drawn for by itself.
//!
//! The distribution is exact: frame by frame, whether the last one was marked and how many pairs there are so far; then as many
//! times over as the burst was repeated. Draws that are shared, or that follow one another, leave the number of marks as it is
//! and make more pairs.

use super::tally::Tally;

impl Tally {
    /// The number of pairs in `times` bursts, when each frame is drawn for by itself.
    pub fn of_pairs(shares: &[f64], times: u32) -> Tally {
        // By number of pairs: the chance with the last frame unmarked, and with it marked.
        let mut by_pairs = vec![(1.0, 0.0)];
        for &p in shares {
            let mut next = vec![(0.0, 0.0); by_pairs.len() + 1];
            for (pairs, &(unmarked, marked)) in by_pairs.iter().enumerate() {
                next[pairs].0 += (unmarked + marked) * (1.0 - p);
                next[pairs].1 += unmarked * p;
                next[pairs + 1].1 += marked * p;
            }
            let kept = next.iter().rposition(|&(a, b)| a + b >= super::tally::LEAST);
            next.truncate(kept.map_or(1, |last| last + 1));
            by_pairs = next;
        }
        let once: Vec<f64> = by_pairs.iter().map(|&(unmarked, marked)| unmarked + marked).collect();
        Tally::repeated(&once, times)
    }
}

/// The pairs in one burst, by rank.
pub fn pairs(marked: &[bool]) -> u64 {
    marked.windows(2).map(|pair| u64::from(pair[0] && pair[1])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::Draws;
    use proptest::prelude::*;

    #[test]
    fn a_coin_has_a_pair_in_a_quarter_of_all_places() {
        // Three throws: HHH has two pairs, HHT and THH one.
        let tally = Tally::of_pairs(&[0.5; 3], 1);
        assert!((tally.at_least(2) - 1.0 / 8.0).abs() < 1e-12);
        assert!((tally.at_least(1) - 3.0 / 8.0).abs() < 1e-12);
        let many = Tally::of_pairs(&[0.5; 101], 40);
        assert!((many.mean() - 1_000.0).abs() < 1e-6, "{}", many.mean());
        assert_eq!(pairs(&[true, true, true, false, true, false, true, true]), 3);
    }

    #[test]
    fn shared_draws_are_told_and_draws_of_their_own_are_not() {
        let shares: Vec<f64> = (0..200).map(|rank| f64::from(rank) * 0.05 / 200.0).collect();
        let tally = Tally::of_pairs(&shares, 20);
        let mut draws = Draws::new(1);
        let mut count = |shared: usize| {
            let burst = |draws: &mut Draws| {
                let mut word = 0.0;
                let one = |(rank, p): (usize, &f64)| {
                    if rank % shared == 0 {
                        word = draws.share();
                    }
                    word < *p
                };
                pairs(&shares.iter().enumerate().map(one).collect::<Vec<bool>>())
            };
            (0..20).map(|_| burst(&mut draws)).sum::<u64>()
        };
        assert!(!tally.is_contradicted_by(count(1), 1e-6));
        assert!(tally.is_contradicted_by(count(8), 1e-6));
    }

    proptest! {
        #[test]
        fn every_outcome_of_few_frames_is_counted(shares in prop::collection::vec(0.0..=1.0_f64, 1..9)) {
            let mut counts = vec![0.0; shares.len()];
            for outcome in 0..1_u32 << shares.len() {
                let marked: Vec<bool> = (0..shares.len()).map(|at| outcome >> at & 1 == 1).collect();
                let chance = |(p, mark): (&f64, &bool)| if *mark { *p } else { 1.0 - p };
                counts[usize::try_from(pairs(&marked)).unwrap()] += shares.iter().zip(&marked).map(chance).product::<f64>();
            }
            let tally = Tally::of_pairs(&shares, 1);
            for count in 0..counts.len() {
                let at_least: f64 = counts[count..].iter().sum();
                prop_assert!((tally.at_least(count as u64) - at_least.min(1.0)).abs() < 1e-12);
            }
        }
    }
}
