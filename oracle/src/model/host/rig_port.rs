//! A port of the rig. It sends streams and PFC storms, obeys PFC per class, and may answer data.
//!
//! Of what is due when the port is free, a storm's frame goes first, then single frames and answers in order, then the
//! stream that has been due longest. While its class is paused a stream stands still; afterwards it goes on at its pace
//! from the instant of resumption, without making up for what it missed.

use super::plan::{Plan, Storm, Stream, first, go_on};
use super::security::Peer;
use super::{Device, Plug};
use crate::model::link::Link;
use crate::model::packet::{Packet, PacketKind, bit, ip};
use crate::model::ring::Ring;
use rig_units::Time;

/// Where the next frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Storm(usize),
    Control,
    Stream(usize),
}

/// What a port of the rig sends and answers.
#[derive(Debug, Clone)]
pub(crate) struct RigPort {
    pub(super) choice: Choice,
    answer: Option<u16>,
    /// Single frames and answers.
    control: Ring,
    pub(super) streams: Vec<Plan>,
    pub(super) storms: Vec<Plan>,
    /// How it protects what it sends, if it speaks MACsec.
    pub(super) security: Option<Peer>,
}

impl RigPort {
    /// Sends nothing; `answer` is the size of the answer to each frame of data, if it answers.
    pub(crate) fn new(answer: Option<u16>) -> RigPort {
        RigPort {
            choice: Choice::Control,
            answer,
            control: Ring::default(),
            streams: Vec::new(),
            storms: Vec::new(),
            security: None,
        }
    }

    pub(crate) fn start_stream(&mut self, plug: &mut Plug, now: Time, stream: &Stream) {
        plug.clock = now;
        self.streams.push(Plan::stream(plug.host, now, stream));
        self.choose(plug);
    }

    pub(crate) fn stop_stream(&mut self, plug: &mut Plug, id: u16) {
        self.streams.retain(|plan| plan.id != id);
        self.choose(plug);
    }

    pub(crate) fn start_storm(&mut self, plug: &mut Plug, now: Time, storm: &Storm) {
        plug.clock = now;
        self.storms.push(Plan::storm(plug.host, now, storm));
        self.choose(plug);
    }

    pub(crate) fn stop_storm(&mut self, plug: &mut Plug, id: u16) {
        self.storms.retain(|plan| plan.id != id);
        self.choose(plug);
    }

    /// Queues one frame to be sent from `now` on, ahead of all streams. Without a link it is lost.
    pub(crate) fn push(&mut self, plug: &mut Plug, now: Time, mut packet: Packet) {
        packet.src = ip::address(plug.host, packet.is_v6());
        plug.clock = now;
        if plug.is_up() {
            self.control.push(&packet);
        }
        self.choose(plug);
    }

    /// Answers frames of data from now on, or not.
    pub(crate) const fn set_answer(&mut self, size: Option<u16>) {
        self.answer = size;
    }

    /// Takes in a frame that is behind no tag that it can open.
    #[inline]
    pub(super) fn receive(
        &mut self,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        bypass: bool,
    ) -> Option<Packet> {
        plug.clock = now;
        match packet.kind {
            PacketKind::Ack
            | PacketKind::Nak
            | PacketKind::Cnp
            | PacketKind::ReadRequest
            | PacketKind::NotReady => None,
            PacketKind::Data => {
                let answer = packet.ack(self.answer?);
                if packet.is_secured() {
                    return None;
                }
                if bypass && plug.busy <= now && self.control.is_empty() && self.storms.is_empty() {
                    return Some(answer);
                }
                self.control.push(&answer);
                self.choose(plug);
                None
            }
            // Without MACsec what is behind a tag cannot be read.
            PacketKind::Pfc if packet.is_secured() => None,
            PacketKind::Pfc => {
                let opened = plug.on_pfc(now, packet);
                self.resume(0, plug, now, opened);
                None
            }
        }
    }

