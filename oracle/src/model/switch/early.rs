//! Where early detection meets the way of a frame: on its way into a queue, and when it starts to leave.

use super::{Place, Switch};
use crate::model::egress::Choice;
use crate::model::egress::Egress;
use crate::model::memories::PacketMemories;
use crate::model::packet::{Packet, slot};
use crate::model::wred::{Depth, Fate, Wred};
use rig_units::Time;

impl Switch {
    /// What early detection makes of a frame that arrives; counted where it is dropped.
    #[inline]
    pub(super) fn early(&mut self, now: Time, place: Place, packet: &Packet) -> Fate {
        let Place { to, class, size, .. } = place;
        if !self.wred.looks_at_arrival(class) {
            return Fate::Pass;
        }
        let found = depth(&self.wred, &self.buffer, to, class);
        let size = self.buffer.occupied(size);
        if self.wred.is_shallow(found.bytes + size) {
            return Fate::Pass;
        }
        let fate = self.wred.arrives(now, (to, class), packet, found, size);
        if fate == Fate::Drop {
            self.ports[to].counters[slot(class)].queue_drops += 1;
            self.buffer.lose(place);
        }
        fate
    }
}

/// Does to a frame that is in, for queue `tc` of port `to`, what was decided on its way.
#[cold]
pub(super) fn settle(wred: &mut Wred, fate: Fate, to: usize, inside: &mut Packet) {
    if fate == Fate::Mark {
        wred.note_mark((to, inside.tc), inside.size, inside.ce());
    }
    *inside = inside.with_ce(fate == Fate::Mark);
}

/// Before what a queue holds becomes less: what it held until now.
#[cold]
pub(super) fn held(wred: &mut Wred, buffer: &PacketMemories, now: Time, at: (usize, u8)) {
    let depth = depth(wred, buffer, at.0, at.1);
    wred.held(now, at, depth);
}

/// Marks the frame that starts to leave a queue, if it is to be.
#[inline]
pub(super) fn leaves(
    wred: &mut Wred,
    buffer: &PacketMemories,
    now: Time,
    at: (usize, u8),
    egress: &mut Egress,
) {
    let depth = depth(wred, buffer, at.0, at.1);
    if wred.is_shallow(depth.bytes) {
        return;
    }
    if wred.looks_at_change(at.1) {
        wred.held(now, at, depth);
    }
    let Some(packet) = egress.front(Choice::Queue(at.1)) else { return };
    let size = buffer.occupied(packet.size);
    let behind =
        Depth { bytes: depth.bytes.saturating_sub(size), frames: depth.frames.saturating_sub(1) };
    if wred.leaves(now, at, packet, behind, size)
        && let Some(packet) = egress.front_mut(at.1)
    {
        *packet = packet.with_ce(true);
    }
}

/// The depth by which a queue is judged, as far as the buffer knows it.
#[inline]
fn depth(wred: &Wred, buffer: &PacketMemories, port: usize, queue: u8) -> Depth {
    if wred.takes_port() {
        buffer.depth_of_port(port)
    } else if wred.takes_class() {
        buffer.depth_of_class(queue)
    } else {
        buffer.depth(port, queue)
    }
}
