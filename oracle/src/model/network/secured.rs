//! Arrival and departure at a switch that looks at tags (IEEE 802.1AE, and 802.1Q where it changes those). The same way as without,
//! apart from shortcuts: frames are opened as they arrive and protected as they start.

use super::{Delivered, Network, port_id};
use crate::model::packet::{Packet, PacketKind};
use crate::model::queue::{EventQueue, Source};
use crate::model::secy::Received;
use crate::model::switch;
use crate::model::switch::Received as Admitted;
use crate::model::tap::Tap;
use crate::model::topology::PortId;

impl<Q: EventQueue> Network<Q> {
    /// Takes the frame that arrives now over a cable into a switch.
    #[cold]
    #[inline(never)]
    pub(super) fn arrival_secured(&mut self, source: Source, at: PortId, tap: &mut impl Tap) {
        let Some(packet) = self.wires.arrived(source).copied() else { return };
        self.wires.finish(source);
        self.take_secured(at, &packet, tap);
    }

    /// Takes a frame whose last bit reaches a port now into its switch.
    pub(super) fn take_secured(
        &mut self,
        at: PortId,
        packet: &Packet,
        tap: &mut impl Tap,
    ) -> Delivered {
        let now = self.wires.now;
        let device = &mut self.switches[usize::from(at.switch)];
        match device.open(at.port.into(), packet) {
            Received::Gone => Delivered::Done,
            Received::Pfc(pfc, later) => {
                self.take_pfc(at, &pfc, later, tap);
                Delivered::Done
            }
            Received::Data(data) => {
                // Past a queue a frame would leave without a tag.
                let admitted = device.receive(now, at.port.into(), &data, false);
                self.follow(at, admitted, tap);
                match admitted {
                    Admitted::Gone | Admitted::Refused { .. } => Delivered::Done,
                    Admitted::Through { .. }
                    | Admitted::Queued { .. }
                    | Admitted::Delayed { .. } => Delivered::Held,
                }
            }
        }
    }

    /// Sends the next frame of a port that is free, past those that cannot be protected.
    #[cold]
    #[inline(never)]
    pub(super) fn start_secured(&mut self, at: PortId, tap: &mut impl Tap) {
        let now = self.wires.now;
        loop {
            let device = &mut self.switches[usize::from(at.switch)];
            // What is told to go on below may have used the port.
            if device.ports[usize::from(at.port)].free_at() > now {
                return;
            }
            let Some((choice, port)) = device.next(now, at.port.into()) else { return };
            let Some(packet) = port.front(choice).copied() else { return };
            let wiring = port.wiring;
            port.started(choice);
            let place = switch::place(&packet, at.port.into());
            let tagged = device.retagged(packet);
            let outgoing = device.protect(at.port.into(), &tagged);
            let resumed = match (packet.kind, &outgoing) {
                (PacketKind::Pfc, _) => None,
                (_, Some(_)) => device.left(now, place),
                (_, None) => device.unsent(now, place),
            };
            let is_sent = outgoing.is_some();
            if let Some(outgoing) = outgoing {
                let sent = self.wires.put(wiring.link, now, &outgoing);
                let device = &mut self.switches[usize::from(at.switch)];
                let port = &mut device.ports[usize::from(at.port)];
                port.busy = sent.free;
                let free = port.free_at();
                if (port.ready() || !self.shortcuts.fold) && port.send.set(free) {
                    self.wires.queue.push(free, wiring.send);
                }
                self.sent(wiring, packet.kind, sent, tap);
            }
            if let Some(resumed) = resumed {
                self.control_waits(port_id(at.switch, resumed), tap);
                while let Some(also) = self.switches[usize::from(at.switch)].also_resumed() {
                    self.control_waits(port_id(at.switch, also), tap);
                }
            }
            if is_sent {
                return;
            }
        }
    }
}
