//! The flags of `size`.

use super::format::Format;
use clap::Args;
use rig_units::{Bytes, Dur, Length, PortSpeed, Quanta};
use std::path::PathBuf;

/// Printed below the help of `size`.
pub(super) const HELP: &str = "\
What no flag says is as the profile declares it; without a profile 32 ports of 100Gbps with two lossless classes, cells of 208B and 32MiB.
docs/sizing.md works an example and holds it against published figures.

Examples:
  rigctl size --speed 400Gbps --cable 300m --memory 64MiB
  rigctl size --profile mellanox --cable 40m
  rigctl size --profile my-switch.yaml --over-subscription 2 --format json

Exit codes:
  0  printed
  2  the input is wrong: a profile, a flag
  4  standard output cannot be written";

/// `size`
#[derive(Debug, Clone, Args)]
pub struct SizeArgs {
    /// Take what a profile declares, and print that beside what comes out: a bundled one by name, or a file.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<PathBuf>,
    /// Speed of every port.
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<PortSpeed>,
    /// Length of the cables to the next device.
    #[arg(long, value_name = "LENGTH", default_value = "40m")]
    pub cable: Length,
    /// The largest frame, FCS counted.
    #[arg(long, value_name = "SIZE")]
    pub mtu: Option<Bytes>,
    /// The largest frame of a lossless class, FCS counted; without it the MTU.
    #[arg(long, value_name = "SIZE")]
    pub lossless_mtu: Option<Bytes>,
    /// Ports of the switch.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=512))]
    pub ports: Option<u16>,
    /// Lossless classes of each port.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub classes: Option<u8>,
    /// Ports that send to one port at the same time; without it 8, or all others of a smaller switch.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=511))]
    pub fan_in: Option<u16>,
    /// Of how many groups whose headroom is full at once there is room for one: 1 gives each its own.
    #[arg(long, value_name = "RATIO", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub over_subscription: u64,
    /// The whole packet memory; without it what the profile's pool, reserves and headroom take together.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Unit in which the buffer is given out.
    #[arg(long, value_name = "SIZE")]
    pub cell: Option<Bytes>,
    /// What is stored with each frame.
    #[arg(long, value_name = "SIZE")]
    pub descriptor: Option<Bytes>,
    /// What each lossless group has before it touches the pool.
    #[arg(long, value_name = "SIZE")]
    pub reserved: Option<Bytes>,
    /// The longest that the peer takes to stop, such as 394q; without it what IEEE 802.3 31B.3.7 allows at the speed, or what the profile
    /// declares.
    #[arg(long, value_name = "QUANTA")]
    pub response: Option<Quanta>,
    /// Time from the frame that crosses a limit to the XOFF at the MAC.
    #[arg(long, value_name = "TIME")]
    pub emission: Option<Dur>,
    /// Share of 64B packets for SONiC's rule, which the last figures are of.
    #[arg(long, value_name = "PERCENT", default_value = "50%", value_parser = percent)]
    pub small_packets: u8,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `50%`
fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse().ok());
    number
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| "want a whole number of per cent, such as 50%".to_owned())
}
