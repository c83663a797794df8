//! How evenly senders share a port.

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
    /// The greatest.
    pub greatest: Span,
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

impl Shares {
    /// Whether a share departs from an equal one by more than `within`, for certain.
    pub fn are_unequal(&self, within: Ppm) -> bool {
        let (one, within) = (u64::from(Ppm::ONE.0), u64::from(within.0));
        self.least.hi < one.saturating_sub(within) || self.greatest.lo > one + within
    }
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

    #[test]
    fn a_share_off_by_as_much_as_allowed_is_equal_and_by_a_millionth_more_it_is_not() {
        assert!(!of(&[9, 11]).are_unequal(Ppm(100_000)));
        assert!(of(&[9, 11]).are_unequal(Ppm(99_999)));
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
