//! When a lossy egress queue starts to drop (F4 and F5 on the egress side).

use super::{alpha, occupied, whole};
use rig_lab::Buffer;
use rig_units::Bytes;

/// The first frame of an empty lossy queue that is lost, all being of one size and none leaving. `lossy_taken` is what
/// other lossy queues hold of the lossy pool, `pool_taken` what everything else holds of the pool, those queues included.
///
/// As with a lossless group the limit counts what is left of the pool with the frame already charged. A frame is lost when
/// the queue with it would exceed 2^k times that, or when the pool has no room for it. With U its bytes and L what others
/// left of the lossy pool, the n-th frame is lost when n U > 2^k (L - n U), that is n > 2^k L / ((1 + 2^k) U).
pub fn lossy_first_drop(buffer: &Buffer, frame: Bytes, lossy_taken: u64, pool_taken: u64) -> u64 {
    let size = u128::from(occupied(buffer, frame));
    let left = u128::from(buffer.lossy_pool.0.saturating_sub(lossy_taken));
    let (num, den) = alpha(buffer.lossy_dynamic_th);
    // The pools are below 2^64 and 2^k at most 2^63: the product fits unless both are at their ends.
    let by_limit = left.saturating_mul(num) / (num + den) / size;
    let by_pool = u128::from(buffer.pool.0.saturating_sub(pool_taken)) / size;
    whole(by_limit.min(by_pool) + 1)
}

/// Several senders at the line rate of the port that all of them send to: how many frames each has sent when the first is
/// lost, least and most, where `first` is the frame that a held queue would lose. Of so many frames each the port sends one
/// sender's, `passing` slots late, which is what the idle device takes; the rest is held. One frame may be under way at
/// every sender, one at the port, and one of either may come first.
pub const fn overrun(first: u64, senders: u64, passing: u64) -> (u64, u64) {
    // A single sender is drained as fast as it sends.
    let held_a_round = if senders > 1 { senders - 1 } else { 1 };
    let least = first.saturating_sub(passing + senders + 2) / held_a_round;
    let most = first.div_ceil(held_a_round) + senders;
    (if least == 0 { 1 } else { least }, most)
}
