//! A host: one of the rig's ports. It sends streams and PFC storms, obeys PFC per class, and may answer data.
//!
//! Of what is due when the port is free, a storm's frame goes first, then single frames and answers in order, then the
//! stream that has been due longest. While its class is paused a stream stands still; afterwards it goes on at its pace
//! from the instant of resumption, without making up for what it missed.

use super::alarm::Alarm;
use super::mac::{self, Mac};
use super::network::{NO_HOST, Wiring};
use super::nic::{self, Nic};
use super::packet::{Kind, Packet, bit};
use super::ring::Ring;
use rig_units::{Dur, PortSpeed, Time};

mod nic_port;
mod plan;
mod security;
pub(crate) use plan::usual;
pub use plan::{PFC_SIZE, Storm, Stream, at, number};
use plan::{Plan, first, go_on};
use security::Peer;
pub use security::{Obeys, Security};

/// What a host does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// How it obeys PFC; [`mac::Config::obeys`] zero ignores it.
    pub mac: mac::Config,
    /// Size of the answer to each frame of data, if it answers.
    pub answer: Option<u16>,
    /// The NIC that it is; none in a port of the rig.
    pub nic: Option<nic::Config>,
}

impl Config {
    /// Obeys PFC at once in every class and answers nothing.
    pub const fn quiet() -> Config {
        Config { mac: mac::Config::prompt(u8::MAX), answer: None, nic: None }
    }
}

/// Where the next frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Storm(usize),
    Control,
    Stream(usize),
}

/// A host's state. It is brought up to date when somebody looks: what it does depends only on what is on its way to it.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) wiring: Wiring,
    /// Wake-ups for the next arrival of one of its frames at its switch.
    pub(crate) uplink: Alarm,
    /// Wake-ups for its next step, if it is not to be late.
    pub(crate) step: Alarm,
    /// The host at the far end of its cable, or [`NO_HOST`] where that is a switch.
    pub(crate) peer: u16,
    /// When the next frame may start.
    busy: Time,
    /// The latest step that was made.
    clock: Time,
    /// When a pause begins or ends by itself.
    gate: Time,
    /// When the NIC does something by itself.
    nic_wake: Time,
    /// When the next frame starts if nothing happens until then, and which.
    starts: Time,
    choice: Choice,
    /// The same for a NIC.
    planned: nic::Choice,
    index: u16,
    answer: Option<u16>,
    up: bool,
    mac: Mac,
    /// Single frames and answers.
    control: Ring,
    streams: Vec<Plan>,
    storms: Vec<Plan>,
    /// How it protects what it sends, if it speaks MACsec.
    security: Option<Peer>,
    nic: Option<Box<Nic>>,
}

impl Host {
    /// A host that sends nothing, called `index`, on a port of `speed`.
    pub fn new(index: u16, config: &Config, speed: PortSpeed) -> Host {
        Host {
            wiring: Wiring::default(),
            uplink: Alarm::default(),
            step: Alarm::default(),
            peer: NO_HOST,
            busy: Time::ZERO,
            clock: Time::ZERO,
            gate: Time::MAX,
            nic_wake: Time::MAX,
            starts: Time::MAX,
            choice: Choice::Control,
            planned: nic::Choice::Answer,
            index,
            answer: config.answer,
            up: true,
            mac: Mac::new(&config.mac, speed),
            control: Ring::default(),
            streams: Vec::new(),
            storms: Vec::new(),
            security: None,
            nic: config.nic.map(|config| Box::new(Nic::new(index, &config, speed))),
        }
    }

    pub(crate) fn start_stream(&mut self, now: Time, stream: &Stream) {
        assert!(!self.is_nic(), "a NIC sends flows");
        self.clock = now;
        self.streams.push(Plan::stream(self.index, now, stream));
        self.choose();
    }

    pub(crate) fn stop_stream(&mut self, id: u16) {
        self.streams.retain(|plan| plan.id != id);
        self.choose();
    }

    pub(crate) fn start_storm(&mut self, now: Time, storm: &Storm) {
        self.clock = now;
        self.storms.push(Plan::storm(self.index, now, storm));
        self.choose();
    }

    pub(crate) fn stop_storm(&mut self, id: u16) {
        self.storms.retain(|plan| plan.id != id);
        self.choose();
    }

    /// Queues one frame to be sent from `now` on, ahead of all streams. Without a link it is lost.
    pub(crate) fn push(&mut self, now: Time, mut packet: Packet) {
        packet.src = self.index;
        self.clock = now;
        if self.up {
            self.control.push(&packet);
        }
        self.choose();
    }

    /// Size of the answers to frames of data, if they are answered.
    #[inline]
    pub(crate) const fn answers(&self) -> Option<u16> {
        self.answer
    }

    /// Answers frames of data from now on, or not.
    pub(crate) const fn set_answer(&mut self, size: Option<u16>) {
        self.answer = size;
    }

    /// When the next frame may start.
    #[inline]
    pub(crate) const fn busy(&self) -> Time {
        self.busy
    }

