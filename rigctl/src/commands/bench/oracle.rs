//! The simulation engine: frames put on a cable per CPU second with every feature on, and the memory it takes. Built with the
//! feature `ns3` it also runs the DCQCN of that packet simulator.

use super::rounds::{FORMAT, Rounds, SHARED, rate, timed};
use core::fmt;
use rig_oracle::model::bench::dcqcn::Reaction;
use rig_oracle::model::bench::{Features, Figures, Scenario, run as simulate};
use rig_units::Dur;
use serde::Serialize;
use std::fs;

/// Frames a CPU second below which the engine is too slow for the catalogue.
const FLOOR: u64 = 10_000_000;
/// What is aimed at.
const GOAL: u64 = 20_000_000;
const ROUNDS: usize = 5;
const SHORT: Dur = Dur::ms(50);
const LONG: Dur = Dur::ms(200);

/// What is measured, and what ns-3 does in the same scenario in thousand frames a CPU second: the HPCC variant, then the Alibaba
/// one, both as published. Where it has no such scenario there is nothing to compare.
const ROWS: &[(Scenario, Load, Option<[u64; 2]>)] = &[
    (Scenario::Incast(2), Load::Streams, Some([920, 953])),
    (Scenario::Incast(8), Load::Streams, Some([930, 933])),
    (Scenario::Incast(16), Load::Streams, Some([958, 897])),
    #[cfg(feature = "ns3")]
    (Scenario::Incast(2), Load::Nics(Reaction::Dcqcn, 1), Some([752, 827])),
    #[cfg(feature = "ns3")]
    (Scenario::Incast(8), Load::Nics(Reaction::Dcqcn, 1), Some([670, 716])),
    #[cfg(feature = "ns3")]
    (Scenario::Incast(16), Load::Nics(Reaction::Dcqcn, 1), Some([611, 644])),
    #[cfg(feature = "ns3")]
    (Scenario::Dumbbell(64), Load::Nics(Reaction::Dcqcn, 1), Some([564, 563])),
    (Scenario::Incast(2), Load::Nics(Reaction::Product, 1), None),
    (Scenario::Incast(2), Load::Nics(Reaction::Product, 64), None),
    (Scenario::Incast(2), Load::Nics(Reaction::Product, 4_096), None),
];
const NS3_SOURCE: &str = "ns-3 in its HPCC and Alibaba variants, 50 ms simulated, best of 3 and of 2 runs on a machine of this kind";

/// What is sent.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// Streams at line rate, PFC only.
    Streams,
    /// What NICs send that react to marks, each with so many queue pairs.
    Nics(Reaction, u16),
}

impl Load {
    fn features(self) -> Features {
        match self {
            Load::Streams => Features::all(),
            Load::Nics(reaction, pairs) => Features::of_nics(reaction, pairs),
        }
    }

    /// `incast16`, `incast16 dcqcn`, `incast2 nic, 64 queue pairs`.
    fn name(self, scenario: Scenario) -> String {
        let scenario = scenario.name();
        match self {
            Load::Streams => scenario,
            Load::Nics(reaction, 1) => format!("{scenario} {}", reaction.name()),
            Load::Nics(reaction, pairs) => {
                format!("{scenario} {}, {pairs} queue pairs", reaction.name())
            }
        }
    }
}

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Oracle {
    format: &'static str,
    bench: &'static str,
    rounds: usize,
    floor_hops_per_s: u64,
    goal_hops_per_s: u64,
    ns3_source: &'static str,
    scenarios: Vec<Measured>,
}

#[derive(Debug, Serialize)]
struct Measured {
    scenario: String,
    /// Data, answers and PFC frames put on a cable within 50 ms.
    hops: u64,
    data_hops: u64,
    hops_per_cpu_s: Rounds,
    data_hops_per_cpu_s: Rounds,
    ns3_hops_per_cpu_s: Option<[u64; 2]>,
    /// Most memory that the process had held after the short runs, in KiB, and after one four times as long.
    peak_kib: u64,
    peak_kib_long: u64,
}

