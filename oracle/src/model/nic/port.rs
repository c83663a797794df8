//! A NIC behind a plug: what it sends and receives is the NIC's doing, when it may send is the port's.

use super::{Choice, Config, Flow, Nic, Verb};
use crate::model::host::{Device, Plug};
use crate::model::link::Link;
use crate::model::packet::{Packet, PacketKind};
use rig_capture::HostReport;
use rig_testcases::AppStep;
use rig_units::{Dur, Time};

/// A NIC and the frame that it sends next.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    nic: Box<Nic>,
    /// When the NIC does something by itself.
    wake: Time,
    planned: Choice,
}

impl Port {
    /// A NIC that sends nothing, host `host` of its network, on a port of `line` bits a second.
    pub(crate) fn new(host: u16, config: &Config, line: u64) -> Port {
        let nic = Box::new(Nic::new(host, config, line));
        Port { nic, wake: Time::MAX, planned: Choice::Answer }
    }

    /// The NIC, to look at.
    pub(crate) fn nic(&self) -> &Nic {
        &self.nic
    }

    pub(crate) fn start_flow(&mut self, plug: &mut Plug, now: Time, flow: &Flow) {
        self.nic.start(now, flow);
        self.turned(plug, now);
    }

    /// Learns of a step of an application.
    pub(crate) fn learn_step(&mut self, flow: &Flow, step: AppStep, (is_own, far): (bool, u16)) {
        self.nic.learn_step(flow, step, (is_own, far));
    }

    /// Its applications go on as far as they can.
    pub(crate) fn run_apps(&mut self, plug: &mut Plug, now: Time) {
        self.nic.run_apps(now);
        self.turned(plug, now);
    }

    pub(crate) fn stop_flow(&mut self, plug: &mut Plug, now: Time, id: u16) {
        self.nic.stop(id);
        self.turned(plug, now);
    }

    pub(crate) fn end_flow(&mut self, plug: &mut Plug, now: Time, id: u16) {
        self.nic.end(id);
        self.turned(plug, now);
    }

    /// What its host says since it was asked last.
    pub(crate) fn host_report(&mut self) -> Option<HostReport> {
        self.nic.host_report()
    }

    pub(crate) fn begin_at(&mut self, id: u16, from: u16, psn: u32) {
        self.nic.begin_at(id, from, psn);
    }

    pub(crate) fn expect(&mut self, id: u16, from: u16, mtu: u32) {
        self.nic.expect(id, from, mtu);
    }

    pub(crate) fn expect_requests(&mut self, id: u16, from: u16, verb: Verb) {
        self.nic.expect_requests(id, from, verb);
    }

    pub(crate) fn set(&mut self, plug: &mut Plug, now: Time, config: &Config) {
        self.nic.set(now, config);
        self.turned(plug, now);
    }

    /// Something was done to the NIC at `now`.
    #[inline]
    fn turned(&mut self, plug: &mut Plug, now: Time) {
        plug.clock = now;
        self.wake = self.nic.wake();
        self.choose(plug);
    }

    /// Chooses what starts next.
    #[inline]
    fn choose(&mut self, plug: &mut Plug) {
        let (starts, planned) = self.nic.plan(plug.ready(), plug.closed());
        self.planned = planned;
        plug.plan(starts);
    }

    /// Does what is due at `now` but the start of a frame.
    #[cold]
    #[inline(never)]
    fn stir(&mut self, plug: &mut Plug, now: Time) {
        if now == plug.gate {
            plug.on_gate(now);
            return self.choose(plug);
        }
        self.nic.on_wake(now);
        self.turned(plug, now);
    }

    /// The least time from the arrival of a frame of `kind` to a frame that leaves because of it, if one may.
    #[inline]
    fn reaction(&self, kind: PacketKind) -> Option<Dur> {
        let [on_acks, on_cnps] = self.nic.answers_answers();
        match kind {
            PacketKind::Ack => on_acks.then_some(Dur::ZERO),
            PacketKind::Cnp => on_cnps.then_some(Dur::ZERO),
            PacketKind::Data => Some(self.nic.reaction()),
            PacketKind::Nak | PacketKind::Pfc | PacketKind::ReadRequest | PacketKind::NotReady => {
                Some(Dur::ZERO)
            }
        }
    }
}

impl Device for Port {
    #[inline(always)]
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
        plug.clock = now;
        // Most acknowledgements change nothing of what is next.
        if self.nic.receive(now, packet) {
            self.turned(plug, now);
        }
        None
    }

    #[inline(always)]
    fn next(&self, _: usize, plug: &Plug) -> Time {
        plug.gate.min(self.wake).min(plug.starts)
    }

    #[inline(always)]
    fn wake(&mut self, _: usize, plug: &mut Plug, now: Time) -> Option<&Packet> {
        if now == plug.gate || now == self.wake {
            self.stir(plug, now);
            return None;
        }
        self.nic.begin(self.planned)
    }

    #[inline(always)]
    fn started(&mut self, _: usize, plug: &mut Plug, free: Time) {
        plug.started(free);
        if self.nic.sent(plug.clock, self.planned) {
            self.wake = self.nic.wake();
        }
        self.choose(plug);
    }

    fn resume(&mut self, _: usize, plug: &mut Plug, _: Time, _: u8) {
        self.choose(plug);
    }

    fn set_up(&mut self, _: usize, plug: &mut Plug, _: Time) {
        self.nic.cut_off();
        self.wake = self.nic.wake();
        self.choose(plug);
    }

    #[inline]
    fn seen(&mut self, until: Time) {
        self.nic.seen(until);
    }

    #[inline]
    fn foresee(&self, plug: &Plug, up: &Link, down: &Link) -> Time {
        let next = self.nic.next_size(self.planned).filter(|_| plug.starts != Time::MAX);
        let next = next.map(|size| up.arrival_of(plug.starts, size));
        // What arrives may be answered or lift a pause; what comes behind it may do so too, and sooner.
        let caused = down.front().and_then(|packet| {
            let heeds =
                self.reaction(PacketKind::Ack).or_else(|| self.reaction(PacketKind::Cnp)).is_some();
            (heeds || down.carries_more_than_answers())
                .then(|| up.arrival_of(packet.at.max(plug.busy), self.nic.least_size()))
        });
        let stirs = plug.gate.min(self.nic.stirs());
        let lifted = (stirs != Time::MAX).then(|| up.arrival_of(stirs, 0));
        next.into_iter().chain(caused).chain(lifted).min().unwrap_or(Time::MAX)
    }

    #[inline]
    fn consequence(&self, plug: &Plug, up: &Link, kind: PacketKind, arrives: Time) -> Option<Time> {
        let after = self.reaction(kind)?;
        Some(up.arrival_of((arrives + after).max(plug.busy), self.nic.least_size()))
    }
}
