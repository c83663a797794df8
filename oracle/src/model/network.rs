//! The engine: hosts, switches and cables, and the events that move frames between them.
//!
//! At one instant frames arrive first, then gates close and open, then XOFF is refreshed, then ports that became free
//! send: that is the order of the source ids, and within each kind the order of the topology.

use super::host::Host;
use super::link::{Link, Sent};
use super::packet::{Kind, Packet};
use super::queue::{EventQueue, Heap4, Source};
use super::switch::{Received, Switch};
use super::tap::{Dir, Tap};
use super::topology::PortId;
use rig_units::Time;

mod build;
mod control;
mod rare;

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
#[derive(Debug, Clone, Copy)]
struct Wiring {
    /// The link that leads away; the one that leads here is `link ^ 1`. A port without a cable has one that is down.
    link: u16,
    gate: Source,
    refresh: Source,
    send: Source,
}

/// Hosts, switches and the cables between them, in virtual time.
#[derive(Debug)]
pub struct Network<Q = Heap4> {
    now: Time,
    queue: Q,
    sources: Vec<Wake>,
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    links: Vec<Link>,
    host_wiring: Vec<Wiring>,
    port_wiring: Vec<Vec<Wiring>>,
    pipelines: Vec<Source>,
    shortcuts: Shortcuts,
    work: Work,
}

impl<Q: EventQueue> Network<Q> {
    /// The same network with other shortcuts.
    pub fn with_shortcuts(mut self, shortcuts: Shortcuts) -> Network<Q> {
        self.shortcuts = shortcuts;
        self
    }

    /// Handles every event before `until`, which becomes the present.
    pub fn run_until(&mut self, until: Time, tap: &mut impl Tap) {
        while let Some((at, source)) = self.queue.pop_before(until) {
            self.now = at;
            self.work.events += 1;
            self.handle(source, tap);
        }
        self.now = self.now.max(until);
    }

