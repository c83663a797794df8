//! The flags of `bench oracle`.

use super::format::Format;
use clap::Args;
use rig_units::Dur;
use std::path::PathBuf;

/// Printed below the help of `bench oracle`.
pub(super) const ORACLE_HELP: &str = "\
What `--against FILE` takes turns with is any program. It is called as

  FILE bench oracle --alone --scenario NAME --rounds N --simulate DURATION --format json

and prints, of that scenario or of all, a line

  NAME HOPS CPU_SECONDS

for each round: frames put on a cable, of whatever kind, and the processor's time that they took. Lines that begin with no scenario's
name are passed over; the lines of one scenario are summed up. An older rigctl that knows not all of these flags (it ends with 2) is
called as `FILE bench oracle --format json`, once a pair; what it prints is understood. The ratio is taken within each pair.

Examples:
  rigctl bench oracle --scenario 'incast*'
  rigctl bench oracle --against ./rigctl-of-last-month --pairs 9
  rigctl bench oracle --scenario incast16-dcqcn --against ./run-ns3.sh

Exit codes:
  0  measured, whatever came out
  2  the input is wrong: a flag
  4  the other program cannot be started, fails, or says nothing of a scenario; or standard output cannot be written";

/// `bench oracle`
#[derive(Debug, Clone, Args)]
pub struct OracleArgs {
    /// Only scenarios whose name this glob matches, such as `incast16` or `*-nic*`.
    #[arg(long, value_name = "GLOB")]
    pub scenario: Option<String>,
    /// Take turns with this program, in pairs.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Pairs of this program and the other.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub pairs: u16,
    /// Rounds of each scenario, of which the median counts; with `--against` of each half of a pair.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub rounds: u16,
    /// How long each round simulates.
    #[arg(long, value_name = "DURATION", default_value = "50ms")]
    pub simulate: Dur,
    /// Measure in this process, not each scenario in a fresh one: it has the memory of those before it, too.
    #[arg(long, conflicts_with = "against")]
    pub alone: bool,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}
