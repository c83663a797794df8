//! When a group that was paused may go on: the other edge of the hysteresis.

use super::{Filling, Others, least, limit, off_by, share_of};
use rig_lab::Buffer;
use rig_units::Bytes;

/// How many frames must leave, after `n` arrived, before the device sends XON; `None` when none of them made it send
/// XOFF. What leaves is taken from the headroom first, then from the shared part, then from the reserve. XON goes out
/// once the headroom is empty and the share is at most `max(xon, limit - xon_offset)`, the limit as it is by then: it
/// has risen with every frame that left the pool.
///
/// Frames beyond N_drop - 1 were lost and change nothing. Without headroom this can be 0: the frame that crossed was lost
/// and the group is still within.
pub fn xon_after(buffer: &Buffer, frame: Bytes, others: &Others, n: u64) -> Option<u64> {
    let filling = Filling::of(buffer, frame, others);
    if n <= filling.within {
        return None;
    }
    let (pooled, spare) = filling.split(n);
    let resumes = |frames: u64| {
        let share = share_of(buffer, filling.size, frames);
        let falling = limit(buffer, share, others).saturating_sub(buffer.xon_offset.0.into());
        u128::from(share) <= off_by(falling.max(buffer.xon.0.into()), others.off.xon)
    };
    // Without a frame the share is nothing, and that is never above.
    let leave = least(0, pooled, |leave| resumes(pooled - leave)).unwrap_or(pooled);
    Some(spare + leave)
}
