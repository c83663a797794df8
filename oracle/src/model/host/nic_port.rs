//! A host that is a NIC: what it sends and receives is the NIC's doing, when it may send is the port's.

use super::Host;
use crate::model::nic::{Config, Flow, Nic};
use crate::model::packet::{Kind, Packet};
use rig_units::{Dur, Time};

impl Host {
    /// Whether it is a NIC.
    #[inline]
    pub(crate) const fn is_nic(&self) -> bool {
        self.nic.is_some()
    }

    /// The NIC that it is.
    pub fn nic(&self) -> Option<&Nic> {
        self.nic.as_deref()
    }

    /// Does something to the NIC at `now`, if it is one.
    fn at_nic(&mut self, now: Time, act: impl FnOnce(&mut Nic)) {
        self.clock = now;
        if let Some(nic) = &mut self.nic {
            act(nic);
            self.nic_wake = nic.wake();
        }
        self.choose();
    }

    pub(crate) fn start_flow(&mut self, now: Time, flow: &Flow) {
        assert!(self.is_nic(), "a flow starts at a NIC");
        self.at_nic(now, |nic| nic.start(now, flow));
    }

    pub(crate) fn stop_flow(&mut self, now: Time, id: u16) {
        self.at_nic(now, |nic| nic.stop(id));
    }

    pub(crate) fn expect(&mut self, id: u16, from: u16, mtu: u32) {
        if let Some(nic) = &mut self.nic {
            nic.expect(id, from, mtu);
        }
    }

    pub(crate) fn set_nic(&mut self, now: Time, config: &Config) {
        assert!(self.is_nic(), "only a NIC is configured as one");
        self.at_nic(now, |nic| nic.set(now, config));
    }

    /// Everything before `until` is done.
    #[inline]
    pub(crate) fn seen(&mut self, until: Time) {
        if let Some(nic) = &mut self.nic {
            nic.seen(until);
        }
    }

    /// Takes in a frame whose last bit arrives at `now`.
    #[inline]
    pub(crate) fn receive_nic(&mut self, now: Time, packet: &Packet) {
        if packet.kind == Kind::Pfc {
            self.clock = now;
            let opened = self.mac.on_pfc(now, packet);
            return self.resume(now, opened);
        }
        let Some(nic) = &mut self.nic else { return };
        self.clock = now;
        // Most acknowledgements change nothing of what is next.
        if nic.receive(now, packet) {
            self.nic_wake = nic.wake();
            self.choose();
        }
    }

    /// Does what the NIC has to do by itself at `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_nic_wake(&mut self, now: Time) {
        self.at_nic(now, |nic| nic.on_wake(now));
    }

    /// The frame that starts next.
    #[inline]
    pub(crate) fn next_of_nic(&self) -> Option<&Packet> {
        self.nic.as_ref()?.next(self.planned)
    }

    /// Notes that it has been started and another may start at `free`.
    #[inline]
    pub(crate) fn started_by_nic(&mut self, free: Time) {
        self.clock = self.starts;
        self.busy = free;
        if let Some(nic) = &mut self.nic {
            nic.sent(self.clock, self.planned);
            self.nic_wake = nic.wake();
        }
        self.choose();
    }

    /// Whether acknowledgements or CNPs may make a frame leave.
    #[inline]
    pub(crate) fn heeds_answers(&self) -> bool {
        self.reaction(Kind::Ack).or_else(|| self.reaction(Kind::Cnp)).is_some()
    }

    /// When the next frame may start, and the size that none that follows from an arrival is below.
    #[inline]
    pub(crate) fn least(&self) -> (Time, u16) {
        self.nic.as_ref().map_or((Time::ZERO, 0), |nic| (self.busy, nic.least_size()))
    }

    /// Size of the frame that starts next, or less.
    #[inline]
    pub(crate) fn next_size(&self) -> Option<u16> {
        match &self.nic {
            Some(nic) => nic.next_size(self.planned),
            None => self.next().map(|packet| packet.size),
        }
    }

    /// When something happens by itself that may let a frame leave earlier than is foreseen.
    #[inline]
    pub(crate) fn stirs(&self) -> Time {
        let nic = self.nic.as_ref().map_or(Time::MAX, |nic| nic.stirs());
        self.gate.min(nic)
    }

    /// The least time from the arrival of a frame of `kind` at a NIC to a frame that leaves because of it, if one may.
    #[inline]
    pub(crate) fn reaction(&self, kind: Kind) -> Option<Dur> {
        let nic = self.nic.as_ref()?;
        let [on_acks, on_cnps] = nic.answers_marks();
        match kind {
            Kind::Ack => on_acks.then_some(Dur::ZERO),
            Kind::Cnp => on_cnps.then_some(Dur::ZERO),
            Kind::Data => Some(nic.reaction()),
            Kind::Nak | Kind::Pfc | Kind::ReadRequest => Some(Dur::ZERO),
        }
    }
}
