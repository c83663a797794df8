//! Flags of `dut`.

use super::host::{HELP, NicArgs, SET_HELP, SetArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `dut`
#[derive(Debug, Clone, Subcommand)]
pub enum DutCommand {
    /// Serve an emulated device on network interfaces, in real time, until it is asked to end.
    Serve(ServeArgs),
    /// Print what a command of SONiC's prints at a switch, from the databases of one that is served `--as sonic`.
    Say(SayArgs),
    /// Print what a server's RDMA NICs are, have counted and are set to: of this machine, over ssh, or as one has said before.
    #[command(after_help = HELP)]
    Nic(NicArgs),
    /// Set PFC, DCQCN and what RoCE is marked with on a server's NIC; `rigctl restore` puts it back.
    #[command(after_help = SET_HELP)]
    Set(SetArgs),
}

/// `dut say`
#[derive(Debug, Clone, Args)]
pub struct SayArgs {
    /// Where its redis listens.
    #[arg(long, value_name = "unix:PATH")]
    pub redis: rig_lab::RedisAt,
    /// Something that no healthy switch does: no-yang.
    #[arg(long, value_name = "NAME")]
    pub fault: Vec<rig_dut::standin::FaultSwitch>,
    /// The command: sonic-db-cli DB COMMAND ..., pfcwd show config, pfcwd show stats [-e], show pfcwd config, config apply-patch FILE.
    #[arg(
        value_name = "WORD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}

/// `dut serve`
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// The profile of the device.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A bundled device, by name, instead of a profile; with `--lab` a device of that lab.
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    pub dut: Option<String>,
    /// A lab that has the device: a system of switches is named in one.
    #[arg(long, value_name = "FILE", requires = "dut")]
    pub lab: Option<PathBuf>,
    /// An interface for each of its ports: the first one is port 0.
    #[arg(long, value_name = "IF", required = true, num_args = 1..)]
    pub port: Vec<String>,
    /// Where it is steered: the path of a socket, @NAME for one without a file, or - for standard input and output.
    #[arg(long, value_name = "SOCKET", required_unless_present = "system")]
    pub control: Option<String>,
    /// Be a switch that runs this: it is configured, counted and heard by the databases in its redis, too.
    #[arg(long = "as", value_enum, value_name = "SYSTEM", requires = "redis")]
    pub system: Option<ServedAs>,
    /// Where its redis listens: a redis-server is started there and ends with the device, or one that is there already and is
    /// empty is filled.
    #[arg(long, value_name = "unix:PATH", requires = "system")]
    pub redis: Option<rig_lab::RedisAt>,
    /// Something that no healthy switch does: deaf-asic, late-counters=TIME, clock=TIME, late-events=TIME, events-twice, no-events, no-stamps, lost-clears, late-watermarks=TIME, still-ports, still-queues, still-pg-drops, no-cables, no-peers, lost-bindings, no-limits, clamps.
    #[arg(long, value_name = "NAME", requires = "system")]
    pub fault: Vec<rig_dut::standin::FaultSwitch>,
    /// A switch with several chips: the redis is that of its host, each chip has one in a folder beside that (`../redis0`), and the device
    /// is the last of them.
    #[arg(long, value_name = "N", requires = "system", value_parser = clap::value_parser!(u8).range(2..=8))]
    pub chips: Option<u8>,
    /// Run every port at this rate instead of the declared one: slow ports make long pauses, which survive a machine that
    /// looks away.
    #[arg(long, value_name = "RATE")]
    pub speed: Option<rig_units::PortSpeed>,
    /// Make the device depart from what it declares: PATH=VALUE (`223ms`, `x1.1`, `+10ms`) or
    /// deviation=NAME, with `:VALUE` behind it where it takes one.
    #[arg(long, value_name = "PATH=VALUE")]
    pub mutate: Vec<String>,
    /// Everything random in it follows from this number, until it is booted with another.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The process that started this one: the device ends with it, however that ends.
    #[arg(long, value_name = "PID", hide = true)]
    pub parent: Option<i32>,
    /// Who comes to the socket takes over from who is there, whose line is cut. Without it a second client is turned away, and
    /// told who has the device; in any case only its own user and root are let in.
    #[arg(long, conflicts_with = "until_hangup")]
    pub force: bool,
    /// End when whoever booted it hangs up. With `--control -` that is always so.
    #[arg(long)]
    pub until_hangup: bool,
}

/// What a served device may be beside what its profile declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServedAs {
    /// A switch with SONiC: redis with CONFIG_DB, APPL_DB, ASIC_DB, COUNTERS_DB and FLEX_COUNTER_DB.
    Sonic,
}
