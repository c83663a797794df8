//! The receiving half of an AF_XDP port.

use super::Shared;
use super::mapping::{Region, RingMemory};
use super::program::{STAMP, unseal};
use super::ring::{Consumer, Desc, Producer};
use super::socket::CHUNK;
use crate::port::pool::Pool;
use crate::port::wait::Checkup;
use crate::port::{Mono, PortError, Receive, Stamp, StampedBy, Stats};
use core::sync::atomic::Ordering::Relaxed;
use rig_units::Dur;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Pieces of frames that one poll takes of a queue at most: few enough that their buffers are back with the kernel soon.
const BATCH: usize = 64;

/// Receives the frames of one port.
#[derive(Debug)]
pub(crate) struct Receiver {
    shared: Arc<Shared>,
    queues: Vec<Queue>,
    checkup: Checkup,
}

/// One of its queues.
#[derive(Debug)]
pub(super) struct Queue {
    buffers: Buffers,
    ring: Consumer<RingMemory, Desc>,
    /// A frame in several pieces, as far as it has come, and its stamp.
    begun: Vec<u8>,
    stamp: Option<Stamp>,
}

/// The chunks that received frames are written to, and the ring by which the kernel gets them.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: Region,
    chunks: Pool,
    fill: Producer<RingMemory, u64>,
}

impl Buffers {
    /// Lends the kernel `count` chunks of `memory`.
    pub(super) fn lend(memory: Region, fill: Producer<RingMemory, u64>, count: u32) -> Buffers {
        let mut buffers = Buffers { memory, chunks: Pool::new(count), fill };
        buffers.refill();
        buffers
    }

    /// Lends the kernel every chunk that nobody holds, as far as it takes them.
    fn refill(&mut self) {
        while self.fill.has_room()
            && let Some(chunk) = self.chunks.take()
        {
            let offset = self.chunks.lend(chunk, 1) * CHUNK;
            let lent = self.fill.stage(self.memory.address(offset));
            debug_assert!(lent, "there was room");
        }
        self.fill.publish();
    }

    /// Takes back the chunk that `address` lies in; where that is, when it was lent.
    fn returned(&mut self, address: u64) -> Option<usize> {
        let at = self.memory.offset(address)?;
        self.chunks.returned((at / CHUNK) as u64).then_some(at)
    }

    /// The clock in front of the frame at `at`.
    fn clock(&mut self, at: usize) -> Option<Mono> {
        let room = usize::from(STAMP);
        unseal(self.memory.bytes(at.checked_sub(room)?, room))
    }
}

impl Queue {
    /// The queue that is received by into `buffers`.
    pub(super) fn new(buffers: Buffers, ring: Consumer<RingMemory, Desc>) -> Queue {
        Queue { buffers, ring, begun: Vec::new(), stamp: None }
    }

    /// Hands over what has come, no more than a batch: how many frames, and whether buffers were lent for it.
    fn poll(&mut self, shared: &Shared, take: &mut dyn FnMut(&[u8], Stamp)) -> (usize, bool) {
        let mut frames = 0;
        for _ in 0..BATCH {
            let Some(desc) = self.ring.take() else { break };
            frames += self.piece(shared, desc, take);
        }
        self.ring.release();
        let refilled = self.buffers.chunks.has_free();
        if refilled {
            self.buffers.refill();
        }
        (frames, refilled)
    }

    /// Takes one piece, and hands its frame over when it is the last; how many frames that were.
    fn piece(&mut self, shared: &Shared, desc: Desc, take: &mut dyn FnMut(&[u8], Stamp)) -> usize {
        let Some(at) = self.buffers.returned(desc.addr) else {
            shared.strays.fetch_add(1, Relaxed);
            return 0;
        };
        let first = self.stamp.is_none();
        let stamp = self.stamp.unwrap_or_else(|| self.stamp(shared, at));
        let bytes = self.buffers.memory.bytes(at, desc.len as usize);
        let more = desc.options & libc::XDP_PKT_CONTD != 0;
        if first && !more {
            take(bytes, stamp);
            return 1;
        }
        self.begun.extend_from_slice(bytes);
        self.stamp = Some(stamp);
        if more {
            return 0;
        }
        take(&self.begun, stamp);
        self.begun.clear();
        self.stamp = None;
        1
    }

    /// When the frame at `at` came.
    fn stamp(&mut self, shared: &Shared, at: usize) -> Stamp {
        if let Some(at) = self.buffers.clock(at) {
            return Stamp { at, by: StampedBy::XdpProgram };
        }
        shared.rx_unstamped.fetch_add(1, Relaxed);
        Stamp { at: Mono::now(), by: StampedBy::Process }
    }
}

impl Receiver {
    /// The half that receives by `queues`.
    pub(super) fn new(shared: Arc<Shared>, queues: Vec<Queue>) -> Receiver {
        Receiver { shared, queues, checkup: Checkup::new() }
    }
}

impl Receive for Receiver {
    fn poll(&mut self, take: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let error = |errno| self.shared.card.error("receive", errno);
        let mut frames = 0;
        for (place, queue) in self.queues.iter_mut().enumerate() {
            let (got, refilled) = queue.poll(&self.shared, take);
            frames += got;
            if refilled && queue.buffers.fill.shared.wants_a_call() {
                self.shared.sockets.at(place).nudge().map_err(error)?;
            }
        }
        if frames == 0 && self.checkup.is_due() {
            self.shared.sockets.nudge().map_err(error)?;
        }
        Ok(frames)
    }

    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        let woken = self.shared.sockets.wait(timeout);
        woken.map_err(|errno| self.shared.card.error("wait for frames", errno))
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.shared.sockets.fds()
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}

#[cfg(test)]
mod tests;
