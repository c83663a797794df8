//! Frames that have arrived: mbufs that are the rig's until it frees them.
#![expect(unsafe_code, reason = "mbufs have no owner that the compiler knows")]

use super::Shared;
use super::api::{Api, Piece};
use super::device::Device;
use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

/// Frames that are taken from the driver at once.
const BATCH: usize = 64;

/// Frames taken from the driver and not handed over yet.
#[derive(Debug)]
pub(super) struct Incoming {
    shared: Arc<Shared>,
    frames: [*mut c_void; BATCH],
    /// Those that are held.
    held: core::ops::Range<usize>,
    /// A frame in several pieces, put together.
    whole: Vec<u8>,
}

// SAFETY: the pointers are to frames that are this value's alone until it frees them; the shim's functions on them may
// be called by any thread.
unsafe impl Send for Incoming {}

impl Incoming {
    /// Nothing yet.
    pub(super) fn new(shared: Arc<Shared>) -> Incoming {
        Incoming { shared, frames: [ptr::null_mut(); BATCH], held: 0..0, whole: Vec::new() }
    }

    /// Takes what has arrived from the driver, unless some is held already; how many frames were taken.
    pub(super) fn fill(&mut self) -> usize {
        if !self.held.is_empty() {
            return 0;
        }
        let Device { api, port } = self.shared.device;
        let room = u16::try_from(BATCH).expect("a small constant");
        // SAFETY: room for as many frames.
        let taken = usize::from(unsafe { (api.receive)(port, self.frames.as_mut_ptr(), room) });
        self.held = 0..taken.min(BATCH);
        taken
    }

    /// Whether frames are held.
    pub(super) fn has_some(&self) -> bool {
        !self.held.is_empty()
    }

    /// Hands over the frames that are held, each with the NIC's ticks if it has stamped it; how many.
    pub(super) fn hand(&mut self, take: &mut dyn FnMut(&[u8], Option<u64>)) -> usize {
        let mut frames = 0;
        for next in self.held.by_ref() {
            let frame = Held { api: self.shared.device.api, frame: self.frames[next] };
            let first = frame.piece(frame.frame);
            let ticks = (first.stamped != 0).then_some(first.ticks);
            if first.next.is_null() {
                take(frame.bytes(&first), ticks);
            } else {
                self.whole.clear();
                let mut piece = first;
                self.whole.extend_from_slice(frame.bytes(&piece));
                while !piece.next.is_null() {
                    piece = frame.piece(piece.next);
                    self.whole.extend_from_slice(frame.bytes(&piece));
                }
                take(&self.whole, ticks);
            }
            frames += 1;
        }
        frames
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.hand(&mut |_, _| {});
    }
}

/// One frame, freed when dropped.
struct Held {
    api: &'static Api,
    frame: *mut c_void,
}

impl Held {
    /// A piece of this frame.
    fn piece(&self, piece: *const c_void) -> Piece {
        let mut seen =
            Piece { bytes: ptr::null(), len: 0, stamped: 0, ticks: 0, next: ptr::null_mut() };
        // SAFETY: a piece of a frame that is not freed yet, and a value of the type that the shim knows.
        unsafe { (self.api.look)(piece, &raw mut seen) };
        seen
    }

    /// The bytes of a piece of this frame.
    fn bytes(&self, piece: &Piece) -> &[u8] {
        if piece.len == 0 {
            return &[];
        }
        // SAFETY: the driver has written as many bytes there and has given the frame away; they stay for as long as
        // `self`, and nobody writes to a frame of which others have a hold.
        unsafe { core::slice::from_raw_parts(piece.bytes, piece.len as usize) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: a frame of the caller's, and the last use of it.
        unsafe { (self.api.free)(self.frame) };
    }
}
