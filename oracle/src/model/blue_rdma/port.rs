//! A NIC of blue-rdma behind a plug: when it may send is the port's doing.

use super::{Config, Log, Nic};
use crate::model::host::{Device, Plug};
use crate::model::nic::Flow;
use crate::model::packet::{Packet, PacketKind};
use rig_units::Time;

/// A NIC and the frame that it sends.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    nic: Box<Nic>,
    /// What is next to leave, as the NIC says it.
    planned: Option<Option<u16>>,
    /// What leaves now.
    leaving: Option<Packet>,
}

impl Port {
    /// A NIC that sends nothing, host `host` of its network.
    pub(crate) fn new(host: u16, config: &Config) -> Port {
        Port { nic: Box::new(Nic::new(host, config)), planned: None, leaving: None }
    }

    /// Says what it says in the log of its network.
    pub(crate) fn share(&mut self, log: &Log) {
        self.nic.log = log.clone();
    }

    pub(crate) fn start_flow(&mut self, plug: &mut Plug, now: Time, flow: &Flow) {
        self.nic.start(now, flow);
        self.turned(plug, now);
    }

    pub(crate) fn stop_flow(&mut self, plug: &mut Plug, now: Time, id: u16) {
        self.nic.stop(id);
        self.turned(plug, now);
    }

    pub(crate) fn expect(&mut self, host: u16, flow: &Flow) {
        self.nic.expect(host, flow);
    }

    /// What its driver has counted, by name.
    pub(crate) fn counters(&self) -> [(&'static str, u64); 2] {
        self.nic.counters()
    }

    pub(crate) fn set(&mut self, config: &Config) {
        self.nic.set(config);
    }

    /// Something was done to the NIC at `now`.
    fn turned(&mut self, plug: &mut Plug, now: Time) {
        plug.clock = now;
        self.choose(plug);
    }

    /// Chooses what starts next.
    fn choose(&mut self, plug: &mut Plug) {
        self.planned = self.nic.next(plug.closed());
        plug.plan(self.planned.map_or(Time::MAX, |_| plug.ready()));
    }
}

impl Device for Port {
    fn arrive(
        &mut self,
        _: usize,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        _: bool,
    ) -> Option<Packet> {
        if packet.kind == PacketKind::Pfc {
            plug.on_pfc(now, packet);
            self.choose(plug);
            return None;
        }
        self.nic.receive(now, packet);
        self.turned(plug, now);
        None
    }

    fn next(&self, _: usize, plug: &Plug) -> Time {
        plug.gate.min(self.nic.wake()).min(plug.starts)
    }

    fn wake(&mut self, _: usize, plug: &mut Plug, now: Time) -> Option<&Packet> {
        if now == plug.gate {
            plug.on_gate(now);
            self.choose(plug);
            return None;
        }
        if now == self.nic.wake() {
            self.nic.on_wake(now);
            self.turned(plug, now);
            return None;
        }
        self.leaving = self.planned.and_then(|next| self.nic.begin(now, next));
        self.leaving.as_ref()
    }

    fn started(&mut self, _: usize, plug: &mut Plug, free: Time) {
        plug.started(free);
        self.choose(plug);
    }

    fn resume(&mut self, _: usize, plug: &mut Plug, _: Time, _: u8) {
        self.choose(plug);
    }

    fn set_up(&mut self, _: usize, plug: &mut Plug, _: Time) {
        self.nic.cut_off();
        self.choose(plug);
    }
}
