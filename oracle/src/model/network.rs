//! The engine: hosts, switches and cables, and the events that move frames between them.
//!
//! At one instant frames arrive first, then gates close and open, then XOFF is refreshed, then ports that became free
//! send: that is the order of the source ids, and within each kind the order of the topology.

use super::blue_rdma::Log;
use super::host::{Host, NO_HOST};
use super::link::Sent;
use super::packet::{Packet, PacketKind};
use super::queue::{EventQueue, Heap4, Source};
use super::switch::{self, Received, Switch};
use super::tap::Tap;
use super::topology::PortId;
use rig_units::{Time, Within};
use wires::Wires;
use wiring::Wiring;

mod books;
mod build;
mod control;
mod late;
mod middlebox;
mod nics;
mod rare;
mod secured;
mod wires;
pub(in crate::model) mod wiring;

pub use books::Work;
pub use control::Delivered;

/// What an event source stands for.
#[derive(Debug, Clone, Copy)]
enum Wake {
    /// A frame of a host may arrive at its switch. The host is brought up to date first.
    Uplink { host: u16, at: PortId },
    /// A host has something to do, if it is not to be late. On a cable between hosts none is, nor one of several ports.
    Host { host: u16 },
    /// The first frame under way between two switches arrives.
    Trunk(PortId),
    /// The first frame in a switch's pipeline reaches its queue.
    Pipeline { switch: u16 },
    /// A pause begins or ends at a switch's port.
    Gate(PortId),
    /// An XOFF is due again.
    Refresh(PortId),
    /// A port became free and something waits.
    Send(PortId),
}

/// Shortcuts of the engine. None may change a result; a test turns them off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// A frame skips the queue of an idle port.
    pub bypass: bool,
    /// No event when a port becomes free and nothing waits for it.
    pub fold: bool,
    /// Hosts are brought up to date when one of their frames may arrive at a switch, not at each of their steps.
    pub late_hosts: bool,
}

impl Default for Shortcuts {
    fn default() -> Shortcuts {
        Shortcuts { bypass: true, fold: true, late_hosts: true }
    }
}

/// Hosts, switches and the cables between them, in virtual time.
#[derive(Debug)]
pub struct Network<Q = Heap4> {
    wires: Wires<Q>,
    sources: Vec<Wake>,
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    pipelines: Vec<Source>,
    shortcuts: Shortcuts,
    /// What frames say that have no room for it.
    log: Log,
}

impl<Q: EventQueue> Network<Q> {
    /// The same network with other shortcuts.
    pub fn with_shortcuts(mut self, shortcuts: Shortcuts) -> Network<Q> {
        self.shortcuts = shortcuts;
        self
    }

