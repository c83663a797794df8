//! What a runner and a watchdog do to a network from outside, at the present instant, and what they read.
//!
//! Nothing is sent within these calls: a port that may send because of them does so in the next run.

use super::late::at;
use super::{Network, Wake, port_id};
use crate::model::buffer::Limit;
use crate::model::counters::QueueView;
use crate::model::host::{Host, Plug, RigPort, Security, Storm, Stream};
use crate::model::packet::{Packet, PacketKind};
use crate::model::queue::EventQueue;
use crate::model::switch::{self, Received, Switch};
use crate::model::tap::Tap;
use crate::model::topology::PortId;
use crate::model::wred;
use rig_units::{Dur, Time, Within};

/// What became of a frame that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// It is in the device, on its way to another port.
    Held,
    /// Nothing is left of it: it was dropped, or it was PFC.
    Done,
}

/// The rig's ports. To ask this of anything else is a mistake of the caller's.
impl<Q: EventQueue> Network<Q> {
    fn rig_port(&mut self, host: u16) -> (&mut RigPort, &mut Plug) {
        let (port, plug, node) = at(&mut self.hosts, host.into());
        (node.rig_port(port).expect("streams, storms and frames leave by ports of the rig"), plug)
    }

    /// Starts a stream; its first frame is due now.
    pub fn start_stream(&mut self, host: u16, stream: &Stream) {
        let now = self.wires.now;
        let (port, plug) = self.rig_port(host);
        port.start_stream(plug, now, stream);
        self.arm_host(host);
    }

    /// Stops a stream of `host` by its id. A frame in flight is finished.
    pub fn stop_stream(&mut self, host: u16, id: u16) {
        let (port, plug) = self.rig_port(host);
        port.stop_stream(plug, id);
    }

    /// Starts a storm; its first frame is due now.
    pub fn start_storm(&mut self, host: u16, storm: &Storm) {
        let now = self.wires.now;
        let (port, plug) = self.rig_port(host);
        port.start_storm(plug, now, storm);
        self.arm_host(host);
    }

    /// Stops a storm of `host` by its id. A frame in flight is finished.
    pub fn stop_storm(&mut self, host: u16, id: u16) {
        let (port, plug) = self.rig_port(host);
        port.stop_storm(plug, id);
    }

    /// Sends one frame ahead of all streams of `host`.
    pub fn send(&mut self, host: u16, packet: Packet) {
        let now = self.wires.now;
        let (port, plug) = self.rig_port(host);
        port.push(plug, now, packet);
        self.arm_host(host);
    }

    /// Lets `host` obey PFC in the classes `obeys` from now on, as soon as before. Pauses go on.
    pub(crate) fn enable_pfc(&mut self, host: u16, obeys: u8) {
        let now = self.wires.now;
        let (port, plug, node) = at(&mut self.hosts, host.into());
        let opened = plug.enable(now, obeys);
        if let Some(device) = node.device() {
            device.resume(port, plug, now, opened);
        }
        self.arm_host(host);
    }

    /// Lets `host` obey PFC in the classes `obeys` only, `response` after the last bit of a frame. Pauses go on.
    pub fn obey(&mut self, host: u16, obeys: u8, response: Dur) {
        let now = self.wires.now;
        let (port, plug, node) = at(&mut self.hosts, host.into());
        let opened = plug.obey(now, obeys, response);
        if let Some(device) = node.device() {
            device.resume(port, plug, now, opened);
        }
        self.arm_host(host);
    }

    /// Lets `host` speak MACsec from the next frame on, or no more. Frames under way stay as they are.
    pub fn secure(&mut self, host: u16, security: Option<Security>) {
        let (port, plug) = self.rig_port(host);
        port.secure(security);
        let link = usize::from(plug.link);
        // The far end is whom the frames of the host arrive at.
        if let Wake::Uplink { at, .. } = self.sources[link]
            && security.is_some()
        {
            self.switches[usize::from(at.switch)].expect_tags();
        }
    }

    /// Lets `host` go on with another association, from packet number 1. Nothing happens where it does not speak MACsec.
    pub fn rekey(&mut self, host: u16, an: u8) {
        self.rig_port(host).0.rekey(an);
    }

    /// Lets `host` answer each frame of data with an acknowledgement of so many bytes from now on, or not.
    pub fn answer(&mut self, host: u16, size: Option<u16>) {
        self.rig_port(host).0.set_answer(size);
        self.arm_host(host);
    }

