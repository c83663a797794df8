//! How evenly senders share a port.

use crate::judge::batches::{self, Mean};
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
    /// Whatever it is, it is near enough.
    Yes,
    /// Whatever it is, it is too far off.
    No,
    /// What was seen leaves both open.
    Open,
}

/// The share of each sender in the long run, as a multiple of an equal one, from what each sent in each batch of each run:
/// `sent[sender][run][batch]`. Senders that share equally are alike, so that one variance is told from all of them. `None`: too
/// little to tell, or a batch in which nobody sent anything.
pub fn in_the_long_run(sent: &[Vec<Vec<Bytes>>], alpha: f64) -> Option<Vec<Mean>> {
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
    batches::means(&series, alpha)
}

/// Whether a share is equal to within `within` of an equal one.
pub fn is_equal(share: &Mean, within: Ppm) -> Equal {
    let within = f64::from(within.0) / f64::from(Ppm::ONE.0);
    let (least, most) = (1.0 - within, 1.0 + within);
    if share.hi() < least || share.lo() > most {
        Equal::No
    } else if share.lo() >= least && share.hi() <= most {
        Equal::Yes
    } else {
        Equal::Open
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
            shares.iter().map(|share| is_equal(share, Ppm(100_000))).collect()
        };
        assert_eq!(judged(&batches(500, 20, 64)), [Equal::Yes; 2]);
        assert_eq!(judged(&batches(600, 20, 64)), [Equal::No; 2]);
        // The same shares with more to and fro.
        assert_eq!(judged(&batches(500, 300, 64)), [Equal::Open; 2]);
        assert_eq!(judged(&batches(600, 300, 64)), [Equal::Open; 2]);
        // Over less time nothing shows that they settle at all.
        assert_eq!(in_the_long_run(&batches(500, 300, 16), 1e-6), None);
        // Off by as much as is allowed: no span of time tells.
        assert_eq!(judged(&batches(550, 20, 64)), [Equal::Open; 2]);
        assert_eq!(in_the_long_run(&batches(500, 20, 8), 1e-6), None);
        assert_eq!(
            in_the_long_run(&[vec![vec![Bytes(0); 64]], vec![vec![Bytes(0); 64]]], 1e-6),
            None
        );
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
