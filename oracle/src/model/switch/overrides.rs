//! What is done to a switch from outside its data path: by a watchdog, by a cut cable, by an operator. None of it is on
//! the path of a frame.

use super::{Choice, Limit, Place, Switch, place};
use crate::model::packet::{bit, slot};
use crate::model::wred;
use rig_units::Time;

/// Frames thrown out of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discarded {
    /// Frames thrown out.
    pub packets: u64,
    /// Ports whose senders are told to go on because of it.
    pub(crate) resumed: Vec<usize>,
}

impl Switch {
    /// Early detection goes by another configuration from the next frame on.
    pub(crate) fn set_wred(&mut self, config: &wred::Config) {
        self.wred.set(config);
    }

    /// Lets a class ignore received PFC and stop sending any, or ends that. Returns whether frames may go because of
    /// it.
    pub(crate) fn ignore_pfc(&mut self, now: Time, port: usize, class: u8, on: bool) -> bool {
        let opened = self.ports[port].mac.set_ignore(class, on);
        let xoff = self.ports[port].pfc.set_ignore(now, class, on);
        self.emit(port, xoff) || opened != 0
    }

    /// Keeps the sender at `port` paused in `class`, or ends that. Returns whether a frame goes because of it.
    pub(crate) fn hold_xoff(&mut self, now: Time, port: usize, class: u8, on: bool) -> bool {
        let frame = self.ports[port].pfc.set_held(now, class, on);
        self.emit(port, frame)
    }

    pub(crate) fn drop_ingress(&mut self, port: usize, class: u8, on: bool) {
        set(&mut self.ports[port].drop_in, class, on);
    }

    pub(crate) fn drop_egress(&mut self, port: usize, class: u8, on: bool) {
        let port = &mut self.ports[port];
        set(&mut port.dropped_by_order, class, on);
        port.drop_out = if port.up { port.dropped_by_order } else { u8::MAX };
    }

    pub(crate) fn leak(&mut self, port: usize, class: u8, frames: u32) {
        self.ports[port].leak[slot(class)] = frames;
    }

    pub(crate) fn set_group_limit(&mut self, port: usize, group: u8, limit: Limit) {
        self.buffer.set_group_limit(port, group, limit);
    }

    pub(crate) fn clear_watermarks(&mut self) {
        self.buffer.clear_watermarks();
    }

    /// Throws away every frame of a queue; they count as dropped.
    pub(crate) fn discard_backlog(&mut self, now: Time, port: usize, queue: u8) -> Discarded {
        let mut discarded = Discarded::default();
        let choice = Choice::Queue(queue);
        while let Some(packet) = self.ports[port].egress.front(choice) {
            let place = place(packet, port);
            self.ports[port].egress.drop_front(choice);
            discarded.packets += 1;
            discarded.resumed.extend(self.release(now, place));
            discarded.resumed.append(&mut self.also);
        }
        self.ports[port].counters[slot(queue)].queue_drops += discarded.packets;
        discarded
    }

    /// The link of `port` went down: what waits there is lost, what the peer said is forgotten.
    pub(crate) fn link_down(&mut self, now: Time, port: usize) -> Vec<usize> {
        let down = &mut self.ports[port];
        down.up = false;
        down.drop_out = u8::MAX;
        down.mac.reset(now);
        down.egress.forget_control();
        let mut resumed = Vec::new();
        for queue in 0..8 {
            resumed.extend(self.discard_backlog(now, port, queue).resumed);
        }
        resumed.retain(|&other| other != port);
        resumed
    }

    /// Whether a port hears what its peer says.
    pub(crate) fn hears(&self, port: usize) -> bool {
        self.ports[port].up
    }

    /// PFC of its own that waits to be sent is not.
    pub(crate) fn forget_control(&mut self) {
        self.ports.iter_mut().for_each(|port| port.egress.forget_control());
    }

    /// The cable of `port` was mended: what a port forgets that has found its peer again.
    pub(crate) fn relinked(&mut self, port: usize) {
        let port = &mut self.ports[port];
        port.mac.linked();
        port.pfc.linked();
    }

    /// The port is open again: what it forgets that was shut.
    pub(crate) fn opened(&mut self, port: usize) {
        let port = &mut self.ports[port];
        port.mac.opened();
        port.pfc.opened();
    }

    /// The link of `port` came up. Returns whether a frame goes because of it.
    pub(crate) fn link_up(&mut self, now: Time, port: usize) -> bool {
        let up = &mut self.ports[port];
        up.up = true;
        up.drop_out = up.dropped_by_order;
        let xoff = up.pfc.renew(now);
        self.emit(port, xoff)
    }

    /// Whether an override, or its size, takes this frame; counted where it is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn is_dropped(&mut self, place: Place) -> bool {
        let class = slot(place.class);
        if place.size > self.mtu {
            self.ports[place.from].counters[class].group_drops += 1;
            return true;
        }
        if self.ports[place.from].drop_in & bit(place.class) != 0 {
            let leak = &mut self.ports[place.from].leak[class];
            if *leak == 0 {
                self.ports[place.from].counters[class].group_drops += 1;
                self.buffer.lose(place);
                return true;
            }
            *leak -= 1;
        }
        let out = &mut self.ports[place.to];
        if out.drop_out & bit(place.class) != 0 {
            let leak = &mut out.leak[class];
            if *leak == 0 || !out.up {
                // What has no link to go to was never in its queue.
                let counts = out.up || self.buffer.faults().dead_link_counted;
                out.counters[class].queue_drops += u64::from(counts);
                self.buffer.lose(place);
                return true;
            }
            *leak -= 1;
        }
        false
    }
}

fn set(mask: &mut u8, class: u8, on: bool) {
    if on {
        *mask |= bit(class);
    } else {
        *mask &= !bit(class);
    }
}