    /// The frame that starts next.
    #[inline]
    pub(super) fn front(&self) -> Option<&Packet> {
        match self.choice {
            Choice::Control => self.control.front(),
            Choice::Storm(index) => self.storms.get(index).map(|plan| &plan.packet),
            Choice::Stream(index) => self.streams.get(index).map(|plan| &plan.packet),
        }
    }

    /// Chooses what starts next.
    #[inline]
    fn choose(&mut self, plug: &mut Plug) {
        let ready = plug.ready();
        let mut starts = Time::MAX;
        self.choice = Choice::Control;
        if !self.control.is_empty() {
            starts = ready;
        } else if let Some((due, index)) = first(&self.streams, plug.closed()) {
            (starts, self.choice) = (due.max(ready), Choice::Stream(index));
        }
        if let Some((due, index)) = first(&self.storms, 0)
            && due.max(ready) <= starts
        {
            (starts, self.choice) = (due.max(ready), Choice::Storm(index));
        }
        plug.plan(starts);
    }
}

impl Device for RigPort {
    #[inline]
    fn arrive(
        &mut self,
        _: usize,
        plug: &mut Plug,
        now: Time,
        packet: &Packet,
        bypass: bool,
    ) -> Option<Packet> {
        if self.security.is_some() {
            self.receive_secured(plug, now, packet, bypass)
        } else {
            self.receive(plug, now, packet, bypass)
        }
    }

    #[inline]
    fn next(&self, _: usize, plug: &Plug) -> Time {
        plug.gate.min(plug.starts)
    }

    #[inline]
    fn wake(&mut self, _: usize, plug: &mut Plug, now: Time) -> Option<&Packet> {
        if now == plug.gate {
            let opened = plug.on_gate(now);
            self.resume(0, plug, now, opened);
            None
        } else if self.security.is_some() {
            self.next_secured()
        } else {
            self.front()
        }
    }

    #[inline]
    fn started(&mut self, _: usize, plug: &mut Plug, free: Time) {
        plug.started(free);
        match self.choice {
            Choice::Control => self.control.drop_front(),
            Choice::Storm(index) => go_on(&mut self.storms, index),
            Choice::Stream(index) => go_on(&mut self.streams, index),
        }
        self.choose(plug);
    }

    #[inline]
    fn answered(&mut self, _: usize, plug: &mut Plug, free: Time) {
        plug.busy = free;
        if plug.starts != Time::MAX {
            self.choose(plug);
        }
    }

    fn resume(&mut self, _: usize, plug: &mut Plug, now: Time, opened: u8) {
        for plan in &mut self.streams {
            if opened & bit(plan.packet.class) != 0 {
                plan.due = plan.due.max(now);
            }
        }
        self.choose(plug);
    }

    fn set_up(&mut self, _: usize, plug: &mut Plug, now: Time) {
        self.control.clear();
        if plug.is_up() {
            for plan in self.streams.iter_mut().chain(&mut self.storms) {
                plan.due = plan.due.max(now);
            }
        }
        self.choose(plug);
    }

    #[inline]
    fn foresee(&self, plug: &Plug, up: &Link, down: &Link) -> Time {
        let next = self.front().filter(|_| plug.starts != Time::MAX);
        let next = next.map(|packet| up.arrival_of(plug.starts, packet.size));
        // What arrives may be answered or lift a pause; what comes behind it may do so too.
        let caused = down.front().and_then(|packet| {
            let behind = || self.answer.is_some() || down.carries_pfc();
            let least = || behind().then(|| up.arrival_of(packet.at, 0));
            self.consequence(plug, up, packet.kind, packet.at).or_else(least)
        });
        let lifted = (plug.gate != Time::MAX).then(|| up.arrival_of(plug.gate, 0));
        next.into_iter().chain(caused).chain(lifted).min().unwrap_or(Time::MAX)
    }

    #[inline]
    fn consequence(&self, plug: &Plug, up: &Link, kind: PacketKind, arrives: Time) -> Option<Time> {
        match (kind, self.answer) {
            (PacketKind::Data, Some(size)) => Some(up.arrival_of(arrives.max(plug.busy), size)),
            (PacketKind::Pfc, _) => Some(up.arrival_of(arrives, 0)),
            _ => None,
        }
    }
}
