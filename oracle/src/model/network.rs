//! The engine: hosts, switches and cables, and the events that move frames between them.
//!
//! At one instant frames arrive first, then gates close and open, then XOFF is refreshed, then ports that became free
//! send: that is the order of the source ids, and within each kind the order of the topology.

use super::host::Host;
use super::packet::{Kind, Packet};
use super::queue::{EventQueue, Heap4, Source};
use super::switch::{Port, Received, Switch};
use super::tap::{Dir, Tap};
use super::topology::PortId;
use rig_units::Time;
use wires::Wires;

mod build;
mod control;
mod rare;
mod wires;

/// What an event source stands for.
#[derive(Debug, Clone, Copy)]
enum Wake {
    /// The first frame under way on a cable arrives at a host.
    HostArrival { host: u16 },
    /// The same at a switch.
    PortArrival(PortId),
    /// The first frame in a switch's pipeline reaches its queue.
    Pipeline { switch: u16 },
    /// A pause begins or ends at a host.
    HostGate { host: u16 },
    /// The same at a switch.
    PortGate(PortId),
    /// An XOFF is due again.
    Refresh(PortId),
    /// A host may have something to send.
    HostSend { host: u16 },
    /// A port became free and something waits.
    PortSend(PortId),
}

/// Two shortcuts of the engine. Neither may change a result; a test turns them off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// A frame skips the queue of an idle port.
    pub bypass: bool,
    /// No event when a port becomes free and nothing waits for it.
    pub fold: bool,
}

impl Default for Shortcuts {
    fn default() -> Shortcuts {
        Shortcuts { bypass: true, fold: true }
    }
}

/// How much the engine did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Frames of data put on a cable.
    pub data_hops: u64,
    /// Answers put on a cable.
    pub ack_hops: u64,
    /// PFC frames put on a cable.
    pub pfc_hops: u64,
    /// Events handled.
    pub events: u64,
}

impl Work {
    /// Frames of any kind put on a cable.
    pub const fn hops(&self) -> u64 {
        self.data_hops + self.ack_hops + self.pfc_hops
    }
}

/// Where the cable of a port or host starts, and the ids of its event sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wiring {
    /// The link that leads away; the one that leads here is `link ^ 1`.
    link: u16,
    gate: Source,
    refresh: Source,
    send: Source,
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
}

impl<Q: EventQueue> Network<Q> {
    /// The same network with other shortcuts.
    pub fn with_shortcuts(mut self, shortcuts: Shortcuts) -> Network<Q> {
        self.shortcuts = shortcuts;
        self
    }

