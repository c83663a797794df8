//! What every benchmark shares: several rounds, their middle and ends, and the CPU time that they took.

use crate::wall;
use rig_units::Dur;
use serde::{Deserialize, Serialize};

/// The format of the JSON of every benchmark.
pub(super) const FORMAT: &str = "rig-bench/1";
/// Said below every result.
pub(super) const SHARED: &str = "CPU time of this process alone (getrusage); another load on the machine still takes caches and clock: \
compare the least and the greatest";

/// What several rounds gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// The middle one; of an even number the lower of the two.
    pub(super) median: u64,
    /// The least.
    pub(super) min: u64,
    /// The greatest.
    pub(super) max: u64,
}

impl Rounds {
    /// Of at least one round.
    pub(super) fn of(mut rounds: Vec<u64>) -> Rounds {
        rounds.sort_unstable();
        let at = |index: usize| rounds.get(index).copied().unwrap_or_default();
        let last = rounds.len().saturating_sub(1);
        Rounds { median: at(last / 2), min: at(0), max: at(last) }
    }
}

/// The result of `work`, and the CPU time that it took.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, Dur) {
    let before = wall::cpu_time();
    let result = work();
    (result, wall::cpu_time().saturating_sub(before))
}

/// So many of something in so much time, a second.
pub(super) fn rate(count: u64, took: Dur) -> u64 {
    const PS_PER_S: u128 = 1_000_000_000_000;
    u64::try_from(u128::from(count) * PS_PER_S / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
}

/// The middle one; of an even number the lower of the two.
pub(super) fn median(all: Vec<u64>) -> u64 {
    Rounds::of(all).median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_give_their_middle_and_their_ends() {
        assert_eq!(Rounds::of(vec![5, 1, 3]), Rounds { median: 3, min: 1, max: 5 });
        assert_eq!(Rounds::of(vec![4, 1, 3, 2]), Rounds { median: 2, min: 1, max: 4 });
        assert_eq!(Rounds::of(vec![7]), Rounds { median: 7, min: 7, max: 7 });
    }

    #[test]
    fn a_rate_counts_by_the_second() {
        assert_eq!(rate(3, Dur::ms(500)), 6);
        assert_eq!(rate(3, Dur::ZERO), 3_000_000_000_000);
    }

    #[test]
    fn work_takes_cpu_time() {
        let (sum, took) =
            timed(|| (0..50_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        assert!(took > Dur::ZERO, "{sum}");
    }
}
