//! The moving average of the depth over a burst into an empty queue, in closed form.
//!
//! With w = 2^-n and frames that meet s, s + c, s + 2c, ...: after the i-th the average is
//! `s (1 - v^i) + c (i - 1 - v (1 - v^(i-1)) / w)`, v = 1 - w. It starts at zero: the queue was idle for long.
//!
//! A device rounds: in the fixed point of DPDK's `rte_red` each frame rounds up by less than a step of 2^-(10+n) B, of which
//! what is old keeps v: together less than 2^-10 B. And it compares whole bytes: less than a byte more.

use super::{Burst, chance_at};

/// What a device's average may be off from the closed form, in bytes: above it by rounding, below it by whole bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Average {
    /// The closed form.
    pub bytes: f64,
}

impl Average {
    /// The least and the most that a device may compare.
    pub fn bounds(self) -> (f64, f64) {
        ((self.bytes - 1.0).max(0.0), self.bytes + 1.0 / 1_024.0)
    }

    /// The chances at those.
    pub fn chances(self, burst: &Burst) -> (f64, f64) {
        let (lo, hi) = self.bounds();
        (chance_at(&burst.curve, lo), chance_at(&burst.curve, hi))
    }
}

/// The average, of weight 2^-n, after the `rank`-th frame of a burst has arrived: what decides about that frame at enqueue, and
/// for `rank` = the last about every frame at dequeue, as long as nothing more arrives. Weight 0: the depth itself.
#[expect(clippy::cast_precision_loss, reason = "ranks and depths are far below 2^53")]
pub fn average_of_burst(burst: &Burst, weight: u8, rank: u64) -> Average {
    let (w, i, c) = ((-f64::from(weight)).exp2(), rank as f64, burst.step as f64);
    let s = if burst.counts_itself { c } else { 0.0 };
    if rank == 0 || weight == 0 {
        return Average { bytes: if rank == 0 { 0.0 } else { s + c * (i - 1.0) } };
    }
    // v^i, without the loss of 1 - w for a small w.
    let power = |i: f64| (i * (-w).ln_1p()).exp();
    let v = 1.0 - w;
    let ramp = i - 1.0 - v * (1.0 - power(i - 1.0)) / w;
    Average { bytes: s * (1.0 - power(i)) + c * ramp }
}
