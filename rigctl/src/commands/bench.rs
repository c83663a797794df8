//! `rigctl bench`: what this machine does, over several rounds.

mod child;
mod ends;
mod frames;
mod oracle;
mod pacing;
mod tx;

use super::input::Bad;
use crate::cli::{BenchCommand, Format};
use crate::{stderr, stdout, wall};
use rig_reports::Exit;
use rig_units::Dur;
use serde::Serialize;

/// The format of the JSON of every benchmark.
const FORMAT: &str = "rig-bench/1";
/// Said below every result.
const SHARED: &str = "CPU time of this process alone (getrusage); another load on the machine still takes caches and clock: \
compare the least and the greatest";

/// Measures and prints.
///
/// # Errors
/// Flags that do not go together.
pub fn bench(what: &BenchCommand) -> Result<Exit, Bad> {
    if let BenchCommand::Pacing(args) = what {
        pacing::fits(args).map_err(Bad::of)?;
    }
    let optimised = !cfg!(debug_assertions);
    let measured = match what {
        BenchCommand::Oracle(args) => Ok((args.format, shown(&oracle::run()))),
        BenchCommand::Frames(args) => Ok((args.format, shown(&frames::run()))),
        BenchCommand::Pacing(args) => pacing::run(args).map(|of| (args.format, shown(&of))),
        BenchCommand::Tx(args) => tx::run(args).map(|of| (args.format, shown(&of))),
    };
    let (format, (text, json)) = match measured {
        Ok(measured) => measured,
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    match format {
        Format::Json => stdout::json(&json),
        Format::Human if optimised => stdout::text(&text),
        Format::Human => stdout::text(&format!(
            "{text}{:>12} this build is not optimised; build with --release for figures that count\n",
            "Warning"
        )),
    }
    Ok(Exit::Passed)
}

/// The middle one; of an even number the lower of the two.
fn median(all: Vec<u64>) -> u64 {
    Rounds::of(all).median
}

fn shown<B: Serialize + ToString>(bench: &B) -> (String, String) {
    (bench.to_string(), serde_json::to_string_pretty(bench).unwrap_or_default())
}

/// What several rounds gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Rounds {
    /// The middle one; of an even number the lower of the two.
    median: u64,
    /// The least.
    min: u64,
    /// The greatest.
    max: u64,
}

impl Rounds {
    /// Of at least one round.
    fn of(mut rounds: Vec<u64>) -> Rounds {
        rounds.sort_unstable();
        let at = |index: usize| rounds.get(index).copied().unwrap_or_default();
        let last = rounds.len().saturating_sub(1);
        Rounds { median: at(last / 2), min: at(0), max: at(last) }
    }
}

/// The result of `work`, and the CPU time that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Dur) {
    let before = wall::cpu_time();
    let result = work();
    (result, wall::cpu_time().saturating_sub(before))
}

/// So many of something in so much time, a second.
fn rate(count: u64, took: Dur) -> u64 {
    const PS_PER_S: u128 = 1_000_000_000_000;
    u64::try_from(u128::from(count) * PS_PER_S / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
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