    /// Takes in a frame whose last bit arrives at `now`; the answer, if there is one and it leaves at once. `bypass`
    /// lets it skip the queue of single frames, which must not change anything.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet, bypass: bool) -> Option<Packet> {
        self.clock = now;
        match packet.kind {
            Kind::Ack | Kind::Nak | Kind::Cnp | Kind::ReadRequest => None,
            Kind::Data => {
                let answer = packet.ack(self.answer?);
                if packet.is_secured() {
                    return None;
                }
                if bypass && self.busy <= now && self.control.is_empty() && self.storms.is_empty() {
                    return Some(answer);
                }
                self.control.push(&answer);
                self.choose();
                None
            }
            // Without MACsec what is behind a tag cannot be read.
            Kind::Pfc if packet.is_secured() => None,
            Kind::Pfc => {
                let opened = self.mac.on_pfc(now, packet);
                self.resume(now, opened);
                None
            }
        }
    }

    /// When a pause begins or ends by itself; to be told by [`on_gate`](Self::on_gate).
    #[inline]
    pub(crate) const fn gate(&self) -> Time {
        self.gate
    }

    /// When the NIC does something by itself; [`Time::MAX`] where there is none.
    #[inline]
    pub(crate) const fn nic_wake(&self) -> Time {
        self.nic_wake
    }

    /// A pause begins or ends at `now`.
    pub(crate) fn on_gate(&mut self, now: Time) {
        self.clock = now;
        let opened = self.mac.on_wake(now);
        self.resume(now, opened);
    }

    /// Obeys PFC otherwise from `now` on.
    pub(crate) fn obey(&mut self, now: Time, obeys: u8, response: Dur) {
        self.clock = now;
        let opened = self.mac.obey(now, obeys, response);
        self.resume(now, opened);
    }

    /// Goes on with the streams of the classes that may send again from `now` on.
    fn resume(&mut self, now: Time, opened: u8) {
        for plan in &mut self.streams {
            if opened & bit(plan.packet.class) != 0 {
                plan.due = plan.due.max(now);
            }
        }
        self.gate = self.mac.wake_at().unwrap_or(Time::MAX);
        self.choose();
    }

    /// The cable was cut or mended. What was due while it was cut starts again now.
    pub(crate) fn set_up(&mut self, now: Time, up: bool) {
        self.clock = now;
        self.up = up;
        self.mac.reset(now);
        if let Some(nic) = &mut self.nic {
            nic.cut_off();
            self.nic_wake = nic.wake();
        }
        self.gate = Time::MAX;
        self.control.clear();
        if up {
            for plan in self.streams.iter_mut().chain(&mut self.storms) {
                plan.due = plan.due.max(now);
            }
        }
        self.choose();
    }

    /// When the next frame starts if nothing happens until then; [`Time::MAX`] if none does.
    #[inline]
    pub(crate) const fn starts(&self) -> Time {
        self.starts
    }

    /// The frame that starts next.
    #[inline]
    pub(crate) fn next(&self) -> Option<&Packet> {
        match self.choice {
            Choice::Control => self.control.front(),
            Choice::Storm(index) => self.storms.get(index).map(|plan| &plan.packet),
            Choice::Stream(index) => self.streams.get(index).map(|plan| &plan.packet),
        }
    }

    /// Notes that the next frame has been started and another may start at `free`.
    #[inline]
    pub(crate) fn started(&mut self, free: Time) {
        self.clock = self.starts;
        self.busy = free;
        match self.choice {
            Choice::Control => self.control.drop_front(),
            Choice::Storm(index) => go_on(&mut self.storms, index),
            Choice::Stream(index) => go_on(&mut self.streams, index),
        }
        self.choose();
    }

    /// Notes that an answer has been started and another frame may start at `free`.
    #[inline]
    pub(crate) fn answered(&mut self, free: Time) {
        self.busy = free;
        if self.starts != Time::MAX {
            self.choose();
        }
    }

    /// Chooses what starts next.
    #[inline]
    fn choose(&mut self) {
        let ready = self.busy.max(self.clock);
        if let Some(nic) = &mut self.nic {
            (self.starts, self.planned) = nic.plan(ready, self.mac.closed());
            if !self.up {
                self.starts = Time::MAX;
            }
            return;
        }
        (self.starts, self.choice) = (Time::MAX, Choice::Control);
        if !self.control.is_empty() {
            self.starts = ready;
        } else if let Some((due, index)) = first(&self.streams, self.mac.closed()) {
            (self.starts, self.choice) = (due.max(ready), Choice::Stream(index));
        }
        if let Some((due, index)) = first(&self.storms, 0)
            && due.max(ready) <= self.starts
        {
            (self.starts, self.choice) = (due.max(ready), Choice::Storm(index));
        }
        if !self.up {
            self.starts = Time::MAX;
        }
    }

    /// What PFC did to `class` of this host until `now`.
    pub fn pauses(&self, class: u8, now: Time) -> mac::Pauses {
        self.mac.pauses(class, now)
    }
}
