//! How evenly senders share a port.

use crate::judge::batches::{self, Mean};
use core::f64::consts::SQRT_2;
use rig_capture::Span;
use rig_units::{Bytes, Ppm};

/// What each of several senders got, set against what each should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Jain's index in millionths: the square of the sum over n times the sum of the squares. 1 for equal shares, 1 / n where one
    /// has all.
    pub jain: Span,
    /// The least share, in millionths of an equal one.
    pub least: Span,
    /// The greatest share, in millionths of an equal one.
    pub greatest: Span,
}

/// How a share stands to an equal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Equal {
    /// An equal one is among those that it may be.
    Yes,
    /// It is another one, and stays so.
    No,
    /// It is another one than it was, and nearer to an equal one: what senders began with is not forgotten yet.
    Settling,
    /// What was seen does not even tell a sender that gets nothing.
    Untold,
}

/// The share of a sender in the long run, as a multiple of an equal one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongRun {
    /// Over all batches.
    pub mean: Mean,
    /// Over the earlier half of each run, and over the later one.
    halves: [f64; 2],
}

/// The share of each sender in the long run, from what each sent in each batch of each run: `sent[sender][run][batch]`. Senders that
/// share equally are alike, so that one variance is told from all of them. `None`: too little to tell, or a batch in which nobody
/// sent anything.
pub fn in_the_long_run(sent: &[Vec<Vec<Bytes>>], alpha: f64) -> Option<Vec<LongRun>> {
    let senders = float(u64::try_from(sent.len()).ok()?);
    let all = |run: usize, batch: usize| -> Option<u64> {
        sent.iter().map(|runs| Some(runs.get(run)?.get(batch)?.0)).sum()
    };
    let shares = |runs: &Vec<Vec<Bytes>>| -> Option<Vec<Vec<f64>>> {
        let of_run = |(run, batches): (usize, &Vec<Bytes>)| {
            let share = |(batch, bytes): (usize, &Bytes)| {
                let all = all(run, batch).filter(|&all| all > 0)?;
                Some(float(bytes.0) * senders / float(all))
            };
            batches.iter().enumerate().map(share).collect()
        };
        runs.iter().enumerate().map(of_run).collect()
    };
    let series: Vec<_> = sent.iter().map(shares).collect::<Option<_>>()?;
    let means = batches::means(&series, alpha)?;
    let of = |(mean, runs): (Mean, &Vec<Vec<f64>>)| LongRun { mean, halves: halves(runs) };
    Some(means.into_iter().zip(&series).map(of).collect())
}

/// The means over the earlier and over the later half of each run.
fn halves(runs: &[Vec<f64>]) -> [f64; 2] {
    let middle = |run: &Vec<f64>| run.len() / 2;
    let mean = |parts: &mut dyn Iterator<Item = &[f64]>| {
        let (mut sum, mut count) = (0.0, 0.0);
        for value in parts.flatten() {
            (sum, count) = (sum + value, count + 1.0);
        }
        sum / f64::max(count, 1.0)
    };
    let earlier = mean(&mut runs.iter().map(|run| &run[..middle(run)]));
    let later = mean(&mut runs.iter().map(|run| &run[run.len() - middle(run)..]));
    [earlier, later]
}

impl LongRun {
    /// A share that moves to an equal one is taken for one that stays off in so many of all cases.
    const MOVES: f64 = 1e-3;

    /// How it stands to an equal share, where the ends of a run may make `ends` of one more or less of it. By symmetry senders that are
    /// alike have the same, but for chance; those that began at different times do so once what they began with is forgotten,
    /// which goes on as long as a share still moves. Half of the readings tell a mean `SQRT_2` as badly at the most, and the
    /// difference of two such halves twice as badly: the more alike neighbours are the less so.
    pub fn against_equal(&self, ends: f64, alpha: f64) -> Equal {
        let Mean { mean, off, .. } = self.mean;
        let [earlier, later] = self.halves.map(|half| (half - 1.0) * (mean - 1.0).signum());
        if self.told(ends, alpha) >= 1.0 {
            Equal::Untold
        } else if (mean - 1.0).abs() <= off + ends {
            Equal::Yes
        } else if later <= SQRT_2 * off + ends
            || earlier - later > 2.0 * self.mean.beyond(Self::MOVES, alpha)
        {
            Equal::Settling
        } else {
            Equal::No
        }
    }

