//! The sending half of a DPDK port.

use super::Shared;
use super::outgoing::Outgoing;
use crate::port::error::assert_fits;
use crate::port::pool::Pool;
use crate::port::wait::Checkup;
use crate::port::{Frame, Kick, PortError, Stats, Transmit};
use std::collections::VecDeque;
use std::sync::Arc;

/// Sends the frames of one port.
#[derive(Debug)]
pub(super) struct Sender {
    shared: Arc<Shared>,
    outgoing: Outgoing,
    slots: Pool,
    /// Slots that are in the ring or with the driver, in the order of staging.
    under_way: VecDeque<usize>,
    /// How many frames of the ring are published.
    published: usize,
    longest: usize,
    checkup: Checkup,
}

impl Sender {
    /// The half that sends frames of up to `longest` bytes from `slots` slots.
    pub(super) fn new(
        shared: Arc<Shared>,
        outgoing: Outgoing,
        slots: u32,
        longest: usize,
    ) -> Sender {
        let under_way = VecDeque::with_capacity(slots as usize);
        let (slots, checkup) = (Pool::new(slots), Checkup::new());
        Sender { shared, outgoing, slots, under_way, published: 0, longest, checkup }
    }
}

impl Transmit for Sender {
    fn alloc(&mut self) -> Option<Frame> {
        if !self.slots.has_free() && self.reclaim() == 0 {
            self.shared.device.settle();
            self.reclaim();
        }
        self.slots.take()
    }

    fn bytes<'a>(&'a mut self, frame: &'a mut Frame) -> &'a mut [u8] {
        let slot = self.slots.held(frame);
        self.outgoing.bytes(slot)
    }

    fn release(&mut self, frame: Frame) {
        self.slots.put_back(frame);
    }

    fn stage(&mut self, frame: Frame, len: usize) {
        assert_fits(len, self.longest);
        let slot = self.slots.lend(frame, 1);
        self.outgoing.stage(slot, u16::try_from(len).expect("the shim has no longer frames"));
        self.under_way.push_back(slot);
    }

    fn publish(&mut self) {
        self.published = self.outgoing.len();
    }

    /// What the driver throws away it tells in its counters alone: `lost` is always 0 here.
    fn kick(&mut self) -> Result<Kick, PortError> {
        if self.published > 0 {
            let taken = self.outgoing.send(self.published);
            self.published -= taken;
            // Its ring is full, or it cannot send at all. The kernel is asked at once, a driver, for which it may be
            // much work, now and then.
            if taken == 0 && (self.shared.card.is_some() || self.checkup.is_due()) {
                self.shared.is_well()?;
            }
        }
        let waiting = u32::try_from(self.published).unwrap_or(u32::MAX);
        Ok(Kick { lost: 0, waiting, refused: waiting > 0 })
    }

    fn reclaim(&mut self) -> usize {
        let before = self.under_way.len();
        while let Some(&slot) = self.under_way.front()
            && self.outgoing.is_back(slot)
        {
            let own = self.slots.returned(slot as u64);
            debug_assert!(own, "slot {slot} was staged");
            self.under_way.pop_front();
        }
        before - self.under_way.len()
    }

    fn stats(&self) -> Result<Stats, PortError> {
        self.shared.stats()
    }
}
