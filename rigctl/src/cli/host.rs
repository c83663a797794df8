//! Flags of `dut nic` and `dut set`.

use super::Format;
use clap::Args;
use std::path::PathBuf;

/// Printed below the help of `dut nic`.
pub(super) const HELP: &str = "\
The terms are NVIDIA's, as those of the emulated NIC: of other drivers the counter that counts the same, with its own name beside it. A counter
that a driver does not have is named with the reason, and is never 0. Nothing is changed. What is asked is files of /sys, `ethtool`, `dcb` and `rdma`.

Examples:
  rigctl dut nic
  rigctl dut nic --ssh root@server7 --device mlx5_0
  rigctl dut nic --ssh server7 --raw > server7.txt
  rigctl dut nic --sysroot server7.txt

Exit codes:
  0  printed
  2  the input is wrong: the tree or file, a flag
  4  the host cannot be asked, or has no RDMA device; or standard output cannot be written";

/// `dut nic`
#[derive(Debug, Clone, Args)]
pub struct NicArgs {
    /// Another machine, as `ssh` knows it: without --ssh and --sysroot this one is asked.
    #[arg(long, value_name = "HOST")]
    pub ssh: Option<String>,
    /// What a host has said instead: a file that --raw has printed, or a folder with sys/class/infiniband in it.
    #[arg(long, value_name = "PLACE", conflicts_with = "ssh")]
    pub sysroot: Option<PathBuf>,
    /// Only this RDMA device, such as mlx5_0.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Print what the host says as it says it, for --sysroot elsewhere and for whoever is to help.
    #[arg(long, conflicts_with_all = ["sysroot", "device", "format"])]
    pub raw: bool,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// Printed below the help of `dut set`.
pub(super) const SET_HELP: &str = "\
Settings: pfc (classes, such as 3,4, or none; by `dcb`), trust (dscp or pcp), traffic_class (0 to 255: the DSCP times four, and the ECN field), and
those of DCQCN by NVIDIA's names: min_time_between_cnps, cnp_dscp, cnp_802p_prio, clamp_tgt_rate, rpg_ai_rate, rpg_time_reset, rpg_gd and so on, each
in the unit of the driver. `rigctl dut nic` prints those that a device has.

All that is asked for is set, or nothing. Each is read before, written down, set and read back; what reads back otherwise, as a rate that the
driver rounds, is put back and told. What was set stays set until `rigctl restore` puts it back, which leaves alone what another hand has changed since.
Where lldpad or the firmware has DCBX, pfc and trust are not touched. A host that another rig is setting just now is left alone, and who that is is told;
so is a value that could not be put back.

Examples:
  rigctl dut set --device mlx5_0 pfc=3 trust=dscp
  rigctl dut set --ssh root@server7 --device mlx5_0 min_time_between_cnps=50
  rigctl restore

Exit codes:
  0  set
  2  the input is wrong: a flag, a setting
  4  it was not set";

/// `dut set`
#[derive(Debug, Clone, Args)]
pub struct SetArgs {
    /// Another machine, as `ssh` knows it, with the rights to set: without it this one.
    #[arg(long, value_name = "HOST")]
    pub ssh: Option<String>,
    /// The RDMA device, such as mlx5_0.
    #[arg(long, value_name = "NAME")]
    pub device: String,
    /// Its port; without it the device has but one.
    #[arg(long, value_name = "N")]
    pub port: Option<u32>,
    /// What is to be set.
    #[arg(value_name = "NAME=VALUE", required = true)]
    pub settings: Vec<String>,
}
