//! The command line of `compare`.

use super::format::Format;
use clap::Args;
use rig_reports::compare::Lack;
use std::path::PathBuf;

/// Exit codes of `compare`.
pub(super) const CODES: &str = "\
Exit codes:
  0  nothing got worse: no new failure, nothing lost, nothing shifted under one seed
  1  something got worse:
     - a case fails that did not
     - the later run was cut short, or no case of it ran
     - a case or a measurement is no longer there
     - a case that passed is inconclusive, skipped or broken
     - a measurement shifted beyond its uncertainty, though both runs had one seed in virtual time
  2  the input is wrong: a file that is no results.json or names a case twice, a flag
  4  standard output cannot be written
  5  nothing was compared: no case is in both runs";

/// `compare`
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The earlier results.json, or the folder of its run.
    pub old: PathBuf,
    /// The later results.json, or the folder of its run.
    pub new: PathBuf,
    /// Only cases that are in both: the later run was asked for fewer on purpose, as with --only. Cases that it was asked
    /// for and did not come to stay missing.
    #[arg(long)]
    pub common: bool,
    /// What the later run may lack.
    #[command(flatten)]
    pub allow: AllowFlags,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// What the later of two runs may lack. A flag that is given twice says what it says once.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "What the later run may lack")]
pub struct AllowFlags {
    /// It may have been cut short; what it did not come to is no alarm.
    #[arg(long, overrides_with = "allow_partial")]
    pub allow_partial: bool,
    /// It may have no case that ran.
    #[arg(long, overrides_with = "allow_empty")]
    pub allow_empty: bool,
    /// Cases and measurements may be gone.
    #[arg(long, overrides_with = "allow_missing")]
    pub allow_missing: bool,
    /// Cases that passed may be inconclusive or skipped.
    #[arg(long, overrides_with = "allow_undecided")]
    pub allow_undecided: bool,
    /// Cases that passed may be broken.
    #[arg(long, overrides_with = "allow_broken")]
    pub allow_broken: bool,
}

impl AllowFlags {
    /// What is allowed.
    pub fn lacks(&self) -> Vec<Lack> {
        let allowed = |lack: &Lack| match lack {
            Lack::Partial => self.allow_partial,
            Lack::Empty => self.allow_empty,
            Lack::Missing => self.allow_missing,
            Lack::Undecided => self.allow_undecided,
            Lack::Broken => self.allow_broken,
        };
        Lack::ALL.into_iter().filter(allowed).collect()
    }
}
