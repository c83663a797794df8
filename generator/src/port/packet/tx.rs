//! The sending half of an AF_PACKET port: one call a frame, in the order of staging.

use super::{Shared, errno};
use crate::port::error::assert_fits;
use crate::port::pool::Pool;
use crate::port::{Frame, Kick, PortError, Stats, Transmit};
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;
use nix::errno::Errno;
use pnet_datalink::DataLinkSender;
use std::collections::VecDeque;
use std::sync::Arc;

/// Sends the frames of one port.
pub(super) struct Sender {
    shared: Arc<Shared>,
    sender: Box<dyn DataLinkSender>,
    bytes: Vec<u8>,
    slots: Pool,
    /// Slots and lengths, in the order of staging.
    ring: VecDeque<(usize, usize)>,
    /// How many of them are published.
    published: usize,
    longest: usize,
}

impl Sender {
    /// The half that sends frames of up to `longest` bytes from `slots` slots.
    pub(super) fn new(
        shared: Arc<Shared>,
        sender: Box<dyn DataLinkSender>,
        slots: u32,
        longest: usize,
    ) -> Sender {
        Sender {
            shared,
            sender,
            bytes: vec![0; slots as usize * longest],
            slots: Pool::new(slots),
            ring: VecDeque::with_capacity(slots as usize),
            published: 0,
            longest,
        }
    }

    /// Sends the first `len` bytes of `slot`.
    fn send(&mut self, slot: usize, len: usize) -> Result<(), Option<Errno>> {
        let start = slot * self.longest;
        let bytes = &self.bytes[start..start + len];
        let mut try_once = || match self.sender.send_to(bytes, None) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(errno(&error).or_else(|| self.shared.trouble())),
            None => Err(Some(Errno::EMSGSIZE)),
        };
        match try_once() {
            // A socket tells once that its interface went down, which may be over.
            Err(Some(Errno::ENETDOWN)) => try_once(),
            answer => answer,
        }
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Transmit for Sender {
    fn alloc(&mut self) -> Option<Frame> {
        self.slots.take()
    }

    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        let start = self.slots.held(frame) * self.longest;
        &mut self.bytes[start..start + self.longest]
    }

    fn release(&mut self, frame: Frame) {
        self.slots.put_back(frame);
    }

    fn stage(&mut self, frame: Frame, len: usize) {
        assert_fits(len, self.longest);
        let slot = self.slots.lend(frame, 1);
        self.ring.push_back((slot, len));
    }

    fn publish(&mut self) {
        self.published = self.ring.len();
    }

    fn kick(&mut self) -> Result<Kick, PortError> {
        let mut kick = Kick::default();
        while self.published > 0
            && let Some(&(slot, len)) = self.ring.front()
        {
            match self.send(slot, len) {
                Ok(()) => {}
                // Longer than the MTU, or thrown away below.
                Err(Some(Errno::EMSGSIZE | Errno::ENOBUFS)) => kick.lost += 1,
                // No room now: pnet's own words for it carry no number.
                Err(None | Some(Errno::EAGAIN)) => break,
                Err(Some(errno)) => return Err(self.shared.card.error("send", errno)),
            }
            self.ring.pop_front();
            self.published -= 1;
            let own = self.slots.returned(slot as u64);
            debug_assert!(own, "slot {slot} was staged");
        }
        self.shared.tx_lost.fetch_add(kick.lost, Relaxed);
        kick.waiting = u32::try_from(self.published).unwrap_or(u32::MAX);
        kick.refused = kick.waiting > 0;
        Ok(kick)
    }

    fn reclaim(&mut self) -> usize {
        // A slot is free as soon as its frame is sent.
        0
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}