pub(super) fn run() -> Oracle {
    Oracle {
        format: FORMAT,
        bench: "oracle",
        rounds: ROUNDS,
        floor_hops_per_s: FLOOR,
        goal_hops_per_s: GOAL,
        ns3_source: NS3_SOURCE,
        scenarios: ROWS.iter().map(|&(scenario, load, ns3)| measure(scenario, load, ns3)).collect(),
    }
}

fn measure(scenario: Scenario, load: Load, ns3: Option<[u64; 2]>) -> Measured {
    let round = |_| timed(|| simulate(scenario, load.features(), SHORT));
    let all: Vec<(Figures, Dur)> = (0..ROUNDS).map(round).collect();
    let peak_kib = peak_kib();
    let _figures = simulate(scenario, load.features(), LONG);
    let rates = |count: fn(&Figures) -> u64| {
        Rounds::of(all.iter().map(|(figures, took)| rate(count(figures), *took)).collect())
    };
    let (hops, data_hops) = all.first().map_or((0, 0), |(of, _)| (of.hops, of.data_hops));
    Measured {
        scenario: load.name(scenario),
        hops,
        data_hops,
        hops_per_cpu_s: rates(|figures| figures.hops),
        data_hops_per_cpu_s: rates(|figures| figures.data_hops),
        ns3_hops_per_cpu_s: ns3.map(|ns3| ns3.map(|thousands| thousands * 1_000)),
        peak_kib,
        peak_kib_long: self::peak_kib(),
    }
}

/// The most memory that this process has held so far, in KiB (`VmHWM`); 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} million packet-hops per CPU second, {SHORT} simulated, {ROUNDS} rounds: median (least to greatest)",
            "Bench"
        )?;
        writeln!(
            f,
            "{:>12} two lossless classes, counters, a watchdog's reads every 100us, one tap",
            "With"
        )?;
        for of in &self.scenarios {
            let Measured { scenario, hops_per_cpu_s: all, data_hops_per_cpu_s: data, .. } = of;
            let beside = match of.ns3_hops_per_cpu_s {
                Some(ns3) => {
                    let [hpcc, ali] = ns3.map(mega);
                    let times = tenths(all.median / (ns3[0].max(1) / 10));
                    format!("; ns-3 {hpcc} and {ali}: {times} times the former")
                }
                None => String::new(),
            };
            let reached = match all.median {
                of if of >= GOAL => "goal reached",
                of if of >= FLOOR => "above the floor",
                _ => "BELOW THE FLOOR",
            };
            writeln!(
                f,
                "{scenario:>12} {} all, {} data{beside}; {reached}",
                rounds(all),
                rounds(data)
            )?;
        }
        for Measured { scenario, peak_kib, peak_kib_long, .. } in &self.scenarios {
            writeln!(
                f,
                "{:>12} {scenario}: {peak_kib} KiB at most after {SHORT}, {peak_kib_long} KiB after {LONG}, the process as a whole",
                "Memory"
            )?;
        }
        let (floor, goal) = (FLOOR / 1_000_000, GOAL / 1_000_000);
        writeln!(f, "{:>12} floor {floor} million, goal {goal} million, on one core", "Wanted")?;
        writeln!(f, "{:>12} {NS3_SOURCE}", "Beside")?;
        writeln!(f, "{:>12} {SHARED}", "Note")
    }
}

fn rounds(Rounds { median, min, max }: &Rounds) -> String {
    format!("{} ({} to {})", mega(*median), mega(*min), mega(*max))
}

/// Millions with two digits behind the point, rounded.
fn mega(n: u64) -> String {
    let hundredths = (n + 5_000) / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn tenths(n: u64) -> String {
    format!("{}.{}", n / 10, n % 10)
}
