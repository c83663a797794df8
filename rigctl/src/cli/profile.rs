//! The flags of `profile`.

use clap::{Args, Subcommand};
use rig_lab::RedisAt;
use std::path::PathBuf;

/// Printed below the help of `profile from-dut`.
const HELP: &str = "\
The profile goes to standard output. Each of its lines names the table and key that it is from; what no database says is the bundled
profile's, in comments that say so. docs/sonic.md tells what is read from where.

Examples:
  rigctl profile from-dut --config-db /etc/sonic/config_db.json > my-switch.yaml
  rigctl profile from-dut --redis unix:/var/run/redis/redis.sock > my-switch.yaml
  rigctl profile from-dut --config-db config_db.json --port Ethernet64 --base mellanox-by-standard --name leaf-7

Exit codes:
  0  printed
  2  the input is wrong: the file, the database, a flag
  4  standard output cannot be written";

/// What is done with profiles.
#[derive(Debug, Clone, Subcommand)]
pub enum ProfileCommand {
    /// Print the profile of a switch with SONiC, from its CONFIG_DB as a file or as its redis has it.
    #[command(after_help = HELP)]
    FromDut(FromDutArgs),
}

/// `profile from-dut`
#[derive(Debug, Clone, Args)]
pub struct FromDutArgs {
    /// CONFIG_DB, as SONiC saves it: config_db.json.
    #[arg(long, value_name = "FILE", required_unless_present = "redis")]
    pub config_db: Option<PathBuf>,
    /// The redis of the switch instead, which is read and not written: unix:PATH, tcp:HOST:PORT or ssh:USER@HOST.
    #[arg(long, value_name = "PLACE", conflicts_with = "config_db")]
    pub redis: Option<RedisAt>,
    /// The ports that are configured as this one; without it the largest set of ports that are configured alike.
    #[arg(long, value_name = "PORT")]
    pub port: Option<String>,
    /// The bundled profile of the ASIC, which says what no database does; without it by platform and hwsku.
    #[arg(long, value_name = "PROFILE")]
    pub base: Option<String>,
    /// Of a switch, or a file, with several chips: which of them (asic0, ...; in a file localhost, too).
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// What the profile is called.
    #[arg(long, value_name = "NAME", default_value = "from-dut")]
    pub name: String,
}
