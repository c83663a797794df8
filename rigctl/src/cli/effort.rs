//! `check`, and how much a run takes upon itself.

use super::Selection;
use clap::{Args, ValueEnum};
use rig_oracle::trials::effort;

/// `check`
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Which cases, on which devices.
    #[command(flatten)]
    pub selection: Selection,
    /// How much a run would take upon itself.
    #[arg(long, value_enum, default_value_t = EffortLevel::Standard)]
    pub effort: EffortLevel,
    /// Also print what each judgement would tell from what is predicted: each case is run in virtual time on the emulated device, with timestamps as far
    /// off as this lab's.
    #[arg(long)]
    pub resolution: bool,
}

/// How much a run takes upon itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EffortLevel {
    /// Few trials: what is off by much.
    Quick,
    /// As the catalogue is made for; in real time as much as fits into the lab's budget.
    Standard,
    /// As many as it takes to see the most; in real time what fits of that.
    Thorough,
}

impl EffortLevel {
    /// What is planned by it.
    pub const fn plans(self) -> effort::Level {
        match self {
            EffortLevel::Quick => effort::Level::Quick,
            EffortLevel::Standard => effort::Level::Standard,
            EffortLevel::Thorough => effort::Level::Thorough,
        }
    }
}
