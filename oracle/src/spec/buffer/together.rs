//! Several groups that fill up at the same time (F4, n hogs growing together).

use super::{Others, first_xoff, is_within, least, occupied, share_of};
use rig_lab::{Accounting, Buffer};
use rig_units::Bytes;
use std::collections::BTreeMap;

/// Groups that fill up together, and how they are spread over ports, which matters where ports have a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupSpread {
    /// All of them.
    pub groups: u64,
    /// Of those the fewest that one port has.
    pub fewest: u64,
    /// The most that one port has.
    pub most: u64,
}

impl GroupSpread {
    /// Each at a port of its own.
    pub const fn apart(groups: u64) -> GroupSpread {
        GroupSpread { groups, fewest: 1, most: 1 }
    }

    /// One for each of `ports`, which name the port that it is at.
    pub fn over<T: Ord>(ports: impl Iterator<Item = T>) -> GroupSpread {
        let mut count: BTreeMap<T, u64> = BTreeMap::new();
        ports.for_each(|port| *count.entry(port).or_default() += 1);
        let of = |count: Option<&u64>| count.copied().unwrap_or(1);
        GroupSpread {
            groups: count.values().sum(),
            fewest: of(count.values().min()),
            most: of(count.values().max()),
        }
    }
}

/// The fewest and the most frames that any of several empty groups has received when the first of them makes the device
/// send XOFF, the frame that does so counted. They receive frames in turn, one each; who comes first in a turn is not
/// known, so a group may be one behind.
///
/// Groups fill alike, so which of them it is does not matter but for the port: the first frame that may cross is one of the
/// port with the most groups, of which as many have had their turn as can have, and it is bisected over all frames.
/// A group that has had its turn is never the first, although its limit falls with each frame of the others: the
/// one whose frame that is has the same share, and crosses with it. In whatever order they come, the last frame of a turn
/// finds all others of its port ahead of it; so where all ports have as many groups the turn is known.
pub fn together(buffer: &Buffer, frame: Bytes, spread: GroupSpread, others: &Others) -> (u64, u64) {
    let others = &others.noticed(buffer, frame);
    let groups = spread.groups.max(1);
    let most = spread.most.clamp(1, groups);
    let fewest = spread.fewest.clamp(1, most);
    let size = occupied(buffer, frame);
    // The frame of turn `turn` of a group that comes at `place`, behind `ahead` of the `mates` that its port has beside it.
    let crosses = |turn: u64, place: u64, (ahead, mates): (u64, u64)| {
        let (had, waits) = (share_of(buffer, size, turn), share_of(buffer, size, turn - 1));
        let rest = |ahead: u64, all: u64| {
            had.saturating_mul(ahead).saturating_add(waits.saturating_mul(all - ahead))
        };
        let others = Others {
            pool: others.pool.saturating_add(rest(place - 1, groups - 1)),
            port: others.port.saturating_add(rest(ahead, mates)),
            headroom: others.headroom,
            off: others.off,
        };
        !is_within(buffer, had, &others)
    };
    let turn_of = |nth: u64| ((nth - 1) / groups + 1, (nth - 1) % groups + 1);
    let may = |nth: u64| {
        let (turn, place) = turn_of(nth);
        crosses(turn, place, ((place - 1).min(most - 1), most - 1))
    };
    // The last of the turn crosses, or the last of the fullest port does although all others wait.
    let must = |turn: u64| {
        crosses(turn, groups, (fewest - 1, fewest - 1)) || crosses(turn, most, (most - 1, most - 1))
    };
    // No group has more room than it would have alone.
    let alone = first_xoff(buffer, frame, others);
    let last = alone.saturating_mul(groups);
    let (turn, place) = turn_of(least(1, last, may).unwrap_or(last));
    let latest = least(turn, alone.max(turn), must).unwrap_or(alone.max(turn));
    (if place == groups { turn } else { turn - 1 }, latest)
}

/// The least that a queue holds, in bytes of whole cells, when the first of the `groups` that fill it together from a port each makes
/// the device send XOFF. With accounting by virtual output queues it is the queue's own limit, however many fill it.
pub fn queue_at_xoff(buffer: &Buffer, frame: Bytes, groups: u64) -> u64 {
    let groups = if buffer.accounting == Accounting::Voq { 1 } else { groups.max(1) };
    let (_, most) = together(buffer, frame, GroupSpread::apart(groups), &Others::default());
    occupied(buffer, frame).saturating_mul(groups).saturating_mul(most.saturating_sub(1))
}
