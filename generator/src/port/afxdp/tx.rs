//! The sending half of an AF_XDP port.

use super::mapping::{Region, RingMemory};
use super::ring::{Consumer, Desc, Producer};
use super::socket::{CHUNK, Socket};
use super::{Shared, flow};
use crate::port::error::assert_fits;
use crate::port::pool::Pool;
use crate::port::{Frame, Kick, PortError, Stats, Transmit};
use core::sync::atomic::Ordering::Relaxed;
use nix::errno::Errno;
use std::sync::Arc;

/// Sends the frames of one port. A slot is as many chunks in a row as the longest frame needs, so that its bytes are
/// in one piece here and in several in the ring.
#[derive(Debug)]
pub(crate) struct Sender {
    shared: Arc<Shared>,
    memory: Region,
    slots: Pool,
    queues: Vec<Queue>,
    longest: usize,
}

/// The rings of one queue that is sent by.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) ring: Producer<RingMemory, Desc>,
    pub(super) completion: Consumer<RingMemory, u64>,
}

/// Chunks in a slot for frames of up to `longest` bytes.
pub(super) fn chunks(longest: usize) -> usize {
    longest.div_ceil(CHUNK).max(1)
}

impl Sender {
    /// The half that sends from `slots` in `memory`.
    pub(super) fn new(
        shared: Arc<Shared>,
        memory: Region,
        slots: Pool,
        queues: Vec<Queue>,
        longest: usize,
    ) -> Sender {
        Sender { shared, memory, slots, queues, longest }
    }

    /// From one slot to the next.
    fn stride(&self) -> usize {
        chunks(self.longest) * CHUNK
    }
}

impl Queue {
    /// Has the kernel take what was published.
    fn kick(&mut self, socket: &Socket, zero_copy: bool) -> Result<Kick, Errno> {
        let mut kick = Kick { waiting: self.ring.waiting(), ..Kick::default() };
        if zero_copy {
            // The driver takes frames by itself and says when it has gone to sleep over it.
            if self.ring.shared.wants_a_call() {
                match socket.kick() {
                    Ok(()) | Err(Errno::EAGAIN | Errno::EBUSY | Errno::ENOBUFS) => {}
                    Err(errno) => return Err(errno),
                }
            }
            kick.waiting = self.ring.waiting();
            return Ok(kick);
        }
        while kick.waiting > 0 {
            let before = kick.waiting;
            match socket.kick() {
                // A call sends 32 pieces and asks for another.
                Ok(()) | Err(Errno::EAGAIN | Errno::ENOBUFS) => {}
                Err(Errno::EBUSY) => kick.lost += 1,
                Err(errno) => return Err(errno),
            }
            kick.waiting = self.ring.waiting();
            if kick.waiting == before {
                break;
            }
        }
        kick.refused = kick.waiting > 0;
        Ok(kick)
    }
}

impl Transmit for Sender {
    fn alloc(&mut self) -> Option<Frame> {
        if !self.slots.has_free() {
            self.reclaim();
        }
        self.slots.take()
    }

    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        let start = self.slots.held(frame) * self.stride();
        self.memory.bytes(start, self.longest)
    }

    fn release(&mut self, frame: Frame) {
        self.slots.put_back(frame);
    }

    fn stage(&mut self, frame: Frame, len: usize) {
        assert_fits(len, self.longest);
        let pieces = chunks(len);
        let count = u32::try_from(pieces).expect("few chunks make a slot");
        let start = self.slots.lend(frame, count) * self.stride();
        let queue = flow::queue(self.memory.bytes(start, len), self.queues.len());
        let ring = &mut self.queues[queue].ring;
        for piece in 0..pieces {
            let here = piece * CHUNK;
            let more = piece + 1 < pieces;
            let desc = Desc {
                addr: self.memory.address(start + here),
                len: u32::try_from(CHUNK.min(len - here)).expect("at most a chunk"),
                options: if more { libc::XDP_PKT_CONTD } else { 0 },
            };
            assert!(ring.stage(desc), "the ring has an entry for every chunk");
        }
    }

    fn publish(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.ring.publish());
    }

    fn kick(&mut self) -> Result<Kick, PortError> {
        let mut all = Kick::default();
        for (place, queue) in self.queues.iter_mut().enumerate() {
            let socket = self.shared.sockets.at(place);
            let kick = queue.kick(socket, self.shared.zero_copy);
            let kick = kick.map_err(|errno| self.shared.card.error("send", errno))?;
            all.lost += kick.lost;
            all.waiting += kick.waiting;
            all.refused |= kick.refused;
        }
        self.shared.tx_lost.fetch_add(all.lost, Relaxed);
        Ok(all)
    }

    fn reclaim(&mut self) -> usize {
        let (mut back, stride) = (0, self.stride());
        for queue in &mut self.queues {
            while let Some(address) = queue.completion.take() {
                let slot = self.memory.offset(address).map(|at| at / stride);
                if slot.is_some_and(|slot| self.slots.returned(slot as u64)) {
                    back += 1;
                } else {
                    self.shared.strays.fetch_add(1, Relaxed);
                }
            }
            queue.completion.release();
        }
        back
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}

#[cfg(test)]
mod tests;
