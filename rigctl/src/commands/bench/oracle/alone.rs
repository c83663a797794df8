//! One scenario, measured in this process.

use super::super::rounds::{Rounds, rate, timed};
use super::rows::{Figures, Row};
use crate::cli::OracleArgs;
use rig_oracle::model::bench::{self, run as simulate};
use rig_units::Dur;
use std::fs;

/// What the engine does in a scenario.
pub(super) fn figures(row: &Row, args: &OracleArgs) -> Figures {
    let &Row(scenario, load, ns3) = row;
    let round = |_| timed(|| simulate(scenario, load.features(), args.simulate));
    let all: Vec<(bench::Figures, Dur)> = (0..args.rounds).map(round).collect();
    let rates = |count: fn(&bench::Figures) -> u64| {
        Rounds::of(all.iter().map(|(figures, took)| rate(count(figures), *took)).collect())
    };
    let of = |count: fn(&bench::Figures) -> u64| all.first().map_or(0, |(of, _)| count(of));
    Figures {
        scenario: row.name(),
        hops: of(|of| of.hops),
        data_hops: of(|of| of.data_hops),
        answer_hops: of(|of| of.answer_hops),
        cnp_hops: of(|of| of.cnp_hops),
        hops_per_cpu_s: rates(|of| of.hops),
        data_hops_per_cpu_s: rates(|of| of.data_hops),
        ns3_hops_per_cpu_s: ns3.map(|ns3| ns3.map(|thousands| thousands * 1_000)),
        peak_kib: peak_kib(),
        peak_kib_long: None,
    }
}

/// The most memory that this process has held so far, in KiB (`VmHWM`); 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