    /// Handles every event before `until`, which becomes the present.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        while !tap.is_over()
            && let Some((at, source)) = self.wires.queue.pop_before(until)
        {
            self.wires.now = at;
            self.wires.events += 1;
            self.handle(source, tap);
        }
        if tap.is_over() {
            return;
        }
        self.wires.now = self.wires.now.max(until);
        for host in 0..self.hosts.len() {
            self.catch_up(host, until, tap);
        }
    }

    /// Handles every event up to and at `last`, which becomes the present: a poller at that instant sees the frame that
    /// arrives at it.
    pub fn run_through(&mut self, last: Time, tap: &mut impl Tap) {
        let before = self.wires.now;
        self.run_until(Time(last.0.saturating_add(1)), tap);
        self.wires.now = before.max(last);
    }

    #[inline]
    fn handle(&mut self, source: Source, tap: &mut impl Tap) {
        match self.sources[usize::from(source)] {
            Wake::Uplink { host, at } => {
                self.hosts[usize::from(host)].plug.uplink.rang();
                self.advance(host.into(), self.wires.now, tap);
                self.arrival(source, at, tap);
                self.arm_host(host);
            }
            Wake::Trunk(at) => {
                self.arrival(source, at, tap);
                let next = self.wires.look(source).next_arrival();
                if next != Time::MAX {
                    self.wires.queue.push(next, source);
                }
            }
            Wake::Send(at) => {
                let port = &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)];
                port.send.rang();
                if port.free_at() <= self.wires.now {
                    self.port_start(at, tap);
                } else {
                    self.port_send(at, tap);
                }
            }
            Wake::Host { host } => self.host_step(host, tap),
            Wake::Pipeline { switch } => self.pipeline(switch, tap),
            Wake::Gate(at) => self.gate(at, tap),
            Wake::Refresh(at) => self.refresh(at, tap),
        }
    }

    /// Takes the frame that arrives now over a cable into a switch.
    #[inline(always)]
    fn arrival(&mut self, source: Source, at: PortId, tap: &mut impl Tap) {
        let Some(packet) = self.wires.arrived(source) else { return };
        let device = &mut self.switches[usize::from(at.switch)];
        if device.secured {
            return self.arrival_secured(source, at, tap);
        }
        if packet.kind == PacketKind::Pfc {
            let pfc = *packet;
            self.wires.finish(source);
            return self.take_pfc(at, &pfc, Within::ZERO, tap);
        }
        let received =
            device.receive(self.wires.now, at.port.into(), packet, self.shortcuts.bypass);
        let Received::Through { to } = received else {
            self.wires.finish(source);
            return self.follow(at, received, tap);
        };
        let packet = *packet;
        self.wires.finish(source);
        self.leave(port_id(at.switch, to), &packet, tap);
    }

    /// Puts a frame on the cable of a free port.
    #[inline]
    fn leave(&mut self, at: PortId, packet: &Packet, tap: &mut impl Tap) {
        let port = &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)];
        let wiring = port.wiring;
        let sent = self.wires.put(wiring.link, self.wires.now, packet);
        port.busy = sent.free;
        if !self.shortcuts.fold && port.send.set(port.free_at()) {
            self.wires.queue.push(port.send.earliest(), wiring.send);
        }
        self.sent(wiring, packet.kind, sent, tap);
    }

    /// Sees to it that a frame that a switch put on a cable is met at the other end.
    #[inline]
    fn sent(&mut self, wiring: Wiring, kind: PacketKind, sent: Sent, tap: &mut impl Tap) {
        if wiring.host != NO_HOST {
            self.toward_host(wiring.host, kind, sent.arrives, tap);
        } else if sent.first {
            self.wires.queue.push(sent.arrives, wiring.link);
        }
    }

    /// Does what follows from a frame that a switch took in.
    #[inline]
    fn follow(&mut self, at: PortId, received: Received, tap: &mut impl Tap) {
        let (xoff, to) = match received {
            Received::Gone | Received::Through { .. } => return,
            Received::Refused { xoff } => (xoff, None),
            Received::Queued { to, xoff } => (xoff, Some(to)),
            Received::Delayed { wake, xoff } => {
                if let Some(wake) = wake {
                    self.wires.queue.push(wake, self.pipelines[usize::from(at.switch)]);
                }
                (xoff, None)
            }
        };
        if xoff {
            self.control_waits(at, tap);
        }
        if let Some(to) = to {
            self.port_send(port_id(at.switch, to), tap);
        }
    }

    /// Sends the next frame of a port that is free, or comes back when it is.
    #[inline]
    fn port_send(&mut self, at: PortId, tap: &mut impl Tap) {
        let device = &mut self.switches[usize::from(at.switch)];
        let port = &mut device.ports[usize::from(at.port)];
        if port.is_free(self.wires.now) {
            self.port_start(at, tap);
        } else if port.ready() && port.send.set(port.free_at()) {
            self.wires.queue.push(port.send.earliest(), port.wiring.send);
        }
    }

    /// Sends the next frame of a port that is free.
    #[inline(never)]
    fn port_start(&mut self, at: PortId, tap: &mut impl Tap) {
        let now = self.wires.now;
        let device = &mut self.switches[usize::from(at.switch)];
        if device.secured {
            return self.start_secured(at, tap);
        }
        let Some((choice, port)) = device.next(now, at.port.into()) else { return };
        let wiring = port.wiring;
        let Some(packet) = port.front(choice) else { return };
        let kind = packet.kind;
        let place = switch::place(packet, at.port.into());
        let sent = self.wires.put(wiring.link, now, packet);
        port.busy = sent.free;
        port.started(choice);
        if (port.ready() || !self.shortcuts.fold) && port.send.set(port.free_at()) {
            self.wires.queue.push(port.send.earliest(), wiring.send);
        }
        let resumed = if kind == PacketKind::Pfc { None } else { device.left(now, place) };
        self.sent(wiring, kind, sent, tap);
        if let Some(resumed) = resumed {
            self.control_waits(port_id(at.switch, resumed), tap);
            while let Some(also) = self.switches[usize::from(at.switch)].also_resumed() {
                self.control_waits(port_id(at.switch, also), tap);
            }
        }
    }
}

#[inline]
fn port_id(switch: u16, port: usize) -> PortId {
    PortId { switch, port: u16::try_from(port).unwrap_or(u16::MAX) }
}
