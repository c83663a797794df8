//! The receiver's bitmap in hardware (`PsnContinousChecker`): 128 bits that are shifted by whole strides.

use rig_capture::blue_rdma::Bitmap;
use rig_lab::BlueRdmaFaults;

/// Bits of the window.
const BITS: u32 = u128::BITS;
/// Packets by which it moves.
const STRIDE: u32 = 16;

/// A window. A queue pair that was just made has a full one that ends with the last of all numbers.
#[derive(Debug, Clone)]
pub(super) struct Window {
    stride: u32,
    /// Which stride is the newest.
    bound: u32,
    bits: u128,
}

/// A window that left something behind that has not come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    /// The lowest number of the newest stride before, and now.
    pub(super) psn: [u32; 2],
    /// The bitmap before, and now.
    pub(super) bitmap: [Bitmap; 2],
}

impl Window {
    pub(super) fn new(faults: &BlueRdmaFaults) -> Window {
        let stride = if faults.stride_wrong { 2 * STRIDE } else { STRIDE };
        Window { stride, bound: 0xff_ffff / stride, bits: u128::MAX }
    }

    /// A packet is placed.
    pub(super) fn take(&mut self, psn: u32, faults: &BlueRdmaFaults) -> Option<Moved> {
        let strides = (1 << 24) / self.stride;
        let (bound, all) = (psn / self.stride, BITS / self.stride);
        let own = 1_u128 << (BITS - self.stride + psn % self.stride);
        let ahead = (bound + strides - self.bound) % strides;
        let (old, before) = (self.bits, self.bound);
        if ahead >= strides / 2 {
            let behind = strides - ahead;
            if behind < all {
                self.bits |= own >> (behind * self.stride);
            }
            return None;
        }
        let left = if ahead >= all {
            self.bits = if faults.window_not_cleared { old } else { 0 };
            // The window is full of what nobody has seen.
            faults.window_not_cleared.then_some(u128::MAX)
        } else {
            let by = ahead * self.stride;
            self.bits = old.checked_shr(by).unwrap_or(0);
            Some(old | u128::MAX.checked_shl(by).unwrap_or(0))
        };
        self.bits |= own;
        self.bound = bound;
        let is_whole = left == Some(u128::MAX);
        if ahead == 0 || is_whole {
            return None;
        }
        let up = u32::from(faults.bitmap_off_by_one);
        let bitmap = [old, self.bits].map(|bits| Bitmap::from(bits << up));
        Some(Moved { psn: [before * self.stride, bound * self.stride], bitmap })
    }
}
