//! The sockets of a port, one for each of its queues, asked as one.

use super::socket::Socket;
use crate::port::{Stats, wait};
use nix::errno::Errno;
use rig_units::Dur;
use std::os::fd::BorrowedFd;

/// The sockets of a port in the order of their queues; there is one at least. Nothing else waits for them all the time (epoll would): the
/// kernel wakes who waits for a socket at each frame that has left it, too, and that took 130 ns a frame.
#[derive(Debug)]
pub(super) struct Sockets(pub(super) Vec<Socket>);

impl Sockets {
    /// That of the queue at `place`.
    pub(super) fn at(&self, place: usize) -> &Socket {
        &self.0[place]
    }

    /// What becomes readable, one or another, when a frame is there.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.0.iter().map(Socket::fd).collect()
    }

    /// Has the kernel look at every fill ring, and asks it how the interface is.
    pub(super) fn nudge(&self) -> Result<(), Errno> {
        self.0.iter().try_for_each(Socket::nudge)
    }

    /// Sleeps until a frame is there or time is over; whether one is there.
    pub(super) fn wait(&self, timeout: Dur) -> Result<bool, Errno> {
        let mut left = timeout;
        loop {
            let nap = left.min(wait::SILENCE);
            if wait::readable(self.fds(), nap)? == wait::Woken::Readable {
                return Ok(true);
            }
            self.nudge()?;
            left = left.saturating_sub(nap);
            if left == Dur::ZERO {
                return Ok(false);
            }
        }
    }

    /// The kernel's counts since the sockets were made.
    pub(super) fn stats(&self) -> Result<Stats, Errno> {
        self.0.iter().try_fold(Stats::default(), |sum, socket| Ok(sum + socket.stats()?))
    }
}
