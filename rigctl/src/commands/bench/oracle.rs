//! The simulation engine: frames put on a cable per CPU second with every feature on, and the memory it takes. Built with the
//! feature `ns3` it also runs the DCQCN of that packet simulator. A ratio is told of what ran by turns in the same minute, and of
//! nothing else: figures of another day and machine stand beside as what they are.

mod against;
mod alone;
mod program;
mod rows;
mod text;

use super::rounds::FORMAT;
use crate::cli::OracleArgs;
use against::Against;
use core::fmt;
use globset::Glob;
use program::Program;
use rows::{Figures, ROWS, Row};
use serde::Serialize;

/// Frames a CPU second below which the engine is too slow for the catalogue.
const FLOOR: u64 = 10_000_000;
/// What is aimed at.
const GOAL: u64 = 20_000_000;
/// Memory is looked at once more after so many times the simulated time: it is not to grow with that.
const LONGER: u64 = 4;

const NS3_SOURCE: &str = "ns-3 in its HPCC and Alibaba variants, 50 ms simulated, best of 3 and of 2 runs, recorded on 2026-11-21 on two \
shared cores of an Intel Xeon (Sapphire Rapids): of another day, so no ratio is made of it";

/// What was measured: this program by itself, or by turns with another.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Measured {
    Own(Oracle),
    Pairs(Against),
}

/// What this program does.
#[derive(Debug, Serialize)]
pub(super) struct Oracle {
    format: &'static str,
    bench: &'static str,
    rounds: u16,
    simulated_us: u64,
    floor_hops_per_s: u64,
    goal_hops_per_s: u64,
    ns3_source: &'static str,
    scenarios: Vec<Figures>,
}

/// Whether the flags go together.
pub(super) fn fits(args: &OracleArgs) -> Result<(), String> {
    let some = |time: rig_units::Dur| time > rig_units::Dur::ZERO;
    if !some(args.simulate) {
        return Err("`--simulate 0ms`: want a time in which something happens, as 50ms".to_owned());
    }
    selected(args.scenario.as_deref()).map(drop)
}

/// The scenarios that `glob` matches; without one all.
fn selected(glob: Option<&str>) -> Result<Vec<Row>, String> {
    let Some(text) = glob else { return Ok(ROWS.to_vec()) };
    let glob = Glob::new(text).map_err(|why| format!("`--scenario {text}`: {}", why.kind()))?;
    let glob = glob.compile_matcher();
    let found: Vec<Row> = ROWS.iter().filter(|row| glob.is_match(row.id())).copied().collect();
    if found.is_empty() {
        let all: Vec<String> = ROWS.iter().map(Row::id).collect();
        return Err(format!(
            "`--scenario {text}`: there is no such scenario\n   = want: one of {}, or a glob of them; those with the DCQCN of ns-3 \
             are in a build with `--features ns3`",
            all.join(", ")
        ));
    }
    Ok(found)
}

/// Measures.
pub(super) fn run(args: &OracleArgs) -> Result<Measured, String> {
    let rows = selected(args.scenario.as_deref())?;
    if let Some(other) = &args.against {
        return against::run(args, &rows, other).map(Measured::Pairs);
    }
    let scenarios: Result<Vec<Figures>, String> = if args.alone {
        Ok(rows.iter().map(|row| alone::figures(row, args)).collect())
    } else {
        rows.iter().map(|row| fresh(row, args)).collect()
    };
    Ok(Measured::Own(Oracle {
        format: FORMAT,
        bench: "oracle",
        rounds: args.rounds,
        simulated_us: args.simulate.0 / 1_000_000,
        floor_hops_per_s: FLOOR,
        goal_hops_per_s: GOAL,
        ns3_source: NS3_SOURCE,
        scenarios: scenarios?,
    }))
}

/// The same in a process of its own: nothing that ran before it holds memory there. How much it holds after a longer round is looked at
/// in another one.
fn fresh(row: &Row, args: &OracleArgs) -> Result<Figures, String> {
    let own = Program::own()?;
    let figures = own.figures(&row.id(), args.rounds, args.simulate)?;
    let long = own.figures(&row.id(), 1, args.simulate * LONGER)?;
    Ok(Figures { peak_kib_long: Some(long.peak_kib), ..figures })
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measured::Own(own) => own.fmt(f),
            Measured::Pairs(pairs) => pairs.fmt(f),
        }
    }
}
