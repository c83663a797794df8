//! The least number for which something happens, found with no idea of it beforehand: doubled until it happens, halved between
//! the two, at last one by one, and the two that enclose it tried again.
//!
//! It rests on one thing: what happens for a number happens for every greater one. Where the trials contradict that, the
//! interval that is stated grows to hold the contradiction.

use rig_capture::Span;

/// How often the two numbers that enclose the answer are tried again.
const AGAIN: u32 = 1;

/// One search under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The greatest number that is worth trying.
    most: u64,
    /// Every number that was tried, and whether it happened.
    tried: Vec<(u64, bool)>,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It first happens at a number surely within.
    At(Span),
    /// It does not happen up to this number.
    Never {
        /// The greatest that was tried.
        up_to: u64,
    },
}

impl Search {
    /// A search from 1 to `most`.
    pub const fn up_to(most: u64) -> Search {
        Search { most, tried: Vec::new() }
    }

    /// What was tried in another order, or by somebody else.
    pub const fn of(most: u64, tried: Vec<(u64, bool)>) -> Search {
        Search { most, tried }
    }

    /// The greatest number that is worth trying.
    pub const fn most(&self) -> u64 {
        self.most
    }

    /// Whether nothing was tried yet.
    pub const fn is_untried(&self) -> bool {
        self.tried.is_empty()
    }

    /// The number to try next; `None` when it has been found, or never happens.
    pub fn ask(&self) -> Option<u64> {
        let below = self.below();
        let Some(at) = self.at() else {
            return (below < self.most).then(|| (below * 2).clamp(1, self.most));
        };
        if at > below + 1 {
            return Some(below + (at - below) / 2);
        }
        let times = |n: u64| self.tried.iter().filter(|(tried, _)| *tried == n).count();
        let again = usize::try_from(AGAIN).unwrap_or(usize::MAX);
        [at, below].into_iter().find(|&n| n > 0 && times(n) <= again)
    }

    /// What a trial of `n` showed.
    pub fn seen(&mut self, n: u64, happened: bool) {
        self.tried.push((n, happened));
    }

    /// What it came to so far.
    pub fn found(&self) -> Found {
        // Below it every trial shows that it does not happen, from `hi` on every trial that it does.
        let no = |n: u64| self.tried.iter().filter(|(tried, _)| *tried <= n).all(|(_, did)| !did);
        let yes = |n: u64| self.tried.iter().filter(|(tried, _)| *tried >= n).all(|(_, did)| *did);
        let numbers = || self.tried.iter().map(|(tried, _)| *tried);
        let least = numbers().filter(|&n| no(n)).max().unwrap_or(0) + 1;
        match numbers().filter(|&n| yes(n)).min() {
            Some(hi) => Found::At(Span { lo: least.min(hi), hi }),
            None => Found::Never { up_to: numbers().max().unwrap_or(0) },
        }
    }

    /// How many trials it takes, about, when the answer is not known: to double up to `like`, to halve back, and to try again.
    pub fn expected(like: u64) -> u32 {
        2 * (u64::BITS - like.leading_zeros()) + 2 * AGAIN
    }

    /// The greatest number for which it did not happen, as far as smaller ones agree.
    fn below(&self) -> u64 {
        let did = self.at().unwrap_or(u64::MAX);
        let not = self.tried.iter().filter(|(n, happened)| !happened && *n < did);
        not.map(|(n, _)| *n).max().unwrap_or(0)
    }

    /// The least number for which it happened.
    fn at(&self) -> Option<u64> {
        self.tried.iter().filter(|(_, happened)| *happened).map(|(n, _)| *n).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search(most: u64, mut happens: impl FnMut(u64) -> bool) -> (Found, usize) {
        let mut search = Search::up_to(most);
        while let Some(n) = search.ask() {
            let happened = happens(n);
            search.seen(n, happened);
            assert!(search.tried.len() < 200, "it does not end: {search:?}");
        }
        (search.found(), search.tried.len())
    }

    #[test]
    fn the_answer_is_enclosed_and_both_sides_are_tried_twice() {
        let mut tried = Vec::new();
        let (found, _) = search(1_000, |n| {
            tried.push(n);
            n >= 11
        });
        assert_eq!(found, Found::At(Span::exactly(11)));
        assert_eq!(tried, [1, 2, 4, 8, 16, 12, 10, 11, 11, 10]);
    }

    #[test]
    fn the_first_number_may_be_the_answer() {
        assert_eq!(search(1_000, |_| true), (Found::At(Span::exactly(1)), 2));
    }

    #[test]
    fn what_never_happens_ends_at_the_greatest_number() {
        assert_eq!(search(100, |_| false).0, Found::Never { up_to: 100 });
    }

    #[test]
    fn trials_that_contradict_each_other_widen_the_answer() {
        // 10 happens the second time that it is tried.
        let mut tens = 0;
        let (found, _) = search(1_000, |n| {
            tens += u32::from(n == 10);
            n >= 11 || (n == 10 && tens > 1)
        });
        assert_eq!(found, Found::At(Span { lo: 10, hi: 11 }));
    }

    proptest! {
        #[test]
        fn every_threshold_is_found_in_about_twice_its_digits(threshold in 1_u64..1_000_000) {
            let (found, trials) = search(1 << 20, |n| n >= threshold);
            prop_assert_eq!(found, Found::At(Span::exactly(threshold)));
            prop_assert!(trials <= Search::expected(threshold) as usize + 1, "{trials}");
        }
    }
}
