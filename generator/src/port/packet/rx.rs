//! The receiving half of an AF_PACKET port: one call a frame, stamped by the process.

use super::Shared;
use crate::port::wait::{self, Checkup, Woken};
use crate::port::{Mono, PortError, Receive, Stamp, StampedBy, Stats};
use core::fmt;
use pnet_datalink::DataLinkReceiver;
use rig_units::Dur;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Frames that one poll takes at most.
const BATCH: usize = 64;

/// Receives the frames of one port.
pub(super) struct Receiver {
    pub(super) shared: Arc<Shared>,
    pub(super) receiver: Box<dyn DataLinkReceiver>,
    pub(super) checkup: Checkup,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Receiver {
    /// Whether the interface is still there and up: one that is not is silent.
    fn is_well(&self) -> Result<(), PortError> {
        // What the socket tells, it tells once, and it may be over: how the interface is now is what counts.
        let _ = self.shared.trouble();
        self.shared.card.is_well()
    }
}

impl Receive for Receiver {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        for frames in 0..BATCH {
            match self.receiver.next() {
                Ok(bytes) => take(bytes, Stamp { at: Mono::now(), by: StampedBy::Process }),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    if frames == 0 && self.checkup.is_due() {
                        self.is_well()?;
                    }
                    return Ok(frames);
                }
                Err(_) => return self.is_well().map(|()| frames),
            }
        }
        Ok(BATCH)
    }

    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        let woken = wait::readable([self.shared.socket.as_fd()], timeout);
        match woken.map_err(|errno| self.shared.card.error("wait for frames", errno))? {
            Woken::Readable => Ok(true),
            Woken::Failed | Woken::Nothing => self.is_well().map(|()| false),
        }
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.shared.socket.as_fd()]
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}