    /// Handles every event before `until`, which becomes the present.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        while let Some((at, source)) = self.wires.queue.pop_before(until) {
            self.wires.now = at;
            self.wires.work.events += 1;
            self.handle(source, tap);
        }
        self.wires.now = self.wires.now.max(until);
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
            Wake::HostArrival { host } => self.host_arrival(source, host, tap),
            Wake::PortArrival(at) => self.port_arrival(source, at),
            Wake::HostSend { host } => {
                self.hosts[usize::from(host)].send.rang();
                self.host_send(host, tap);
            }
            Wake::PortSend(at) => {
                self.port(at).send.rang();
                self.port_send(at);
            }
            Wake::Pipeline { switch } => self.pipeline(switch),
            Wake::HostGate { host } => self.host_gate(host, tap),
            Wake::PortGate(at) => self.port_gate(at),
            Wake::Refresh(at) => self.refresh(at),
        }
    }

    #[inline]
    fn port(&mut self, at: PortId) -> &mut Port {
        &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)]
    }

    #[inline]
    fn host_arrival(&mut self, source: Source, host: u16, tap: &mut impl Tap) {
        let Some(packet) = self.wires.arrived(source) else { return };
        tap.frame(self.wires.now, host, Dir::Rx, packet);
        let at = &mut self.hosts[usize::from(host)];
        match packet.kind {
            Kind::Data => {
                let answer = at.answer(packet);
                self.wires.finish(source);
                if let Some(answer) = answer {
                    self.answer(host, &answer, tap);
                }
            }
            Kind::Ack => self.wires.finish(source),
            Kind::Pfc => {
                let opened = at.mac.on_pfc(self.wires.now, packet);
                self.wires.finish(source);
                self.host_opened(host, opened, tap);
            }
        }
    }

    #[inline]
    fn answer(&mut self, host: u16, answer: &Packet, tap: &mut impl Tap) {
        let at = &mut self.hosts[usize::from(host)];
        if !self.shortcuts.bypass || !at.is_idle(self.wires.now) {
            at.push(*answer);
            return self.host_send(host, tap);
        }
        let sent = self.wires.put(at.wiring.link, answer);
        at.busy = sent.free;
        tap.frame(sent.last_bit, host, Dir::Tx, answer);
        self.arm_host(host);
    }

    /// Sends what is due, if the port is free, and comes back for the rest.
    #[inline]
    fn host_send(&mut self, host: u16, tap: &mut impl Tap) {
        let at = &mut self.hosts[usize::from(host)];
        if at.busy <= self.wires.now
            && let Some((choice, packet)) = at.next(self.wires.now)
        {
            let sent = self.wires.put(at.wiring.link, packet);
            tap.frame(sent.last_bit, host, Dir::Tx, packet);
            at.started(choice);
            at.busy = sent.free;
        }
        self.arm_host(host);
    }

    /// Comes back when the host may have something to send.
    #[inline]
    fn arm_host(&mut self, host: u16) {
        let at = &mut self.hosts[usize::from(host)];
        let due = match at.due() {
            Some(due) => due.max(at.busy).max(self.wires.now),
            None if !self.shortcuts.fold && at.busy > self.wires.now => at.busy,
            None => return,
        };
        if at.send.set(due) {
            self.wires.queue.push(due, at.wiring.send);
        }
    }

    #[inline]
    fn port_arrival(&mut self, source: Source, at: PortId) {
        let Some(packet) = self.wires.arrived(source) else { return };
        let device = &mut self.switches[usize::from(at.switch)];
        if packet.kind == Kind::Pfc {
            let opened = device.ports[usize::from(at.port)].mac.on_pfc(self.wires.now, packet);
            self.wires.finish(source);
            return self.port_opened(at, opened);
        }
        let received =
            device.receive(self.wires.now, at.port.into(), packet, self.shortcuts.bypass);
        if let Received::Through { to } = received {
            let port = &mut device.ports[to];
            if let Some(sent) = self.wires.forward(source, port.wiring.link) {
                port.busy = sent.free;
                if !self.shortcuts.fold && port.send.set(sent.free) {
                    self.wires.queue.push(sent.free, port.wiring.send);
                }
            }
            return self.wires.finish(source);
        }
        self.wires.finish(source);
        self.follow(at, received);
    }

    /// Does what follows from a frame that a switch took in.
    #[inline]
    fn follow(&mut self, at: PortId, received: Received) {
        let (xoff, to) = match received {
            Received::Gone | Received::Through { .. } => return,
            Received::Queued { to, xoff } => (xoff, Some(to)),
            Received::Delayed { wake, xoff } => {
                if let Some(wake) = wake {
                    self.wires.queue.push(wake, self.pipelines[usize::from(at.switch)]);
                }
                (xoff, None)
            }
        };
        if xoff {
            self.control_waits(at);
        }
        if let Some(to) = to {
            self.port_send(port_id(at.switch, to));
        }
    }

    /// Sends the next frame of a port that is free, or comes back when it is.
    #[inline]
    fn port_send(&mut self, at: PortId) {
        let now = self.wires.now;
        let device = &mut self.switches[usize::from(at.switch)];
        let port = &mut device.ports[usize::from(at.port)];
        let mut resumed = None;
        if port.busy <= now {
            let wiring = port.wiring;
            let Some((choice, packet)) = port.next() else { return };
            let sent = self.wires.put(wiring.link, packet);
            port.busy = sent.free;
            resumed = device.started(now, at.port.into(), choice);
        }
        let port = &mut device.ports[usize::from(at.port)];
        if (port.ready() || !self.shortcuts.fold) && port.send.set(port.busy) {
            self.wires.queue.push(port.busy, port.wiring.send);
        }
        if let Some(resumed) = resumed {
            self.control_waits(port_id(at.switch, resumed));
        }
    }
}

#[inline]
fn port_id(switch: u16, port: usize) -> PortId {
    PortId { switch, port: u16::try_from(port).unwrap_or(u16::MAX) }
}
