//! From what was counted back to what must have been configured.

use super::{Others, first_xoff, least, occupied, room, share_of};
use rig_capture::Span;
use rig_lab::{Buffer, Crossing};
use rig_units::Bytes;

/// Every size of the pool, in bytes, at which the device sends XOFF at frame `n_xoff`, the rest as declared; `None` when
/// there is none. Open above (`u64::MAX`) where a static limit decides.
pub fn pool_from(buffer: &Buffer, frame: Bytes, others: &Others, n_xoff: u64) -> Option<Span> {
    let at = |pool: u64| first_xoff(&Buffer { pool: Bytes(pool), ..buffer.clone() }, frame, others);
    let lo = least(0, u64::MAX, |pool| at(pool) >= n_xoff)?;
    let above = least(0, u64::MAX, |pool| at(pool) > n_xoff);
    let hi = above.map_or(Some(u64::MAX), |above| above.checked_sub(1))?;
    (lo <= hi).then_some(Span { lo, hi })
}

/// Every size of the group's headroom, in bytes, at which frame `n_xoff` makes the device send XOFF and `n_drop` is the
/// first to be lost; `None` when there is none. Of a shared headroom pool it is what the group was given.
pub fn headroom_from(
    buffer: &Buffer,
    frame: Bytes,
    others: &Others,
    n_xoff: u64,
    n_drop: u64,
) -> Option<Span> {
    let size = occupied(buffer, frame);
    let pooled = match buffer.crossing {
        Crossing::Headroom => 0,
        Crossing::Shared => u64::from(share_of(buffer, size, n_xoff) <= room(buffer, others)),
    };
    let frames = n_drop.checked_sub(n_xoff)?.checked_sub(pooled)?;
    let lo = frames.saturating_mul(size);
    Some(Span { lo, hi: lo.saturating_add(size - 1) })
}
