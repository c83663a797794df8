//! By how much RED's average is worn down over a time in which its queue was empty: the kernel has no logarithms, so whoever sets RED brings
//! a table of shifts along (`struct red_parms`, include/net/red.h). Made as `tc` makes it, for frames of 1000 B.
//!
//! The kernel tells no one the table, but its step: where that is as here, so is the table, for frames of one length.

/// The frames in whose number an idle time is counted (`avpkt`).
const FRAME_BYTES: f64 = 1_000.0;
/// Shifts beyond this are none: nothing is left.
const MOST: f64 = 31.0;
/// Steps of the table; of the last one nothing is left.
const STEPS: usize = 256;
/// The table does for this many steps of 2 to the n microseconds, and half of them are used at least.
const WIDTH: f64 = 512.0;

/// The step of the table, as a power of two in microseconds, and the table, of an average with a weight of 2^-`wlog` at a port of `bps`.
pub(super) fn idle(wlog: u8, bps: u64) -> (u8, [u8; STEPS]) {
    #[expect(clippy::cast_precision_loss, reason = "no port has 2^53 b/s")]
    let frame_us = FRAME_BYTES * 8e6 / bps.max(1) as f64;
    // An average with a weight of one is the depth, and of that nothing is left of an empty queue: so is it of any time.
    let per_us = -(1.0 - (-f64::from(wlog)).exp2()).log2() / frame_us;
    let mut table = [31; STEPS];
    table[0] = 0;
    let longest = MOST / per_us;
    let step = (0..31_u8).find(|&step| longest / f64::from(step).exp2() < WIDTH).unwrap_or(31);
    for (at, shift) in (0_u32..).zip(&mut table).take(STEPS - 1) {
        let whole = (f64::from(at) * f64::from(step).exp2() * per_us).min(MOST);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 31")]
        let whole = if at == 0 { 0 } else { whole as u8 };
        *shift = whole;
    }
    (step, table)
}
