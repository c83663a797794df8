//! When a lossy egress queue starts to drop (F4 and F5 on the egress side).

use super::{alpha, occupied, off_by, whole, whole_i};
use rig_lab::Buffer;
use rig_units::{Bytes, Dur};

/// The first frame of an empty lossy queue that is lost, all being of one size and none leaving. `lossy_taken` is what
/// other lossy queues hold of the lossy pool, `pool_taken` what everything else holds of the pool, those queues included.
///
/// As with a lossless group the limit counts what is left of the pool with the frame already charged. A frame is lost when
/// the queue with it would exceed 2^k times that, or when the pool has no room for it. With U its bytes and L what others
/// left of the lossy pool, the n-th frame is lost when n U > 2^k (L - n U), that is n > 2^k L / ((1 + 2^k) U). A static limit S holds
/// whatever is left: n U > S.
pub fn lossy_first_drop(buffer: &Buffer, frame: Bytes, lossy_taken: u64, pool_taken: u64) -> u64 {
    lossy_first_drop_off(buffer, frame, (lossy_taken, pool_taken), 0)
}

/// The same of a queue whose limit lies `off` bytes off what is declared: n U > 2^k (L - n U) + off.
pub fn lossy_first_drop_off(
    buffer: &Buffer,
    frame: Bytes,
    (lossy_taken, pool_taken): (u64, u64),
    off: i64,
) -> u64 {
    let size = u128::from(occupied(buffer, frame));
    let left = u128::from(buffer.lossy_pool.0.saturating_sub(lossy_taken));
    let (num, den) = alpha(buffer.lossy_dynamic_th);
    // The pools are below 2^64 and 2^k at most 2^63: the product fits unless both are at their ends.
    let by_limit = match buffer.lossy_static_th {
        // The lossy pool ends, too.
        Some(limit) => left.min(off_by(limit.0.into(), off)) / size,
        None => {
            let all = off_by(left.saturating_mul(num), off.saturating_mul(whole_i(den)));
            (all / (num + den)).min(left) / size
        }
    };
    let by_pool = u128::from(buffer.pool.0.saturating_sub(pool_taken)) / size;
    whole(by_limit.min(by_pool) + 1)
}

/// How much other lossy queues may hold at the most, each with a limit `off` bytes above what is declared. By shares the first of them takes
/// most while it is alone, and each that comes later its part of what is left, which is (L - off) / (1 + 2^k) behind every one; together they
/// never hold more than one after the other.
pub fn lossy_most(buffer: &Buffer, queues: usize, off: u64) -> u64 {
    let (num, den) = alpha(buffer.lossy_dynamic_th);
    let behind = |left: u64, _| match buffer.lossy_static_th {
        Some(limit) => left.saturating_sub(limit.0.saturating_add(off)),
        None => {
            let all = u128::from(left.saturating_sub(off)).saturating_mul(den) / (num + den);
            u64::try_from(all).unwrap_or(left)
        }
    };
    let pool = buffer.lossy_pool.0;
    pool - (0..queues).fold(pool, behind)
}

/// Several senders to one port, each of which sends a frame every so often (`gaps`): how many frames each has sent when the first is
/// lost, least and most, where `first` is the frame that a held queue would lose. When the soonest of them has sent its last all that the port has
/// not sent meanwhile is held: a frame each `slot`, `passing` slots late, which is what the idle device takes. One frame may be under way at
/// every sender, one at the port, and one of either may come first. A shaped port sends one every `drain` instead of every `slot` once it has
/// sent the `saved` frames that it may send at once.
pub fn overrun(
    first: u64,
    gaps: &[Dur],
    passing: u64,
    (slot, drain): (Dur, Dur),
    saved: u64,
) -> (u64, u64) {
    let senders = u64::try_from(gaps.len()).unwrap_or(u64::MAX);
    let soonest = gaps.iter().copied().min().unwrap_or(slot);
    let part = |of: Dur| (u128::from(soonest.0) * PARTS, u128::from(of.0.max(1)));
    let floor = |(num, den): (u128, u128)| num / den;
    let ceil = |(num, den): (u128, u128)| num.div_ceil(den);
    // Of `PARTS` frames of the soonest so many come of all, and so many are held. A single sender is drained as fast as it sends.
    let rounds = |frames: u64, come: u128, leave: u128| {
        let held = come.saturating_sub(leave);
        (u128::from(frames) * PARTS, if held == 0 { leave.max(1) } else { held })
    };
    let all = gaps.iter().map(|gap| ceil(part(*gap))).sum();
    let all_less = gaps.iter().map(|gap| floor(part(*gap))).sum();
    let (frames, held) =
        rounds(first.saturating_sub(passing + senders + 2), all, floor(part(drain)));
    let least = whole(frames / held).max(1);
    let most = |(frames, held): (u128, u128)| whole(frames.div_ceil(held)) + senders;
    let shaped = most(rounds(first + saved, all_less, ceil(part(drain))));
    (least, shaped.min(most(rounds(first, all_less, ceil(part(slot))))))
}

/// What one frame is of, where others come at other times: fine enough for any number of frames that a buffer holds.
const PARTS: u128 = 1_000_000_000_000;
