//! What happens seldom: PFC at a switch, its timers, and the pipeline of a switch that has a forwarding delay.

use super::{Network, port_id};
use crate::model::packet::Packet;
use crate::model::queue::EventQueue;
use crate::model::tap::Tap;
use crate::model::topology::PortId;
use rig_units::Within;

impl<Q: EventQueue> Network<Q> {
    /// A PFC frame reached a port: it takes effect at once, or when the port has reacted.
    #[cold]
    #[inline(never)]
    pub(super) fn take_pfc(&mut self, at: PortId, pfc: &Packet, later: Within, tap: &mut impl Tap) {
        let device = &mut self.switches[usize::from(at.switch)];
        // Nobody listens where the chip stands still.
        if !device.hears(at.port.into()) {
            return;
        }
        let mac = &mut device.ports[usize::from(at.port)].mac;
        let opened = mac.on_late_pfc(self.wires.now, pfc, later);
        let passed_on = device.pass_on(at.port.into(), pfc);
        self.port_opened(at, opened, tap);
        let ports = self.switches[usize::from(at.switch)].port_count();
        for other in (0..ports).filter(|&other| passed_on && other != usize::from(at.port)) {
            self.port_send(port_id(at.switch, other), tap);
        }
    }

    /// A port received PFC, or a pause of it ended: goes on with the classes that may send again.
    #[cold]
    #[inline(never)]
    pub(super) fn port_opened(&mut self, at: PortId, opened: u8, tap: &mut impl Tap) {
        let port = &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)];
        if let Some(wake) = port.mac.wake_at()
            && port.gate.set(wake)
        {
            self.wires.queue.push(wake, port.wiring.gate);
        }
        if opened != 0 {
            self.port_send(at, tap);
        }
    }

    pub(super) fn gate(&mut self, at: PortId, tap: &mut impl Tap) {
        let port = &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)];
        port.gate.rang();
        let opened = port.mac.on_wake(self.wires.now);
        self.port_opened(at, opened, tap);
    }

    /// A PFC frame of the switch waits at a port.
    #[cold]
    #[inline(never)]
    pub(super) fn control_waits(&mut self, at: PortId, tap: &mut impl Tap) {
        self.port_send(at, tap);
        self.arm_refresh(at);
    }

    pub(super) fn refresh(&mut self, at: PortId, tap: &mut impl Tap) {
        let switch = &mut self.switches[usize::from(at.switch)];
        switch.ports[usize::from(at.port)].refresh.rang();
        if switch.on_refresh(self.wires.now, at.port.into()) {
            self.port_send(at, tap);
        }
        self.arm_refresh(at);
    }

    pub(super) fn arm_refresh(&mut self, at: PortId) {
        let switch = &mut self.switches[usize::from(at.switch)];
        let Some(wake) = switch.refresh_at(at.port.into()) else { return };
        let port = &mut switch.ports[usize::from(at.port)];
        if port.refresh.set(wake) {
            self.wires.queue.push(wake, port.wiring.refresh);
        }
    }

    pub(super) fn pipeline(&mut self, switch: u16, tap: &mut impl Tap) {
        let (to, next) = self.switches[usize::from(switch)].on_pipeline(self.wires.now);
        if let Some(at) = next {
            self.wires.queue.push(at, self.pipelines[usize::from(switch)]);
        }
        if let Some(to) = to {
            self.port_send(port_id(switch, to), tap);
        }
    }
}
