//! Several groups that fill up at the same time (F4, n hogs growing together).

use super::{Others, first_xoff, is_within, least, occupied, share_of};
use rig_lab::{Accounting, Buffer};
use rig_units::Bytes;

/// The fewest and the most frames that any of `groups` empty groups has received when the first of them makes the device
/// send XOFF, the frame that does so counted. They receive frames in turn, one each; who comes first in a turn is not
/// known, so a group may be one behind. `same_port` is whether they share a port, which matters where ports have a limit.
///
/// Groups fill alike, so which of them it is does not matter: the first frame that crosses is bisected over all frames.
/// A group that has had its turn is never the first, although its limit falls with each frame of the others: the
/// one whose frame that is has the same share, and crosses with it.
pub fn together(
    buffer: &Buffer,
    frame: Bytes,
    groups: u64,
    same_port: bool,
    others: &Others,
) -> (u64, u64) {
    let groups = groups.max(1);
    let size = occupied(buffer, frame);
    let turn_of = |nth: u64| ((nth - 1) / groups + 1, (nth - 1) % groups + 1);
    let crosses = |nth: u64| {
        let (turn, place) = turn_of(nth);
        let (had, waits) = (share_of(buffer, size, turn), share_of(buffer, size, turn - 1));
        let rest =
            had.saturating_mul(place - 1).saturating_add(waits.saturating_mul(groups - place));
        let others = Others {
            pool: others.pool.saturating_add(rest),
            port: if same_port { others.port.saturating_add(rest) } else { others.port },
            headroom: others.headroom,
        };
        !is_within(buffer, had, &others)
    };
    // No group has more room than it would have alone.
    let last = first_xoff(buffer, frame, others).saturating_mul(groups);
    let (turn, place) = turn_of(least(1, last, crosses).unwrap_or(last));
    (if place == groups { turn } else { turn - 1 }, turn)
}

/// The least that a queue holds, in bytes of whole cells, when the first of the `groups` that fill it together from a port each makes
/// the device send XOFF. With accounting by virtual output queues it is the queue's own limit, however many fill it.
pub fn queue_at_xoff(buffer: &Buffer, frame: Bytes, groups: u64) -> u64 {
    let groups = if buffer.accounting == Accounting::Voq { 1 } else { groups.max(1) };
    let (_, most) = together(buffer, frame, groups, false, &Others::default());
    occupied(buffer, frame).saturating_mul(groups).saturating_mul(most.saturating_sub(1))
}
