//! Thresholds of the packet buffer, counted in frames (formulas F4, F5 and F7).
//!
//! Frames of one size arrive in an otherwise empty lossless priority group and none leaves. Each takes whole cells:
//! first of what is reserved for the group, then of the shared pool. A frame that brings the group's share of the pool
//! above its limit, or that the pool has no room for, *crosses*: it makes the device send XOFF. Exactly at the limit is
//! still within. A limit counts what is left of the pool with the frame already charged; it falls as the share grows,
//! so that once a frame crosses all later ones do. With B the pool, Q what others took of it and S the share:
//!
//! - S > 2^k (B - Q - S), in whole numbers, is S > floor(2^k (B - Q) / (1 + 2^k)): the floor of a shift by a negative k
//!   does not matter, because a whole S exceeds a floor exactly when it exceeds what was cut down.
//! - With a limit for the port as well, S > 2^k (2^p (B - Q - S) - P - S), P the other shares of the port. Two floors one
//!   within the other leave no closed form: the greatest S within is bisected.
//!
//! What a frame of the headroom leaves is not used by smaller frames: sizes do not mix here.

mod invert;
mod lossy;
mod together;
pub mod voq;
mod xon;

pub use invert::{headroom_from, pool_from};
pub use lossy::{lossy_first_drop, overrun};
pub use together::{GroupSpread, queue_at_xoff, together};
use voq::Ahead;
pub use xon::xon_after;

use rig_lab::{Buffer, Crossing};
use rig_units::Bytes;

/// Where the forms come from, for reports.
pub const SOURCE: &str =
    "SONiC buffer profiles: dynamic_th, static_th, xoff; PFCtest of sai_qos_tests.py";

/// What groups and queues other than the one in question hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Others {
    /// Bytes that everything else has taken from the pool.
    pub pool: u64,
    /// Those of them that other lossless groups of the same port took.
    pub port: u64,
    /// Bytes that other groups have taken from the shared headroom pool.
    pub headroom: u64,
}

impl Others {
    /// The same for the next group, when one that holds `held` stays as it is; `same_port` is whether they share a port.
    pub const fn and(self, held: Held, same_port: bool) -> Others {
        Others {
            pool: self.pool.saturating_add(held.shared),
            port: if same_port { self.port.saturating_add(held.shared) } else { self.port },
            headroom: self.headroom.saturating_add(held.headroom),
        }
    }
}

/// What one group holds, in bytes, whole cells counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Of what is reserved for it.
    pub reserved: u64,
    /// Its share of the pool.
    pub shared: u64,
    /// In its headroom.
    pub headroom: u64,
}

/// What a frame takes: its bytes and its descriptor's, in whole cells; a cell of 0 or 1 byte rounds nothing. A frame
/// of nothing counts as one byte.
pub fn occupied(buffer: &Buffer, frame: Bytes) -> u64 {
    let stored = frame.0.saturating_add(buffer.descriptor.0).max(1);
    match buffer.cell.0 {
        0 | 1 => stored,
        cell => stored.div_ceil(cell).saturating_mul(cell),
    }
}

/// N_xoff (F5): the frame that makes the device send XOFF, the first one being 1.
pub fn first_xoff(buffer: &Buffer, frame: Bytes, others: &Others) -> u64 {
    Filling::of(buffer, frame, others).within.saturating_add(1)
}

/// N_drop (F5): the first frame that is lost.
pub fn first_drop(buffer: &Buffer, frame: Bytes, others: &Others) -> u64 {
    let filling = Filling::of(buffer, frame, others);
    filling.pooled.saturating_add(filling.spare).saturating_add(1)
}

/// What the group holds after `n` frames arrived; lost ones hold nothing. [`Others::and`] makes of it what the next
/// group finds: the k-th held hog of F4.
pub fn holds(buffer: &Buffer, frame: Bytes, others: &Others, n: u64) -> Held {
    let filling = Filling::of(buffer, frame, others);
    let (pooled, spare) = filling.split(n);
    let used = pooled.saturating_mul(filling.size);
    let reserved = used.min(buffer.reserved.0);
    Held { reserved, shared: used - reserved, headroom: spare.saturating_mul(filling.size) }
}

/// F7: peaks of the group's shared part and of its headroom when `n` frames have arrived. Nothing has left, so the peak
/// is what it holds; both stay where they are once frames are lost.
pub fn watermarks(buffer: &Buffer, frame: Bytes, others: &Others, n: u64) -> (u64, u64) {
    let held = holds(buffer, frame, others, n);
    (held.shared, held.headroom)
}

