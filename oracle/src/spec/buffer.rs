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
//! What a frame of the headroom leaves is not used by smaller frames: sizes do not mix here. With a declared margin a limit is so many bytes
//! more or less, whatever is left, and so is a headroom ([`Off`]): S > floor(2^k (B - Q - S)) + off is S > floor((2^k (B - Q) + off) / (1 + 2^k)). Where frames
//! do not count at once, a limit is higher by those that may have come meanwhile: as many slots of them as the delay has at the speed of a port.

mod invert;
mod lossy;
mod together;
pub mod voq;
mod xon;

pub use invert::{headroom_from, pool_from};
pub use lossy::{lossy_first_drop, lossy_first_drop_off, lossy_most, overrun};
pub use together::{GroupSpread, queue_at_xoff, together};
use voq::Ahead;
pub use xon::xon_after;

use rig_lab::{Buffer, Crossing, Switch};
use rig_units::{Bytes, L1_OVERHEAD};

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
    /// How far the thresholds in question lie off what is declared.
    pub off: Off,
}

/// How many bytes the thresholds of a group or queue lie off what is declared of them, which may be any within the declared margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Off {
    /// Its limit, and with it where it may go on.
    pub limit: i64,
    /// Where it may go on, beyond that.
    pub xon: i64,
    /// How much may come in above the limit.
    pub headroom: i64,
    /// How many bytes, preamble and gaps counted, came of a group that do not count yet at its limit.
    pub uncounted: u64,
}

impl Off {
    /// Nothing.
    pub const NONE: Off = Off { limit: 0, xon: 0, headroom: 0, uncounted: 0 };

    /// Those between which all lie that the declared margin and the declared delay allow: none alone, where there is neither.
    pub fn ends(declared: &Switch) -> Vec<Off> {
        let by = i64::try_from(declared.buffer.margin()).unwrap_or(i64::MAX);
        let of = |limit, xon| [-by, by].map(|headroom| Off { limit, xon, headroom, ..Off::NONE });
        let mut all: Vec<Off> = [(-by, -by), (-by, by), (by, -by), (by, by)]
            .into_iter()
            .flat_map(|(l, x)| of(l, x))
            .collect();
        if by == 0 {
            all = vec![Off::NONE];
        }
        // A port brings no more than its speed lets it, and may bring nothing.
        let brings = declared.ports.iter().map(|ports| declared.buffer.uncounted(ports.speed));
        let most = brings.max().filter(|&most| most > 0);
        let late: Vec<Off> = most.map_or_else(Vec::new, |uncounted| {
            all.iter().map(|off| Off { uncounted, ..*off }).collect()
        });
        all.extend(late);
        all
    }

    /// Every limit that it allows, by whole cells, with either end of all else: what follows from limits need not lie between what follows from their ends.
    pub fn all(declared: &Switch) -> impl Iterator<Item = Off> {
        let buffer = &declared.buffer;
        let by = i64::from(buffer.margin.unwrap_or(0));
        let cell = i64::try_from(buffer.cell.0.max(1)).unwrap_or(i64::MAX);
        let ends = Off::ends(declared);
        (-by..=by).flat_map(move |limit| {
            let limit = limit.saturating_mul(cell);
            ends.clone().into_iter().map(move |end| Off { limit, ..end })
        })
    }

    /// The least and the most of what follows from any of [`Off::all`]: of a number that does not rise or fall with its limit.
    pub fn hull(declared: &Switch, of: impl Fn(Off) -> u64) -> (u64, u64) {
        let all = Off::all(declared).map(of);
        all.fold((u64::MAX, 0), |(least, most), one| (least.min(one), most.max(one)))
    }

    /// The least and the most of what follows from any of them; a number that rises or falls with each threshold.
    pub fn span(declared: &Switch, of: impl Fn(Off) -> u64) -> (u64, u64) {
        let all = Off::ends(declared).into_iter().map(of);
        all.fold((u64::MAX, 0), |(least, most), one| (least.min(one), most.max(one)))
    }
}

/// A threshold that lies so far off.
fn off_by(threshold: u128, off: i64) -> u128 {
    let by = u128::from(off.unsigned_abs());
    if off < 0 { threshold.saturating_sub(by) } else { threshold.saturating_add(by) }
}

impl Others {
    /// Nothing at all, and thresholds as they are declared.
    pub const ALONE: Others = Others { pool: 0, port: 0, headroom: 0, off: Off::NONE };

    /// The same with thresholds that lie so far off.
    #[must_use]
    pub const fn with(self, off: Off) -> Others {
        Others { off, ..self }
    }

    /// The same where all that came counts.
    #[must_use]
    pub const fn counted(self) -> Others {
        Others { off: Off { uncounted: 0, ..self.off }, ..self }
    }

    /// The same for frames of one size: as many of them as came and do not count yet are above the limit of their group before it
    /// notices, so that it is a limit as much higher. What leaves counts at once, and XON does not move.
    fn noticed(&self, buffer: &Buffer, frame: Bytes) -> Others {
        let frames = self.off.uncounted / (frame + L1_OVERHEAD).0;
        let above = frames.saturating_mul(occupied(buffer, frame));
        let above = i64::try_from(above).unwrap_or(i64::MAX);
        let off = Off { limit: self.off.limit.saturating_add(above), ..self.off };
        Others { off, ..*self }.counted()
    }

    /// The same for the next group, when one that holds `held` stays as it is; `same_port` is whether they share a port.
    pub const fn and(self, held: Held, same_port: bool) -> Others {
        Others {
            pool: self.pool.saturating_add(held.shared),
            port: if same_port { self.port.saturating_add(held.shared) } else { self.port },
            headroom: self.headroom.saturating_add(held.headroom),
            off: self.off,
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

/// The most bytes behind an XOFF that one group has alone: its own headroom, or all of a pool for several that is less (F5).
pub fn headroom_alone(buffer: &Buffer) -> Bytes {
    buffer.headroom_pool.map_or(buffer.xoff, |pool| pool.min(buffer.xoff))
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
        let others = &others.noticed(buffer, frame);
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
        let own = whole(off_by(buffer.xoff.0.into(), others.off.headroom));
        let own = own.saturating_sub(ahead.headroom);
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
        return off_by(limit.0.into(), others.off.limit);
    }
    let left = u128::from(room(buffer, others).saturating_sub(share));
    let offered = match buffer.port_dynamic_th {
        None => left,
        Some(port) => {
            scaled(left, port).saturating_sub(u128::from(others.port) + u128::from(share))
        }
    };
    off_by(scaled(offered, buffer.dynamic_th), others.off.limit)
}

/// Whether a group with this share is within its limit, and the pool has it.
fn is_within(buffer: &Buffer, share: u64, others: &Others) -> bool {
    share <= room(buffer, others) && u128::from(share) <= limit(buffer, share, others)
}

/// The greatest share within the limit.
fn most_shared(buffer: &Buffer, others: &Others) -> u64 {
    let room = room(buffer, others);
    match (buffer.static_th, buffer.port_dynamic_th) {
        (Some(limit), _) => whole(off_by(limit.0.into(), others.off.limit)).min(room),
        (None, None) => {
            let (num, den) = alpha(buffer.dynamic_th);
            // S - off <= 2^k (R - S), S and off being whole.
            let all = off_by(u128::from(room) * num, others.off.limit.saturating_mul(whole_i(den)));
            whole(all / (num + den)).min(room)
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

/// A power of two below 2^63 as a signed number.
fn whole_i(value: u128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number that only a configuration beyond any memory would not fit.
fn whole(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
