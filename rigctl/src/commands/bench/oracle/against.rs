//! This program and another by turns: what each does, and the ratio within each pair.

use super::super::rounds::{FORMAT, Rounds};
use super::program::{All, Program, Told};
use super::rows::Row;
use crate::cli::OracleArgs;
use serde::Serialize;
use std::path::Path;

/// What came out.
#[derive(Debug, Serialize)]
pub(in super::super) struct Against {
    format: &'static str,
    bench: &'static str,
    pub(super) pairs: u16,
    pub(super) rounds: u16,
    pub(super) simulated_us: u64,
    pub(super) other: String,
    pub(super) scenarios: Vec<Pairs>,
    /// Scenarios that the other says nothing of.
    pub(super) unknown: Vec<String>,
}

/// What came out of one scenario.
#[derive(Debug, Serialize)]
pub(in super::super) struct Pairs {
    pub(super) scenario: String,
    /// Frames put on a cable as each counts them, in the last pair: of this program in one round.
    pub(super) hops: u64,
    pub(super) other_hops: u64,
    pub(super) hops_per_cpu_s: Rounds,
    pub(super) other_hops_per_cpu_s: Rounds,
    /// What this program does in thousandths of what the other does, pair by pair.
    pub(super) ratio_permille: Rounds,
}

/// Takes turns.
pub(super) fn run(args: &OracleArgs, rows: &[Row], other: &Path) -> Result<Against, String> {
    let sides = Sides { own: Program::own()?, other: Program::at(other), args };
    let ids: Vec<String> = rows.iter().map(Row::id).collect();
    // What it knows is found out in a pair that does not count.
    let first = ids.first().map(String::as_str).unwrap_or_default();
    let by_one = sides.other.one(first, 1, args.simulate)?.is_some();
    let groups: Vec<&[String]> = if by_one { ids.chunks(1).collect() } else { vec![&ids] };
    let (mut scenarios, mut unknown) = (Vec::new(), Vec::new());
    for group in groups {
        let pairs: Result<Vec<[All; 2]>, String> =
            (0..args.pairs).map(|pair| sides.pair(group, by_one, pair % 2 == 1)).collect();
        let pairs = pairs?;
        for id in group {
            let both = |[own, other]: &[All; 2]| Some([*own.get(id)?, *other.get(id)?]);
            match pairs.iter().map(both).collect::<Option<Vec<_>>>() {
                Some(pairs) => scenarios.push(of(id, &pairs)),
                None => unknown.push(id.clone()),
            }
        }
    }
    if scenarios.is_empty() {
        return Err(sides.other.silent(first));
    }
    Ok(Against {
        format: FORMAT,
        bench: "oracle-against",
        pairs: args.pairs,
        rounds: args.rounds,
        simulated_us: args.simulate.0 / 1_000_000,
        other: other.display().to_string(),
        scenarios,
        unknown,
    })
}

/// Who takes turns.
struct Sides<'a> {
    own: Program,
    other: Program,
    args: &'a OracleArgs,
}

impl Sides<'_> {
    /// One turn of each: what this program says, and what the other does. Who begins changes from pair to pair.
    fn pair(&self, ids: &[String], by_one: bool, other_first: bool) -> Result<[All; 2], String> {
        let &OracleArgs { rounds, simulate, .. } = self.args;
        let own = || -> Result<All, String> {
            let mut all = All::new();
            for id in ids {
                all.append(&mut self.own.one(id, rounds, simulate)?.unwrap_or_default());
            }
            Ok(all)
        };
        let other = || match ids.first().filter(|_| by_one) {
            Some(id) => Ok(self.other.one(id, rounds, simulate)?.unwrap_or_default()),
            None => self.other.whole(),
        };
        if other_first {
            let other = other()?;
            return Ok([own()?, other]);
        }
        Ok([own()?, other()?])
    }
}

/// What the pairs of one scenario come to.
fn of(id: &str, pairs: &[[Told; 2]]) -> Pairs {
    let rates = |side: usize| Rounds::of(pairs.iter().map(|pair| pair[side].rate).collect());
    let ratio = |[own, other]: &[Told; 2]| {
        let permille = u128::from(own.rate) * 1_000 / u128::from(other.rate.max(1));
        u64::try_from(permille).unwrap_or(u64::MAX)
    };
    let hops = |side: usize| pairs.last().map_or(0, |pair| pair[side].hops);
    Pairs {
        scenario: id.to_owned(),
        hops: hops(0),
        other_hops: hops(1),
        hops_per_cpu_s: rates(0),
        other_hops_per_cpu_s: rates(1),
        ratio_permille: Rounds::of(pairs.iter().map(ratio).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_that_of_a_pair_and_not_of_the_medians() {
        let told = |rate| Told { hops: 5, rate };
        // The machine's pace doubles from pair to pair, and the ratio does not.
        let pairs = [[told(10), told(5)], [told(20), told(10)], [told(45), told(20)]];
        let of = of("incast2", &pairs);
        assert_eq!(of.ratio_permille, Rounds { median: 2_000, min: 2_000, max: 2_250 });
        assert_eq!(of.other_hops_per_cpu_s, Rounds { median: 10, min: 5, max: 20 });
    }
}
