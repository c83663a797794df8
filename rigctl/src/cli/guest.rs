//! The flags of `guest`.

use super::format::Format;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Printed below the help of `guest perftest`.
const HELP: &str = "\
Flags of perftest's own stand behind `--`; device, GID and port are the rig's to say.

Examples:
  sudo rigctl guest perftest ib_write_bw -- -n 40 -s 8192 -m 1024
  sudo rigctl guest perftest ib_send_bw --rule drop:21 --rule withhold:40:2 -- -n 40 -s 8192 -m 1024 -q 2
  sudo rigctl guest perftest ib_write_lat --rig client -- -n 40 -s 1500
  sudo rigctl guest perftest ib_read_bw --rig client -- -n 40 -s 8192 -q 2

Exit codes:
  0  perftest completed, and the counters of its NIC are what the frames come to
  1  it did not complete, or a counter is another number than the frames come to
  2  the input is wrong: a flag
  3  frames were lost at the rig's port, so that nothing can be said of counters
  4  something that a guest needs is missing, the guest was lost, or a file cannot be written";

/// `guest`
#[derive(Debug, Clone, Subcommand)]
pub enum GuestCommand {
    /// Make the kernel and the file system of a guest from Debian packages; what is there already and the same is kept.
    Build(GuestArgs),
    /// Boot a guest with Linux's RoCE NIC (rdma_rxe), and be the other end of an unmodified perftest in it.
    #[command(after_help = HELP)]
    Perftest(PerftestArgs),
}

/// `guest build`
#[derive(Debug, Clone, Args)]
pub struct GuestArgs {
    /// Where the image is kept; without it below the folder of RIGCTL_STATE, or the user's own (as `restore` has it).
    #[arg(long, value_name = "DIR")]
    pub image: Option<PathBuf>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// An end of perftest's exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PerftestEnd {
    /// The one that is asked; the client runs in the guest.
    Server,
    /// The one that asks; the server runs in the guest.
    Client,
}

/// `guest perftest`
#[derive(Debug, Clone, Args)]
pub struct PerftestArgs {
    /// Image and output.
    #[command(flatten)]
    pub guest: GuestArgs,
    /// The program of perftest that runs in the guest.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(rig_guests::PROGRAMS))]
    pub program: String,
    /// Which end of it the rig is.
    #[arg(long, value_enum, default_value_t = PerftestEnd::Server)]
    pub rig: PerftestEnd,
    /// What to do to a packet of each connection, counted from 0: drop:N, corrupt:N or withhold:N (its acknowledgement is lost),
    /// with :COPIES behind it for more than its first copy. May be given several times.
    #[arg(long, value_name = "RULE")]
    pub rule: Vec<rig_guests::peer::PacketRule>,
    /// Flows go over RoCEv2 of IPv6, by the guest's GID of it; the two programs find each other over IPv4.
    #[arg(long)]
    pub ipv6: bool,
    /// Where the capture (perftest.pcapng) and the guest's console go; what is there of an earlier one is overwritten.
    #[arg(long, value_name = "DIR", default_value = "rig-guest")]
    pub out: PathBuf,
    /// Flags of perftest's own.
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}
