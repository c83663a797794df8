//! Ports: frames out of and into a network interface, whatever carries them there.
//!
//! A [`Port`] comes apart into a transmit half and a receive half that may live on different threads. Both are small
//! traits, so that a back end is chosen when the port is opened and nothing above knows which it was. A frame here is
//! its bytes from the destination MAC on, without the check sequence.
//!
//! The ports and the executor above them are the only part of the rig that reads a clock ([`Mono`]).

mod afxdp;
mod caps;
mod clock;
mod config;
mod dpdk;
mod error;
mod ethtool;
mod halves;
mod interface;
mod link;
pub mod memory;
mod packet;
mod pin;
mod pool;
mod ptp;
mod realtime;
mod sockopt;
mod ticks;
mod wait;

pub use caps::{Attached, Backend, Caps, Feature, Refusal, Stats};
pub use clock::{Mono, Stamp, StampedBy};
pub use config::{Attach, Config};
pub use dpdk::{Dpdk, DpdkFault};
pub use error::{Fault, PortError};
pub use ethtool::{Ethtool, Timestamping};
pub use halves::{Kick, Port, Receive, Transmit};
pub use link::Link;
pub use pin::{Pinned, cpus};
pub use pool::Frame;
pub use ptp::clock_read_within;
pub use realtime::RealTime;
pub use ticks::{Counter, Machine};
#[cfg(test)]
pub(crate) use wait::at_most;
pub(crate) use wait::pause;
pub use wait::wait_any;

impl Port {
    /// Opens the port that `config` names, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// What is in the way, and what mends it.
    pub fn open(config: &Config) -> Result<Port, PortError> {
        match config.backend {
            Backend::AfXdp => afxdp::open(config),
            Backend::AfPacket => packet::open(config),
            Backend::Dpdk => dpdk::open(config),
        }
    }
}