/// T of F4: the most bytes that a group alone in the buffer holds without crossing, its reserve counted.
#[cfg(test)]
fn lone_limit(buffer: &Buffer) -> u64 {
    most_shared(buffer, &Others::default()).saturating_add(buffer.reserved.0)
}

/// How a group fills with frames of one size.
#[derive(Debug, Clone, Copy)]
struct Filling {
    /// Bytes that each takes.
    size: u64,
    /// Frames that stay within the limit.
    within: u64,
    /// Frames that the reserve and the pool take: those, and where it is declared so the one that crosses.
    pooled: u64,
    /// Frames that the headroom takes.
    spare: u64,
}

impl Filling {
    fn of(buffer: &Buffer, frame: Bytes, others: &Others) -> Filling {
        Filling::behind(buffer, frame, others, &Ahead::default())
    }

    fn behind(buffer: &Buffer, frame: Bytes, others: &Others, ahead: &Ahead) -> Filling {
        let size = occupied(buffer, frame);
        let most = u128::from(buffer.reserved.0) + u128::from(most_shared(buffer, others));
        let is_over = u128::from(ahead.queued) > most;
        let within = whole(most.saturating_sub(ahead.queued.into()) / u128::from(size));
        let crossing = size.saturating_mul(within.saturating_add(1)).saturating_add(ahead.queued);
        let crossing_share = crossing.saturating_sub(buffer.reserved.0);
        let pooled = match buffer.crossing {
            Crossing::Headroom => within,
            Crossing::Shared => {
                let pooled = !is_over && crossing_share <= room(buffer, others);
                within.saturating_add(u64::from(pooled))
            }
        };
        let shared_pool = buffer.headroom_pool.map(|pool| pool.0.saturating_sub(others.headroom));
        let own = buffer.xoff.0.saturating_sub(ahead.headroom);
        let headroom = own.min(shared_pool.unwrap_or(u64::MAX));
        Filling { size, within, pooled, spare: headroom / size }
    }

    /// How many of `n` frames the reserve and the pool hold, and how many the headroom.
    fn split(&self, n: u64) -> (u64, u64) {
        let pooled = n.min(self.pooled);
        (pooled, (n - pooled).min(self.spare))
    }
}

/// The share of the pool that so many frames make.
fn share_of(buffer: &Buffer, size: u64, frames: u64) -> u64 {
    size.saturating_mul(frames).saturating_sub(buffer.reserved.0)
}

/// What others left of the pool.
fn room(buffer: &Buffer, others: &Others) -> u64 {
    buffer.pool.0.saturating_sub(others.pool)
}

/// 2^k as a fraction. SONiC takes k from -8 to 8; beyond 63 nothing changes any more.
fn alpha(k: i8) -> (u128, u128) {
    let power = 1 << k.unsigned_abs().min(63);
    if k < 0 { (1, power) } else { (power, 1) }
}

/// 2^k times `bytes`, cut down to whole bytes.
fn scaled(bytes: u128, k: i8) -> u128 {
    let (num, den) = alpha(k);
    bytes.saturating_mul(num) / den
}

/// The limit that a group with this share has. A static one holds whatever else is declared.
fn limit(buffer: &Buffer, share: u64, others: &Others) -> u128 {
    if let Some(limit) = buffer.static_th {
        return limit.0.into();
    }
    let left = u128::from(room(buffer, others).saturating_sub(share));
    let offered = match buffer.port_dynamic_th {
        None => left,
        Some(port) => {
            scaled(left, port).saturating_sub(u128::from(others.port) + u128::from(share))
        }
    };
    scaled(offered, buffer.dynamic_th)
}

/// Whether a group with this share is within its limit, and the pool has it.
fn is_within(buffer: &Buffer, share: u64, others: &Others) -> bool {
    share <= room(buffer, others) && u128::from(share) <= limit(buffer, share, others)
}

/// The greatest share within the limit.
fn most_shared(buffer: &Buffer, others: &Others) -> u64 {
    let room = room(buffer, others);
    match (buffer.static_th, buffer.port_dynamic_th) {
        (Some(limit), _) => limit.0.min(room),
        (None, None) => {
            let (num, den) = alpha(buffer.dynamic_th);
            whole(u128::from(room) * num / (num + den))
        }
        (None, Some(_)) => {
            let above = least(0, room, |share| !is_within(buffer, share, others));
            above.map_or(room, |above| above.saturating_sub(1))
        }
    }
}

/// The least value from `from` to `to` for which `holds`, which once true stays true; `None` when it never is.
fn least(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut from, mut to) = (from, to);
    if !holds(to) {
        return None;
    }
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    Some(to)
}

/// A number that only a configuration beyond any memory would not fit.
fn whole(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
