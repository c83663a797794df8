//! The flags of `lint`.

use super::format::Format;
use clap::Args;
use rig_units::{Bytes, Length};
use std::path::PathBuf;

/// Printed below the help of `lint`.
pub(super) const HELP: &str = "\
Examples:
  rigctl lint my-switch.yaml --cable 100m --memory 32MiB
  rigctl lint my-lab.yaml --allow xon-flaps --format json
  rigctl lint broadcom
  rigctl lint config_db.json --memory 32MiB

Exit codes:
  0  nothing found; --list: printed
  1  something found
  2  the input is wrong: a file, a flag
  4  standard output cannot be written";

/// `lint`
#[derive(Debug, Clone, Args)]
pub struct LintArgs {
    /// A profile or a lab: a file, or a bundled profile by its name; without it the bundled lab. A file that ends in .json is CONFIG_DB
    /// of a switch with SONiC: its ports are looked at by sets that are configured alike.
    pub file: Option<PathBuf>,
    /// The longest cable of a switch; a lab says its own, and CONFIG_DB where it has CABLE_LENGTH.
    #[arg(long, value_name = "LENGTH", default_value = "40m")]
    pub cable: Length,
    /// The packet memory of a switch, which no profile declares; without it nothing is said of it.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Of CONFIG_DB: the bundled profile of the ASIC, which says what no database does; without it by platform and hwsku.
    #[arg(long, value_name = "PROFILE")]
    pub base: Option<String>,
    /// Of CONFIG_DB with several chips in one file: which of them (localhost, asic0, ...).
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Do not ask this rule. May be given several times.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Print every rule, what it says and who says so; look at nothing.
    #[arg(long)]
    pub list: bool,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}