    /// Cuts or mends the cable of `host`. Frames under way are lost, pauses at both ends forgotten, frames that wait at
    /// the switch's port or arrive for it dropped; the host stands still until it is mended.
    pub fn set_link(&mut self, host: u16, up: bool) {
        let link = usize::from(self.hosts[usize::from(host)].plug.link);
        for direction in &mut self.wires.cables[link / 2] {
            direction.set_up(up);
        }
        self.set_host_up(host, up);
        // The far end is whom the frames of the host arrive at.
        let at = match self.sources[link] {
            Wake::Uplink { at, .. } => at,
            Wake::Host { host: far } => {
                return self.set_host_up(far, up);
            }
            _ => return,
        };
        let switch = &mut self.switches[usize::from(at.switch)];
        if up {
            switch.relinked(at.port.into());
            if switch.link_up(self.wires.now, at.port.into()) {
                self.wake_port(at);
            }
        } else {
            for port in switch.link_down(self.wires.now, at.port.into()) {
                self.wake_port(port_id(at.switch, port));
            }
        }
    }
}

impl<Q: EventQueue> Network<Q> {
    /// Stops the chip of a switch, or starts it. One that stands still loses what waits in it and whatever comes, hears no PFC and sends
    /// nothing; started it has forgotten who paused it. Its cables carry light all the while.
    pub fn set_chip(&mut self, switch: u16, on: bool) {
        let now = self.wires.now;
        let ports = self.switches[usize::from(switch)].port_count();
        for port in 0..ports {
            let device = &mut self.switches[usize::from(switch)];
            if !on {
                device.link_down(now, port);
            } else if device.link_up(now, port) {
                self.wake_port(port_id(switch, port));
            }
        }
        if !on {
            // Senders whose frames are gone are not told so.
            self.switches[usize::from(switch)].forget_control();
        }
    }

    /// Shuts a port of a switch, or opens it. One that is shut loses what waits for it and whatever comes, and has forgotten who paused it;
    /// its peer is not told.
    pub fn set_port(&mut self, at: PortId, open: bool) {
        let now = self.wires.now;
        let switch = &mut self.switches[usize::from(at.switch)];
        if open {
            switch.opened(at.port.into());
            if switch.link_up(now, at.port.into()) {
                self.wake_port(at);
            }
        } else {
            for port in switch.link_down(now, at.port.into()) {
                self.wake_port(port_id(at.switch, port));
            }
        }
    }

    fn set_host_up(&mut self, host: u16, up: bool) {
        let now = self.wires.now;
        let (port, plug, node) = at(&mut self.hosts, host.into());
        plug.set_up(now, up);
        if let Some(device) = node.device() {
            device.set_up(port, plug, now);
        }
        self.arm_host(host);
    }
}

/// What a watchdog does to one class of one port.
impl<Q: EventQueue> Network<Q> {
    /// Takes PFC off a class, or puts it back: the queue sends whatever pauses arrive (they are counted all the same),
    /// and the port asks nobody to pause, without a last XON for what it had asked.
    pub fn ignore_pfc(&mut self, at: impl Into<PortId>, class: u8, on: bool) {
        let at = at.into();
        let switch = &mut self.switches[usize::from(at.switch)];
        if switch.ignore_pfc(self.wires.now, at.port.into(), class, on) {
            self.wake_port(at);
        }
    }

    /// Drops frames of a class that arrive at the port, or stops doing so.
    pub fn drop_ingress(&mut self, at: impl Into<PortId>, class: u8, on: bool) {
        let at = at.into();
        self.switches[usize::from(at.switch)].drop_ingress(at.port.into(), class, on);
    }

    /// Drops frames that arrive for a queue of the port, or stops doing so. What is queued stays.
    pub fn drop_egress(&mut self, at: impl Into<PortId>, queue: u8, on: bool) {
        let at = at.into();
        self.switches[usize::from(at.switch)].drop_egress(at.port.into(), queue, on);
    }

    /// Lets so many more frames of a class through what [`drop_ingress`](Self::drop_ingress) and
    /// [`drop_egress`](Self::drop_egress) of this port would take: a device whose drop leaks.
    pub fn leak(&mut self, at: impl Into<PortId>, class: u8, frames: u32) {
        let at = at.into();
        self.switches[usize::from(at.switch)].leak(at.port.into(), class, frames);
    }

    /// Throws away what is queued; how many frames. They count as dropped, and senders that they had paused resume.
    pub fn discard_backlog(&mut self, at: impl Into<PortId>, queue: u8) -> u64 {
        let at = at.into();
        let switch = &mut self.switches[usize::from(at.switch)];
        let discarded = switch.discard_backlog(self.wires.now, at.port.into(), queue);
        for port in discarded.resumed {
            self.wake_port(port_id(at.switch, port));
        }
        discarded.packets
    }

