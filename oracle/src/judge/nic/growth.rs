//! Whether something grows from one setting to the next: marks and CNPs, with the number of senders.

use crate::judge::batches::Mean;

/// What two neighbours show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// Whatever they are, the second is the greater.
    Grows,
    /// Whatever they are, it is not.
    DoesNot,
    /// What was seen leaves both open.
    Open,
}

/// Compares each with the one before it.
pub fn growth(means: &[Mean]) -> Vec<Growth> {
    let of = |two: &[Mean]| {
        let [before, after] = [two[0], two[1]];
        if after.lo() > before.hi() {
            Growth::Grows
        } else if after.hi() <= before.lo() {
            Growth::DoesNot
        } else {
            Growth::Open
        }
    };
    means.windows(2).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_apart_grows_or_falls() {
        let mean = |mean, off| Mean { mean, off, readings: 16, worth: 16 };
        let all = growth(&[mean(1.0, 0.4), mean(2.0, 0.4), mean(2.1, 0.4), mean(1.0, 0.4)]);
        assert_eq!(all, [Growth::Grows, Growth::Open, Growth::DoesNot]);
    }

    #[test]
    fn what_is_always_the_same_does_not_grow() {
        let mean = Mean { mean: 1.0, off: 0.0, readings: 16, worth: 16 };
        assert_eq!(growth(&[mean, mean]), [Growth::DoesNot]);
    }
}
