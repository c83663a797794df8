//! What a receiver with selective repeat keeps of what comes behind a hole.

/// Packets behind a hole, in runs of numbers that follow one another, from the least on.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Vec<Run>);

/// Numbers that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    from: u32,
    pub(super) packets: u32,
    /// Whether a message ends in it.
    pub(super) ends: bool,
}

/// How far ahead of the number that is expected another one is.
const fn ahead(number: u32, expected: u32) -> u32 {
    number.wrapping_sub(expected) & 0xff_ffff
}

impl Kept {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a packet; false where it is kept already.
    pub(super) fn keep(&mut self, number: u32, ends: bool, expected: u32) -> bool {
        let place = ahead(number, expected);
        let from = |run: &Run| ahead(run.from, expected);
        let next = self.0.partition_point(|run| from(run) <= place);
        let before = next.checked_sub(1).filter(|&before| {
            let run = &self.0[before];
            place <= from(run) + run.packets
        });
        if before.is_some_and(|before| place < from(&self.0[before]) + self.0[before].packets) {
            return false;
        }
        let joins_next = self.0.get(next).is_some_and(|run| from(run) == place + 1);
        match (before, joins_next) {
            (Some(before), joins) => {
                let more = if joins { Some(self.0.remove(next)) } else { None };
                let run = &mut self.0[before];
                run.packets += 1 + more.map_or(0, |more| more.packets);
                run.ends |= ends || more.is_some_and(|more| more.ends);
            }
            (None, true) => {
                let run = &mut self.0[next];
                *run = Run { from: number, packets: run.packets + 1, ends: run.ends || ends };
            }
            (None, false) => self.0.insert(next, Run { from: number, packets: 1, ends }),
        }
        true
    }

    /// Gives back what follows at once on all that was taken.
    pub(super) fn follows(&mut self, expected: u32) -> Option<Run> {
        let first = self.0.first().filter(|run| run.from == expected)?;
        let first = *first;
        self.0.remove(0);
        Some(first)
    }

    /// Gives back the first of what is kept, whatever is missing before it: that is so many packets.
    pub(super) fn skips(&mut self, expected: u32) -> Option<(u32, Run)> {
        let first = *self.0.first()?;
        self.0.remove(0);
        Some((ahead(first.from, expected), first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(numbers: &[u32], expected: u32) -> Kept {
        let mut kept = Kept::default();
        for &number in numbers {
            assert!(kept.keep(number, number == 3, expected), "{number}");
        }
        kept
    }

    #[test]
    fn numbers_that_follow_one_another_are_one_run_whatever_order_they_come_in() {
        for numbers in [[1, 2, 3], [3, 2, 1], [1, 3, 2], [2, 1, 3]] {
            let mut all = kept(&numbers, 0xff_ffff);
            assert_eq!(all.follows(0), None);
            assert_eq!(all.follows(1), Some(Run { from: 1, packets: 3, ends: true }));
            assert!(all.is_empty());
        }
    }

    #[test]
    fn what_is_kept_is_known_again_across_the_wrap() {
        let mut all = kept(&[0xff_ffff, 0, 5], 0xff_fff0);
        assert!([0xff_ffff, 0, 5].iter().all(|&number| !all.keep(number, false, 0xff_fff0)));
        assert!(all.keep(1, false, 0xff_fff0));
        let first = Run { from: 0xff_ffff, packets: 3, ends: false };
        assert_eq!(all.skips(0xff_fff0), Some((15, first)));
        assert_eq!(all.follows(5), Some(Run { from: 5, packets: 1, ends: false }));
    }
}
