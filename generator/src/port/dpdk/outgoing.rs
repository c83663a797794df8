//! Frames on their way out: mbufs that stay the rig's, each with a second hold while a driver has it.
#![expect(unsafe_code, reason = "mbufs have no owner that the compiler knows")]

use super::Shared;
use super::device::Device;
use core::ffi::c_void;
use nix::errno::Errno;
use std::sync::Arc;

/// The mbufs of one port's slots, and the ring that they leave by.
#[derive(Debug)]
pub(super) struct Outgoing {
    shared: Arc<Shared>,
    frames: Vec<*mut c_void>,
    bytes: Vec<*mut u8>,
    longest: usize,
    /// Frames put into the ring that no driver has taken yet, in the order of staging.
    ring: Vec<*mut c_void>,
}

// SAFETY: the pointers are to memory of the process that no thread has to itself; the shim's functions on it may be
// called by any thread, one at a time, and `self` is used by one at a time.
unsafe impl Send for Outgoing {}

impl Outgoing {
    /// Makes as many slots as `slots` for frames of up to `longest` bytes.
    pub(super) fn new(shared: Arc<Shared>, slots: u32, longest: usize) -> Result<Outgoing, Errno> {
        let count = slots as usize;
        let mut frames = vec![core::ptr::null_mut(); count];
        let mut bytes = vec![core::ptr::null_mut(); count];
        let Device { api, port } = shared.device;
        // SAFETY: room for `slots` pointers in each.
        let answer = unsafe { (api.frames)(port, slots, frames.as_mut_ptr(), bytes.as_mut_ptr()) };
        if answer != 0 {
            return Err(Errno::from_raw(answer.saturating_abs()));
        }
        Ok(Outgoing { shared, frames, bytes, longest, ring: Vec::with_capacity(count) })
    }

    /// The bytes of `slot`, which must be the caller's.
    pub(super) fn bytes(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: the shim has made room for the longest frame there, which stays until the process ends. `self` is
        // borrowed mutably, and no driver or reader has a hold on a frame that the caller has (`Pool`, `is_back`).
        unsafe { core::slice::from_raw_parts_mut(self.bytes[slot], self.longest) }
    }

    /// Puts the first `len` bytes of `slot` into the ring.
    pub(super) fn stage(&mut self, slot: usize, len: u16) {
        let frame = self.frames[slot];
        // SAFETY: a frame of this port that no driver holds, with room for `len` bytes.
        unsafe { (self.shared.device.api.lend)(frame, len) };
        self.ring.push(frame);
    }

    /// How many frames are in the ring.
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Offers the first `count` frames of the ring to the driver; how many it took.
    pub(super) fn send(&mut self, count: usize) -> usize {
        let offered = &mut self.ring[..count];
        let few = u16::try_from(offered.len()).unwrap_or(u16::MAX);
        let Device { api, port } = self.shared.device;
        // SAFETY: as many frames of this port, each lent; of those that the driver takes it has one hold.
        let taken = usize::from(unsafe { (api.send)(port, offered.as_mut_ptr(), few) });
        self.ring.drain(..taken);
        taken
    }

    /// Whether nobody but the rig holds `slot`.
    pub(super) fn is_back(&self, slot: usize) -> bool {
        // SAFETY: a frame of this port, of which the rig keeps a hold.
        unsafe { (self.shared.device.api.is_back)(self.frames[slot]) != 0 }
    }
}
