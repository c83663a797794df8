//! An open port, and what its two halves do, whatever carries the frames.

use super::{Caps, Frame, PortError, Stamp, Stats};
use rig_units::Dur;
use std::os::fd::BorrowedFd;

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
    /// Whether the kernel was asked to take what waits now, and had no room for it: it has not left. Without a copy the driver takes
    /// frames by itself, and nobody knows.
    pub refused: bool,
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

    /// What becomes readable, one or another, when a frame is there, to wait for several ports at once; none when the kernel knows
    /// nothing of this port, so that its reader has to look again and again.
    fn fds(&self) -> Vec<BorrowedFd<'_>>;

    /// What was lost and why, since the port was opened.
    ///
    /// # Errors
    /// The kernel does not say.
    fn stats(&self) -> Result<Stats, PortError>;
}