    /// Handles every event up to and at `last`, which becomes the present: a poller at that instant sees the frame that
    /// arrives at it.
    pub fn run_through(&mut self, last: Time, tap: &mut impl Tap) {
        while let Some((at, source)) = self.queue.pop_before(Time(last.0.saturating_add(1))) {
            self.now = at;
            self.work.events += 1;
            self.handle(source, tap);
        }
        self.now = self.now.max(last);
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
                let PortId { switch, port } = at;
                self.switches[usize::from(switch)].ports[usize::from(port)].send.rang();
                self.port_send(at);
            }
            Wake::Pipeline { switch } => self.pipeline(switch),
            Wake::HostGate { host } => self.host_gate(host, tap),
            Wake::PortGate(at) => self.port_gate(at),
            Wake::Refresh(at) => self.refresh(at),
        }
    }

    #[inline]
    fn take_from_cable(&mut self, source: Source) -> Option<Packet> {
        // Source ids start with the cables.
        let (packet, next) = self.links[usize::from(source)].receive(self.now);
        if let Some(at) = next {
            self.queue.push(at, source);
        }
        packet
    }

    #[inline]
    fn put_on_cable(&mut self, link: u16, packet: Packet) -> Sent {
        match packet.kind {
            Kind::Data => self.work.data_hops += 1,
            Kind::Ack => self.work.ack_hops += 1,
            Kind::Pfc => self.work.pfc_hops += 1,
        }
        let sent = self.links[usize::from(link)].send(self.now, packet);
        if let Some(at) = sent.wake {
            self.queue.push(at, link);
        }
        sent
    }

    #[inline]
    fn host_arrival(&mut self, source: Source, host: u16, tap: &mut impl Tap) {
        let Some(packet) = self.take_from_cable(source) else { return };
        tap.frame(self.now, host, Dir::Rx, &packet);
        let at = &mut self.hosts[usize::from(host)];
        match packet.kind {
            Kind::Data => {
                if at.answer(&packet) {
                    self.host_send(host, tap);
                }
            }
            Kind::Ack => {}
            Kind::Pfc => {
                let opened = at.mac.on_pfc(self.now, &packet);
                self.host_opened(host, opened, tap);
            }
        }
    }

    /// Sends what is due, if the port is free, and comes back for the rest.
    #[inline]
    fn host_send(&mut self, host: u16, tap: &mut impl Tap) {
        let now = self.now;
        let at = &mut self.hosts[usize::from(host)];
        let wiring = self.host_wiring[usize::from(host)];
        if at.busy <= now
            && let Some(packet) = at.next(now)
        {
            let sent = self.put_on_cable(wiring.link, packet);
            tap.frame(sent.last_bit, host, Dir::Tx, &packet);
            let at = &mut self.hosts[usize::from(host)];
            at.busy = sent.free;
            if !self.shortcuts.fold && at.send.set(sent.free) {
                self.queue.push(sent.free, wiring.send);
            }
        }
        self.arm_host(host);
    }

    #[inline]
    fn arm_host(&mut self, host: u16) {
        let at = &mut self.hosts[usize::from(host)];
        let Some(due) = at.due() else { return };
        let due = due.max(at.busy).max(self.now);
        if at.send.set(due) {
            self.queue.push(due, self.host_wiring[usize::from(host)].send);
        }
    }

    #[inline]
    fn port_arrival(&mut self, source: Source, at: PortId) {
        let Some(packet) = self.take_from_cable(source) else { return };
        self.enter_switch(at, packet);
    }

    #[inline]
    fn enter_switch(&mut self, at: PortId, packet: Packet) {
        let PortId { switch, port } = at;
        let device = &mut self.switches[usize::from(switch)];
        if packet.kind == Kind::Pfc {
            let opened = device.ports[usize::from(port)].mac.on_pfc(self.now, &packet);
            return self.port_opened(at, opened);
        }
        let (xoff, to) = match device.receive(self.now, port.into(), packet, self.shortcuts.bypass)
        {
            Received::Gone => return,
            Received::Through { to, packet } => {
                return self.leave(self.port_id(switch, to), packet);
            }
            Received::Queued { to, xoff } => (xoff, Some(to)),
            Received::Delayed { wake, xoff } => {
                if let Some(at) = wake {
                    self.queue.push(at, self.pipelines[usize::from(switch)]);
                }
                (xoff, None)
            }
        };
        if xoff {
            self.control_waits(at);
        }
        if let Some(to) = to {
            self.port_send(self.port_id(switch, to));
        }
    }

    /// Sends the next frame of a port that is free, or comes back when it is.
    #[inline]
    fn port_send(&mut self, at: PortId) {
        let PortId { switch, port } = at;
        let now = self.now;
        let device = &mut self.switches[usize::from(switch)];
        let busy = device.ports[usize::from(port)].busy;
        if busy > now {
            return self.arm_port(at, busy);
        }
        let Some(leaving) = device.transmit(now, port.into()) else { return };
        self.leave(at, leaving.packet);
        if let Some(resumed) = leaving.resumed {
            self.control_waits(self.port_id(switch, resumed));
        }
    }

    /// Puts a frame on the cable of a free port.
    #[inline]
    fn leave(&mut self, at: PortId, packet: Packet) {
        let PortId { switch, port } = at;
        let wiring = self.port_wiring[usize::from(switch)][usize::from(port)];
        let free = self.put_on_cable(wiring.link, packet).free;
        let from = &mut self.switches[usize::from(switch)].ports[usize::from(port)];
        from.busy = free;
        if (from.ready() || !self.shortcuts.fold) && from.send.set(free) {
            self.queue.push(free, wiring.send);
        }
    }

    /// Comes back at `busy`, if a frame waits that may go.
    #[inline]
    fn arm_port(&mut self, at: PortId, busy: Time) {
        let PortId { switch, port } = at;
        let from = &mut self.switches[usize::from(switch)].ports[usize::from(port)];
        if from.ready() && from.send.set(busy) {
            self.queue.push(busy, self.port_wiring[usize::from(switch)][usize::from(port)].send);
        }
    }

    #[inline]
    fn port_id(&self, switch: u16, port: usize) -> PortId {
        PortId { switch, port: u16::try_from(port).unwrap_or(u16::MAX) }
    }
}