    /// How far from an equal one a share is that shows with the power that trials are planned for.
    pub fn told(&self, ends: f64, alpha: f64) -> f64 {
        SQRT_2 * self.mean.told(alpha) + ends
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of one run are far below 2^53")]
fn float(value: u64) -> f64 {
    value as f64
}

/// Reads the shares off what each sent in the same time. `None`: nobody sent anything. The spans hold the values between two
/// millionths.
pub fn shares(sent: &[Bytes]) -> Option<Shares> {
    let of = |bytes: &Bytes| u128::from(bytes.0);
    let senders = sent.len() as u128;
    let sum: u128 = sent.iter().map(of).sum();
    let squares: u128 = sent.iter().map(|bytes| of(bytes) * of(bytes)).sum();
    let (least, greatest) = (sent.iter().map(of).min()?, sent.iter().map(of).max()?);
    (sum > 0).then(|| Shares {
        jain: ppm(sum * sum, senders * squares),
        least: ppm(least * senders, sum),
        greatest: ppm(greatest * senders, sum),
    })
}

/// A fraction in millionths, with both neighbours where it lies between.
fn ppm(num: u128, den: u128) -> Span {
    let million = num * u128::from(Ppm::ONE.0);
    let whole = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    Span { lo: whole(million / den), hi: whole(million.div_ceil(den)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(sent: &[u64]) -> Shares {
        shares(&sent.iter().map(|&bytes| Bytes(bytes)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn equal_shares_have_index_1_and_one_that_has_all_1_in_n() {
        let equal = Span::exactly(1_000_000);
        assert_eq!(of(&[7, 7, 7]), Shares { jain: equal, least: equal, greatest: equal });
        let one = of(&[0, 9, 0, 0]);
        assert_eq!(
            (one.jain, one.least.hi, one.greatest.lo),
            (Span::exactly(250_000), 0, 4_000_000)
        );
        // 1 and 3: 16 / (2 x 10) = 0.8; half and one and a half.
        let uneven = of(&[1, 3]);
        assert_eq!(
            (uneven.jain.lo, uneven.least.lo, uneven.greatest.lo),
            (800_000, 500_000, 1_500_000)
        );
        // 1, 1, 2: 16 / 18 = 0.888..., between two millionths.
        assert_eq!(of(&[1, 1, 2]).jain, Span { lo: 888_888, hi: 888_889 });
        assert_eq!(shares(&[]), None);
        assert_eq!(shares(&[Bytes(0)]), None);
    }

    /// What two senders send in 64 batches, the first of them `first` of 1000 on the average, to and fro by up to `about`.
    fn batches(first: u64, about: u64, count: u64) -> Vec<Vec<Vec<Bytes>>> {
        let spread = |i: u64| (i * 2_654_435_761 % 4_294_967_296) % (2 * about + 1);
        let each: Vec<u64> = (1..=count).map(|i| first + spread(i) - about).collect();
        let of =
            |bytes: &dyn Fn(u64) -> u64| vec![each.iter().map(|&one| Bytes(bytes(one))).collect()];
        vec![of(&|one| one), of(&|one| 1_000 - one)]
    }

    #[test]
    fn equal_shares_pass_unequal_ones_do_not_and_too_little_leaves_it_open() {
        let judged = |sent: &[Vec<Vec<Bytes>>]| -> Vec<Equal> {
            let shares = in_the_long_run(sent, 1e-6).expect("enough to tell");
            shares.iter().map(|share| share.against_equal(0.0, 1e-6)).collect()
        };
        assert_eq!(judged(&batches(500, 20, 64)), [Equal::Yes; 2]);
        assert_eq!(judged(&batches(520, 20, 64)), [Equal::No; 2]);
        // The same shares with more to and fro.
        assert_eq!(judged(&batches(500, 200, 64)), [Equal::Yes; 2]);
        assert_eq!(judged(&batches(520, 200, 64)), [Equal::Yes; 2]);
        // Over less time nothing shows that they settle at all.
        assert_eq!(in_the_long_run(&batches(500, 300, 16), 1e-6), None);
        assert_eq!(in_the_long_run(&batches(500, 20, 8), 1e-6), None);
        assert_eq!(
            in_the_long_run(&[vec![vec![Bytes(0); 64]], vec![vec![Bytes(0); 64]]], 1e-6),
            None
        );
    }

    #[test]
    fn what_shows_just_so_is_off_and_what_the_ends_of_a_run_make_is_not() {
        let shares = in_the_long_run(&batches(520, 20, 64), 1e-6).expect("enough to tell");
        let off = |share: &LongRun| (share.mean.mean - 1.0).abs() - share.mean.off;
        for share in &shares {
            assert_eq!(share.against_equal(off(share) + 1e-9, 1e-6), Equal::Yes);
        }
        // An equal share, and one that is off by what is told.
        let equal = in_the_long_run(&batches(500, 20, 64), 1e-6).expect("enough to tell");
        let told = equal[0].told(0.0, 1e-6);
        assert!((0.01..0.04).contains(&told), "{told}");
        let first = 500 + stats_whole(500.0 * told) + 1;
        let shares = in_the_long_run(&batches(first, 20, 64), 1e-6).expect("enough to tell");
        assert!(shares.iter().all(|share| share.against_equal(0.0, 1e-6) == Equal::No));
    }

    fn stats_whole(value: f64) -> u64 {
        u64::from(crate::judge::stats::whole(value))
    }

    #[test]
    fn a_share_is_unequal_where_it_stays_so() {
        let mean = Mean { mean: 0.9, off: 0.01, readings: 64, worth: 64 };
        let judged = |earlier: f64, later: f64| {
            LongRun { mean, halves: [earlier, later] }.against_equal(0.001, 1e-6)
        };
        // Beyond 1e-6 lie 4.89 deviations, beyond 1e-3 on one side 3.09: twice that is 0.01264.
        assert_eq!(judged(0.9, 0.9), Equal::No);
        assert_eq!(judged(0.8937, 0.9063), Equal::No);
        assert_eq!(judged(0.8936, 0.9064), Equal::Settling);
        // Farther off towards the end.
        assert_eq!(judged(0.95, 0.85), Equal::No);
        // 0.01414 and the ends.
        let mean = Mean { mean: 0.9848, ..mean };
        let judged =
            |later: f64| LongRun { mean, halves: [0.9848, later] }.against_equal(0.001, 1e-6);
        assert_eq!((judged(0.9848), judged(0.9849)), (Equal::No, Equal::Settling));
        // One that gets nothing is 1 off: so much is told by 0.47 of it, of which 0.32 is chance.
        let wide = |off: f64| {
            let mean = Mean { off, mean: 1.0, ..mean };
            LongRun { mean, halves: [1.0; 2] }.against_equal(0.0, 1e-6)
        };
        assert_eq!((wide(0.47), wide(0.49)), (Equal::Yes, Equal::Untold));
    }

    #[test]
    fn senders_that_still_move_to_equal_shares_are_not_unequal() {
        // From 80 % to half, half of the way in each ten of 64 batches.
        let mut sent = batches(500, 20, 64);
        for (at, batch) in (0_i32..).zip(0..64) {
            let more = 300.0 * 0.5_f64.powf(f64::from(at) / 10.0);
            let more = stats_whole(more);
            sent[0][0][batch].0 += more;
            sent[1][0][batch].0 = sent[1][0][batch].0.saturating_sub(more);
        }
        let shares = in_the_long_run(&sent, 1e-6);
        let judged = |share: &LongRun| share.against_equal(0.0, 1e-6);
        assert!(shares.is_none_or(|all| all.iter().all(|one| judged(one) != Equal::No)));
        // The same over so many runs that the mean is known well.
        let many: Vec<Vec<Vec<Bytes>>> =
            sent.iter().map(|runs| (0..64).map(|_| runs[0].clone()).collect()).collect();
        let shares = in_the_long_run(&many, 1e-6);
        assert!(shares.is_none_or(|all| all.iter().all(|one| judged(one) != Equal::No)));
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_in_n_and_1(sent in prop::collection::vec(0_u64..1 << 40, 1..40)) {
            prop_assume!(sent.iter().any(|&bytes| bytes > 0));
            let Shares { jain, least, greatest } = of(&sent);
            prop_assert!(jain.hi <= 1_000_000 && jain.hi >= 1_000_000 / sent.len() as u64);
            prop_assert!(least.lo <= 1_000_000 && greatest.hi >= 1_000_000);
        }
    }
}
