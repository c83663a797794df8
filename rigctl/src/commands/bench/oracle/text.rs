//! What was measured, for people.

use super::super::rounds::{Rounds, SHARED};
use super::against::{Against, Pairs};
use super::rows::Figures;
use super::{FLOOR, GOAL, LONGER, NS3_SOURCE, Oracle};
use core::fmt;
use rig_units::Dur;

const WITH: &str = "two lossless classes, counters, a watchdog's reads every 1ms, one tap";

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (simulated, rounds) = (Dur::us(self.simulated_us), self.rounds);
        writeln!(
            f,
            "{:>12} million packet-hops per CPU second, {simulated} simulated, {rounds} rounds: median (least to greatest)",
            "Bench"
        )?;
        writeln!(f, "{:>12} {WITH}", "With")?;
        for of in &self.scenarios {
            let Figures { scenario, hops_per_cpu_s: all, data_hops_per_cpu_s: data, .. } = of;
            let beside = match of.ns3_hops_per_cpu_s {
                Some(ns3) => {
                    let [hpcc, ali] = ns3.map(mega);
                    format!("; ns-3 as recorded {hpcc} and {ali}")
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
                spread(all),
                spread(data)
            )?;
        }
        for of in &self.scenarios {
            let Figures {
                scenario,
                hops,
                data_hops: data,
                answer_hops: answers,
                cnp_hops: cnps,
                ..
            } = of;
            let pfc = hops.saturating_sub(data + answers + cnps);
            writeln!(
                f,
                "{:>12} {scenario}: {hops} in a round, {data} of data, {answers} that answer it, {cnps} CNPs, {pfc} of PFC",
                "Hops"
            )?;
        }
        for Figures { scenario, peak_kib, peak_kib_long, .. } in &self.scenarios {
            let long = peak_kib_long.map(|kib| format!(", {kib} KiB after {}", simulated * LONGER));
            let long = long.unwrap_or_default();
            writeln!(
                f,
                "{:>12} {scenario}: {peak_kib} KiB at most after {simulated}{long}, the process as a whole",
                "Memory"
            )?;
        }
        let (floor, goal) = (FLOOR / 1_000_000, GOAL / 1_000_000);
        writeln!(f, "{:>12} floor {floor} million, goal {goal} million, on one core", "Wanted")?;
        writeln!(f, "{:>12} {NS3_SOURCE}", "Recorded")?;
        writeln!(f, "{:>12} {SHARED}", "Note")
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Against { pairs, rounds, other, .. } = self;
        let simulated = Dur::us(self.simulated_us);
        writeln!(
            f,
            "{:>12} {pairs}, taking turns with {other}, {simulated} simulated, rounds a turn: {rounds}; million packet-hops per CPU second: \
             median (least to greatest)",
            "Pairs"
        )?;
        writeln!(f, "{:>12} {WITH}", "With")?;
        for of in &self.scenarios {
            let Pairs { scenario, hops, other_hops, .. } = of;
            let Rounds { median, min, max } = of.ratio_permille;
            let [median, min, max] = [median, min, max].map(permille);
            writeln!(
                f,
                "{scenario:>12} {}, the other {}: {median} ({min} to {max}) times; hops {hops}, the other's {other_hops}",
                spread(&of.hops_per_cpu_s),
                spread(&of.other_hops_per_cpu_s),
            )?;
        }
        for scenario in &self.unknown {
            writeln!(f, "{scenario:>12} nothing to take turns with: the other says nothing of it")?;
        }
        writeln!(f, "{:>12} {SHARED}", "Note")
    }
}

fn spread(Rounds { median, min, max }: &Rounds) -> String {
    format!("{} ({} to {})", mega(*median), mega(*min), mega(*max))
}

/// Millions with two digits behind the point, rounded.
fn mega(n: u64) -> String {
    let hundredths = (n + 5_000) / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Thousandths with two digits behind the point, rounded.
fn permille(n: u64) -> String {
    let hundredths = (n + 5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
