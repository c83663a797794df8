//! What was found, as plain data. Nothing here is judged.

use core::net::IpAddr;
use rig_guests::Greeted;
use rig_units::Dur;

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What the kernel says of itself.
    pub machine: Machine,
    /// What an AF_XDP port on a pair of virtual interfaces can do that was made for the purpose; or what is in the way.
    pub pair: Result<PortFacts, String>,
    /// The interfaces of the lab.
    pub interfaces: Vec<Interface>,
    /// Interfaces that are cabled to each other, where two were named.
    pub cable: Option<Cable>,
    /// The servers whose NICs the lab is about.
    pub servers: Vec<ServerFacts>,
}

/// A server, asked over the line by which cases run there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Where it is.
    pub at: String,
    /// The RDMA device there, as its kernel calls it: `mlx5_0`.
    pub nic: String,
    /// What it answered; or why it did not.
    pub asked: Result<ServerAnswers, String>,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAnswers {
    /// The index of the GID that flows go by, and the address that it is.
    pub gid: (u32, IpAddr),
    /// The address that the lab says the NIC has; none where it says the rig's.
    pub meant: Option<IpAddr>,
    /// Programs of perftest that are not there.
    pub lacks: Vec<String>,
    /// What one of them says to its client; or what was in the way. Nobody asks between two servers, where the rig has no address.
    pub perftest: Option<Result<Greeted, String>>,
}

/// What the kernel says of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Release of the kernel, such as `6.1.0-13-amd64`.
    pub kernel: String,
    /// The process's effective capabilities, bit by number.
    pub capabilities: u64,
    /// Whether the kernel's types can be read.
    pub btf: bool,
    /// Memory that the process may lock, in bytes; `None`: as much as there is.
    pub memlock: Option<u64>,
    /// Processors that the process may use.
    pub cpus: usize,
    /// Processors that the scheduler leaves alone, as the kernel lists them; empty: none.
    pub isolated: String,
    /// How the clock of the first processor is governed; `None` where nothing governs it.
    pub governor: Option<String>,
    /// What the kernel reads its clock from.
    pub clocksource: String,
    /// Whether the processors' own counters run at one rate, asleep or not.
    pub steady_tsc: bool,
    /// Of each second, how many microseconds threads of real-time priority may take; `None`: all.
    pub rt_runtime: Option<u64>,
    /// Whether each session of processes gets a share of its own.
    pub autogroup: bool,
    /// Why the process may not have real-time priority; `None` when it may.
    pub no_real_time: Option<String>,
    /// By how much sleeps end late.
    pub floor: Floor,
    /// Large pages that were set aside.
    pub hugepages: Hugepages,
    /// Whether a shim of DPDK can be opened.
    pub dpdk: Dpdk,
    /// Where tshark is.
    pub tshark: Option<String>,
    /// What guests need and is not there, each with the package that has it.
    pub guest_lacks: Vec<(&'static str, &'static str)>,
}

/// By how much sleeps ended late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// How many were taken.
    pub sleeps: usize,
    /// The middle.
    pub p50: Dur,
    /// All but one in a hundred.
    pub p99: Dur,
    /// The worst.
    pub max: Dur,
}

/// Large pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hugepages {
    /// Pages of this size.
    pub total: u64,
    /// How many of them nobody uses.
    pub free: u64,
    /// KiB in each.
    pub kib: u64,
}

/// DPDK, and what the rig needs to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dpdk {
    /// Its version; `None` where it is not installed.
    pub version: Option<String>,
    /// Where the rig's shim to it is.
    pub shim: Option<String>,
}

/// What a port turned out to be able to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortFacts {
    /// `AF_XDP in the driver`, `AF_XDP in the generic path` or `AF_PACKET`.
    pub mode: &'static str,
    /// Whether the program sits in the driver.
    pub native: bool,
    /// Whether frames go without a copy.
    pub zero_copy: bool,
    /// Whether frames may be longer than a piece of memory.
    pub multi_buffer: bool,
    /// What was asked for and refused.
    pub refused: Vec<String>,
}

/// An interface of the lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// As the kernel calls it.
    pub name: String,
    /// Its state; or why there is none.
    pub link: Result<LinkFacts, String>,
    /// What a port on it can do; or what is in the way.
    pub port: Result<PortFacts, String>,
}

/// The state of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFacts {
    /// Its driver, where it says.
    pub driver: Option<String>,
    /// Whether it is set up.
    pub up: bool,
    /// Whether its link is up.
    pub carrier: bool,
    /// The longest frame, from behind the Ethernet header on.
    pub mtu: usize,
    /// Whether it is one end of a pair of virtual interfaces.
    pub pair: bool,
    /// Its speed in Mb/s, where it has one.
    pub speed: Option<u32>,
    /// Over how many queues it spreads what it receives, where it says.
    pub queues: Option<u32>,
    /// Whether it timestamps frames in hardware, received and sent, where it says.
    pub timestamps: Option<(bool, bool)>,
    /// How far off a reading of its own clock is, or why it is not read; none where it has none.
    pub clock: Option<Result<Dur, String>>,
    /// Whether its driver counts pauses by priority.
    pub counts_pauses: bool,
}

/// Two interfaces that are said to be cabled to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cable {
    /// Their names.
    pub ends: [String; 2],
    /// What came through from the first to the second and back; or what was in the way.
    pub ways: Result<[Way; 2], String>,
}

/// What came through in one direction, in words: `passes`, `swallowed`, `no cable`, `3 of 100 arrive`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Ordinary frames.
    pub ordinary: String,
    /// PFC frames.
    pub pfc: String,
    /// PAUSE frames of 802.3x.
    pub pause: String,
    /// PFC frames that the sender's and the receiver's drivers counted meanwhile, where both count them.
    pub counted: Option<(u64, u64)>,
}
