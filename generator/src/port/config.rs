//! Which port to open, and how.

use super::{Backend, Dpdk};
use rig_units::{Dur, PortSpeed};

/// Which port to open, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The interface, by its name in the network namespace of the thread that opens the port; with DPDK the port, by
    /// DPDK's name for it.
    pub interface: String,
    /// What carries the frames.
    pub backend: Backend,
    /// Where an XDP program goes.
    pub attach: Attach,
    /// Whether to ask the driver for zero copy before copying; only AF_XDP has it.
    pub zero_copy: bool,
    /// The one queue to send and receive by: frames that the interface steers to another are not seen by this port. `None`: every
    /// queue that the interface spreads frames over, each flow sent by one of them. Only AF_XDP is told queues apart.
    pub queue: Option<u32>,
    /// The longest frame to send, from the destination MAC on, without the check sequence.
    pub longest: usize,
    /// Frames that can be under way at once, at least.
    pub slots: u32,
    /// Pieces of 4 KiB in which received frames wait until the reader comes; a power of two. A reader that is off its
    /// processor for a while loses what does not fit. Several queues share them evenly.
    pub ring: u32,
    /// How long the link may take to come up: many NICs drop it while a program is attached.
    pub settle: Dur,
    /// The rate that the NIC is to hold the port to, where it can; only DPDK has a way to ask it.
    pub limit: Option<PortSpeed>,
    /// What DPDK is started with; nobody else reads it.
    pub dpdk: Dpdk,
}

/// Where an XDP program goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attach {
    /// Into the driver where it can, else into the kernel's generic path.
    Best,
    /// Into the driver or nowhere.
    Native,
    /// Into the generic path.
    Generic,
}

impl Config {
    /// AF_XDP on every queue, the best way the driver knows, for frames of up to 1514 bytes.
    pub fn new(interface: &str) -> Config {
        Config {
            interface: interface.to_owned(),
            backend: Backend::AfXdp,
            attach: Attach::Best,
            zero_copy: true,
            queue: None,
            longest: 1514,
            slots: 1024,
            ring: 16_384,
            settle: Dur::s(5),
            limit: None,
            dpdk: Dpdk::default(),
        }
    }
}