    /// Keeps the sender at the port paused in a class, refreshed as long as it lasts, or lets it follow congestion
    /// again.
    pub fn hold_xoff(&mut self, at: impl Into<PortId>, class: u8, on: bool) {
        let at = at.into();
        let switch = &mut self.switches[usize::from(at.switch)];
        if switch.hold_xoff(self.wires.now, at.port.into(), class, on) {
            self.wake_port(at);
        }
    }

    /// Gives a lossless priority group another `dynamic_th`: 2^k times what is left of the pool, from the next frame on.
    pub fn set_alpha(&mut self, at: impl Into<PortId>, group: u8, k: i8) {
        let at = at.into();
        let limit = Limit::Dynamic(k);
        self.switches[usize::from(at.switch)].set_group_limit(at.port.into(), group, limit);
    }

    /// Gives a switch another configuration of early detection, from the next frame on.
    pub fn set_wred(&mut self, switch: u16, config: &wred::Config) {
        self.switches[usize::from(switch)].set_wred(config);
    }

    /// Gives a switch another configuration of MACsec, from the next frame on.
    pub fn set_macsec(&mut self, switch: u16, config: &switch::Config) {
        self.switches[usize::from(switch)].set_macsec(self.wires.now, config);
    }

    /// Makes every watermark of a switch what is in use now.
    pub fn clear_watermarks(&mut self, switch: u16) {
        self.switches[usize::from(switch)].clear_watermarks();
    }

    /// A frame of the outside world whose last bit reaches a port now: how a device on real ports is fed. Whether the
    /// device holds it now, or has dropped it already or used it up.
    pub fn deliver(
        &mut self,
        at: impl Into<PortId>,
        packet: Packet,
        tap: &mut impl Tap,
    ) -> Delivered {
        let at = at.into();
        let device = &mut self.switches[usize::from(at.switch)];
        if device.secured || packet.is_secured() {
            return self.take_secured(at, &packet, tap);
        }
        if packet.kind == PacketKind::Pfc {
            self.take_pfc(at, &packet, Within::ZERO, tap);
            return Delivered::Done;
        }
        let received = device.receive(self.wires.now, at.port.into(), &packet, false);
        self.follow(at, received, tap);
        match received {
            Received::Gone | Received::Refused { .. } => Delivered::Done,
            Received::Through { .. } | Received::Queued { .. } | Received::Delayed { .. } => {
                Delivered::Held
            }
        }
    }

    /// Lets a port look, now, for what it may send.
    fn wake_port(&mut self, at: PortId) {
        let now = self.wires.now;
        let port = &mut self.switches[usize::from(at.switch)].ports[usize::from(at.port)];
        let due = port.free_at().max(now);
        if port.send.set(due) {
            self.wires.queue.push(due, port.wiring.send);
        }
        self.arm_refresh(at);
    }
}

/// What can be read.
impl<Q: EventQueue> Network<Q> {
    /// The present.
    pub const fn now(&self) -> Time {
        self.wires.now
    }

    /// When something may happen next by itself, the arrival of a frame at a host included.
    pub fn next_event(&self) -> Option<Time> {
        let steps = self.hosts.iter().map(|host| self.next_step(host));
        steps.chain(self.wires.queue.next()).min().filter(|&at| at != Time::MAX)
    }

    /// What a poller reads of one queue now.
    pub fn queue_view(&self, at: impl Into<PortId>, queue: u8) -> QueueView {
        let at = at.into();
        self.switches[usize::from(at.switch)].queue_view(at.port, queue, self.wires.now)
    }

    /// Every counter of a switch under its SAI name, in the order of the names.
    pub fn snapshot(&self, switch: u16) -> impl Iterator<Item = (&str, u64)> {
        self.switches[usize::from(switch)].snapshot(self.wires.now)
    }

    /// One of them; `None` when there is no such counter.
    pub fn counter(&self, switch: u16, name: &str) -> Option<u64> {
        self.switches[usize::from(switch)].counter(name, self.wires.now)
    }

    /// A switch, to look at.
    pub fn switch(&self, switch: u16) -> &Switch {
        &self.switches[usize::from(switch)]
    }

    /// A host, to look at.
    pub fn host(&self, host: u16) -> &Host {
        &self.hosts[usize::from(host)]
    }
}
