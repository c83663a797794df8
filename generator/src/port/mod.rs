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
mod dpdk;
mod error;
mod ethtool;
mod interface;
mod link;
pub mod memory;
mod packet;
mod pin;
mod pool;
mod realtime;
mod sockopt;
mod ticks;
mod wait;

pub use caps::{Attached, Backend, Caps, Feature, Refusal, Stats};
pub use clock::{Mono, Stamp, StampedBy};
pub use dpdk::{Dpdk, DpdkFault};
pub use error::{Fault, PortError};
pub use ethtool::{Ethtool, Timestamping};
pub use link::Link;
pub use pin::{Pinned, cpus};
pub use pool::Frame;
pub use realtime::RealTime;
pub use ticks::{Counter, Machine};
#[cfg(test)]
pub(crate) use wait::at_most;
pub(crate) use wait::pause;
pub use wait::wait_any;

use rig_units::{Dur, PortSpeed};
use std::os::fd::BorrowedFd;

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
    /// The queue to send and receive by. Frames that the interface steers to another are not seen by this port.
    pub queue: u32,
    /// The longest frame to send, from the destination MAC on, without the check sequence.
    pub longest: usize,
    /// Frames that can be under way at once, at least.
    pub slots: u32,
    /// Pieces of 4 KiB in which received frames wait until the reader comes; a power of two. A reader that is off its
    /// processor for a while loses what does not fit.
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
    /// AF_XDP on queue 0, the best way the driver knows, for frames of up to 1514 bytes.
    pub fn new(interface: &str) -> Config {
        Config {
            interface: interface.to_owned(),
            backend: Backend::AfXdp,
            attach: Attach::Best,
            zero_copy: true,
            queue: 0,
            longest: 1514,
            slots: 1024,
            ring: 16_384,
            settle: Dur::s(5),
            limit: None,
            dpdk: Dpdk::default(),
        }
    }
}

/// An open port. Dropping both halves closes it and takes its XDP program off the interface; so does the end of the
/// process, however it ends.
#[derive(Debug)]
pub struct Port {
    /// Sends.
    pub tx: Box<dyn Transmit>,
    /// Receives.
    pub rx: Box<dyn Receive>,
    /// What this port turned out to be able to do.
    pub caps: Caps,
}

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

/// The sending half of a port.
///
/// A frame is written into a slot ([`alloc`](Self::alloc), [`bytes`](Self::bytes)), put into the ring
/// ([`stage`](Self::stage)), shown to the kernel with all others staged before it ([`publish`](Self::publish)) and
/// sent off ([`kick`](Self::kick)). Staging is done ahead of time; publishing and kicking take the time they take.
pub trait Transmit: core::fmt::Debug + Send {
    /// A slot that is the caller's alone, or `None` while all are held or under way.
    fn alloc(&mut self) -> Option<Frame>;

    /// The slot's bytes, as many as the longest frame has. They are what they were when the slot was last sent.
    ///
    /// # Panics
    /// When the frame belongs to another port.
    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8];

    /// Gives a slot back unsent.
    ///
    /// # Panics
    /// When the frame belongs to another port.
    fn release(&mut self, frame: Frame);

    /// Puts the slot's first `len` bytes into the ring. Nobody sees them before they are published.
    ///
    /// # Panics
    /// When the frame belongs to another port, or `len` is below 14 or above the longest frame of the port's
    /// configuration.
    fn stage(&mut self, frame: Frame, len: usize);

    /// Shows the kernel every frame that was staged. With zero copy they may leave from here on.
    fn publish(&mut self);

    /// Sends what was published. Does not block: what the driver has no room for is counted in the answer and is sent
    /// by a later kick.
    ///
    /// # Errors
    /// The interface is down or gone.
    fn kick(&mut self) -> Result<Kick, PortError>;

    /// Takes back the slots of frames that have left; how many. [`alloc`](Self::alloc) does so when it runs out.
    fn reclaim(&mut self) -> usize;

    /// What was lost and why, since the port was opened.
    ///
    /// # Errors
    /// The kernel does not say.
    fn stats(&self) -> Result<Stats, PortError>;
}

/// What a kick did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kick {
    /// Frames that the kernel took and threw away: longer than the MTU, or the link is down.
    pub lost: u64,
    /// Pieces of published frames that wait in the ring for the next kick or, with zero copy, for the driver.
    pub waiting: u32,
}

/// The receiving half of a port.
pub trait Receive: core::fmt::Debug + Send {
    /// Hands over the frames that have arrived, whole and in order, but no more than a batch; how many. Zero: there
    /// are none now.
    ///
    /// # Errors
    /// The interface is down or gone; told at the latest by the first poll after a tenth of a second of silence.
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError>;

    /// Sleeps until a frame is there or `timeout` is over; whether one is there.
    ///
    /// # Errors
    /// The interface is down or gone.
    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError>;

    /// What becomes readable when a frame is there, to wait for several ports at once; `None` when the kernel knows
    /// nothing of this port, so that its reader has to look again and again.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// What was lost and why, since the port was opened.
    ///
    /// # Errors
    /// The kernel does not say.
    fn stats(&self) -> Result<Stats, PortError>;
}
