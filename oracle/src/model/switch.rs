//! A store-and-forward, output-queued switch: classification, buffer, queues, and PFC both ways on every port.
//!
//! It decides what becomes of each frame; when ports start and end frames is the network's business. The overrides at
//! the end are what a watchdog does to a queue.

use super::alarm::Alarm;
use super::buffer::{Admission, Limit, Place};
use super::chance::{self, Draws};
use super::classify::Classifier;
use super::counters::Counters;
use super::egress::{Choice, Egress};
use super::host::way_to;
use super::mac::{self, Mac};
use super::memories::PacketMemories;
use super::network::wiring::Wiring;
use super::packet::{CLASSES, Packet, bit, slot};
use super::pfc_gen::{self, PfcGen};
use super::ring::Ring;
use super::secy::SecY;
use super::wred::{Fate, Wred};
use rig_units::{Dur, PortSpeed, Time, Within};
use std::sync::OnceLock;

mod config;
mod cut_through;
mod early;
mod look;
mod overrides;
mod relief;
mod retags;
mod secured;
pub mod shaper;
pub use config::Config;
pub use overrides::Discarded;
use retags::Retags;
use shaper::Shaper;

/// One port. The first fields belong to the network, which starts and ends frames.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) wiring: Wiring,
    /// When the next frame may start.
    pub(crate) busy: Time,
    /// At that instant it sends last; see [`Config::sends_last`].
    #[cfg(feature = "ns3")]
    sends_last: bool,
    pub(crate) send: Alarm,
    pub(crate) gate: Alarm,
    pub(crate) refresh: Alarm,
    pub(crate) mac: Mac,
    egress: Egress,
    /// Apart, since few ports have one: what each frame looks at stays close together.
    shaper: Option<Box<Shaper>>,
    pfc: PfcGen,
    counters: [Counters; CLASSES],
    /// Classes whose arriving frames are dropped.
    drop_in: u8,
    /// Queues whose new frames are dropped: by order, or all while the link is down.
    drop_out: u8,
    dropped_by_order: u8,
    /// Frames per class that a drop lets through first.
    leak: [u32; CLASSES],
    up: bool,
}

impl Port {
    /// Whether a frame may start because of one that arrives at `now`.
    #[inline]
    pub(crate) fn is_free(&self, now: Time) -> bool {
        #[cfg(feature = "ns3")]
        if self.sends_last {
            return self.free_at() < now;
        }
        self.busy <= now && self.free_at() <= now
    }

    /// When the next of the frames that wait may start, as far as no pause is in its way.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        match &self.shaper {
            Some(shaper) if !self.egress.ready(u8::MAX) => self.busy.max(shaper.opens()),
            _ => self.busy,
        }
    }

    /// Whether a frame could go, were the port free.
    #[inline]
    pub(crate) const fn ready(&self) -> bool {
        self.egress.ready(self.mac.closed())
    }

    /// The frame that was chosen.
    #[inline]
    pub(crate) fn front(&self, choice: Choice) -> Option<&Packet> {
        self.egress.front(choice)
    }

    /// Notes that the frame that was chosen has been started.
    #[inline]
    pub(crate) fn started(&mut self, choice: Choice) {
        self.egress.drop_front(choice);
    }
}

/// A shared-buffer switch: ports, buffer, watchdogs.
#[derive(Debug, Clone)]
pub struct Switch {
    pub(crate) ports: Vec<Port>,
    buffer: PacketMemories,
    wred: Wred,
    classifier: Classifier,
    /// Egress port towards every host.
    pub(crate) route: Vec<u16>,
    /// Frames on their way from ingress to queue.
    pipeline: Ring,
    delay: Within,
    /// What each of them takes of it.
    delays_drawn: Draws,
    /// What each byte of a frame adds to that.
    delay_of_a_byte: Within,
    /// Whether they take any time at all.
    delays: bool,
    /// No frame that comes in leaves the pipeline before this: that of one before it was longer.
    not_before: Time,
    /// Of a switch that takes frames in with their first bit: what the rest takes to come in and to leave.
    cut: Option<cut_through::Ports>,
    mtu: u16,
    /// Whether frames may be behind a tag, or leave with another: every one is looked at.
    pub(crate) secured: bool,
    /// What it does to their 802.1Q tags, where it should do nothing.
    retags: Option<Retags>,
    /// The MACsec entity of each port; none where the switch does not speak MACsec.
    secys: Vec<SecY>,
    names: Vec<String>,
    /// Those of its counters, once somebody has read them.
    counter_names: OnceLock<look::Names>,
    /// Ports whose senders were told to go on together with another.
    also: Vec<usize>,
}

/// What became of a frame that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Nothing more to do.
    Gone,
    /// The buffer had no room for it.
    Refused { xoff: bool },
    /// Port `to` is idle: the frame leaves by it at once.
    Through { to: usize },
    /// It waits at port `to`.
    Queued { to: usize, xoff: bool },
    /// It is in the pipeline; woken for it if it is the first.
    Delayed { wake: Option<Time>, xoff: bool },
}

impl Switch {
    /// A switch that holds nothing; `route` names the egress port towards every host.
    pub fn new(config: &Config, route: Vec<u16>) -> Switch {
        let [emission, resumption] = config.words_take();
        let [delay, delay_of_a_byte] = config.delays();
        let pfc = pfc_gen::Config { emission, resumption, ..config.pfc };
        let dropped = config.buffer.faults.class_dropped.and_then(|class| u8::try_from(class).ok());
        let dropped = dropped.map_or(0, bit);
        let retags = Retags::of(&config.faults);
        let swaps_after = config.faults.flow_reordered.unwrap_or(0);
        let seed = |index| chance::draw(config.mac.seed, index);
        let port = |(index, &(_, speed)): (u64, &(String, PortSpeed))| Port {
            wiring: Wiring::default(),
            busy: Time::ZERO,
            #[cfg(feature = "ns3")]
            sends_last: config.sends_last,
            send: Alarm::default(),
            gate: Alarm::default(),
            refresh: Alarm::default(),
            mac: Mac::new(&mac::Config { seed: seed(index), ..config.mac }, speed),
            egress: Egress::new(&config.scheduling).swapping(swaps_after),
            shaper: config.shaper.as_ref().map(|config| Box::new(Shaper::new(config, seed(index)))),
            pfc: PfcGen::new(&pfc_gen::Config { seed: seed(index), ..pfc }),
            counters: [Counters::default(); CLASSES],
            drop_in: 0,
            drop_out: dropped,
            dropped_by_order: dropped,
            leak: [0; CLASSES],
            up: true,
        };
        let buffer = PacketMemories::new(&config.buffer, &config.memories, config.ports.len());
        let speeds = config.ports.iter().map(|&(_, speed)| speed);
        Switch {
            ports: (0..).zip(&config.ports).map(port).collect(),
            wred: Wred::new(&config.wred, speeds, buffer.occupied(config.mtu)),
            buffer,
            classifier: config.classifier.clone(),
            route,
            pipeline: Ring::default(),
            delay,
            delays_drawn: Draws::new(chance::stream(config.mac.seed, *b"transits")),
            delay_of_a_byte,
            delays: config.takes_time(),
            not_before: Time::ZERO,
            cut: cut_through::Ports::of(config),
            mtu: config.mtu,
            secured: config.macsec.is_some() || retags.is_some(),
            retags,
            secys: config
                .macsec
                .iter()
                .flat_map(|macsec| vec![SecY::new(macsec); config.ports.len()])
                .collect(),
            names: config.ports.iter().map(|(name, _)| name.clone()).collect(),
            counter_names: OnceLock::new(),
            also: Vec::new(),
        }
    }

    /// The frame that `port` is to send next, if one may go: it is at the [front](Port::front) of its port. It is to be
    /// [started](Port::started), and data to have [left](Self::left).
    #[inline]
    pub(crate) fn next(&mut self, now: Time, port: usize) -> Option<(Choice, &mut Port)> {
        let at = &mut self.ports[port];
        let closed = at.mac.closed();
        let choice = match &mut at.shaper {
            None => at.egress.choose(closed)?,
            Some(shaper) => shaper.choose(now, &mut at.egress, closed)?,
        };
        if let Choice::Queue(queue) = choice
            && self.wred.looks_at_departure(queue)
        {
            early::leaves(&mut self.wred, &self.buffer, now, (port, queue), &mut at.egress);
        }
        Some((choice, at))
    }

    /// Takes in a frame whose last bit arrived at port `from` at `now`; never a PFC frame. `bypass` lets a frame skip
    /// an idle port's queue, which must not change anything.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        from: usize,
        packet: &Packet,
        bypass: bool,
    ) -> Received {
        let (size, class) = (packet.size, self.classifier.class(packet.dscp));
        let port = &mut self.ports[from];
        let counters = &mut port.counters[slot(class)];
        counters.rx_packets += 1;
        counters.rx_bytes += u64::from(size);
        let drop_in = port.drop_in;
        let to = way_to(&self.route, packet.dst).map_or(usize::MAX, usize::from);
        let Some(out) = self.ports.get_mut(to) else { return self.no_way(from, class) };
        let place = Place { from, to, class, size };
        if ((drop_in | out.drop_out) & bit(class) != 0 || size > self.mtu) && self.is_dropped(place)
        {
            return Received::Gone;
        }
        let delays = self.delays;
        let out = &mut self.ports[to];
        if bypass
            && !delays
            && out.shaper.is_none()
            && out.egress.is_empty()
            && out.is_free(now)
            && (out.mac.closed() | self.wred.looks_at_lone()) & bit(class) == 0
            && self.buffer.passes(place)
        {
            let counters = &mut out.counters[slot(class)];
            counters.tx_packets += 1;
            counters.tx_bytes += u64::from(size);
            return Received::Through { to };
        }
        let early = self.early(now, place, packet);
        if early == Fate::Drop {
            return Received::Gone;
        }
        self.buffer.at(now, place);
        let xoff = match self.buffer.admit(place) {
            Admission::Within => false,
            Admission::Over => self.over(now, place),
            Admission::GroupFull => return self.refuse_lossless(now, place),
            Admission::QueueFull => return self.refuse_lossy(now, place),
        };
        let ingress = u16::try_from(from).unwrap_or(u16::MAX);
        if delays {
            let by_size = self.delay_of_a_byte != Within::ZERO;
            let of_all = if by_size {
                self.delay + self.delay_of_a_byte.times(size.into())
            } else {
                self.delay
            };
            let mut ready = (now + self.delays_drawn.next(of_all)).max(self.not_before);
            if let Some(cut) = &self.cut {
                ready = ready.max(now + cut.outrun(place));
            }
            if by_size || self.cut.is_some() || self.delay.width() > Dur::ZERO {
                // A short frame stays behind a long one, and one that takes less behind one that takes more.
                self.not_before = ready;
            }
            let wake = self.pipeline.is_empty().then_some(ready);
            let inside = self.pipeline.push(packet);
            inside.at = ready;
            inside.ingress = ingress;
            inside.tc = class;
            if early != Fate::Pass {
                early::settle(&mut self.wred, early, to, inside);
            }
            return Received::Delayed { wake, xoff };
        }
        let inside = self.ports[to].egress.push(class, packet);
        inside.ingress = ingress;
        inside.tc = class;
        if early != Fate::Pass {
            early::settle(&mut self.wred, early, to, inside);
        }
        Received::Queued { to, xoff }
    }

    /// Queues the frame whose way through the pipeline ends at `now`: its port, and when to come for the next.
    pub(crate) fn on_pipeline(&mut self, now: Time) -> (Option<usize>, Option<Time>) {
        let Some(packet) = self.pipeline.front().filter(|packet| packet.at == now) else {
            return (None, None);
        };
        let to = way_to(&self.route, packet.dst).map_or(usize::MAX, usize::from);
        let port = &mut self.ports[to];
        if port.up {
            port.egress.push(packet.tc, packet);
        } else {
            let counts = self.buffer.faults().dead_link_counted;
            port.counters[slot(packet.tc)].queue_drops += u64::from(counts);
            let place = place(packet, to);
            if self.wred.looks_at_change(place.class) {
                early::held(&mut self.wred, &self.buffer, now, (to, place.class));
            }
            self.buffer.release(place);
        }
        self.pipeline.drop_front();
        (Some(to), self.pipeline.front().map(|packet| packet.at))
    }

    /// Notes that a frame has left its port at `now`; the port whose sender is told to go on because of it.
    #[inline]
    pub(crate) fn left(&mut self, now: Time, place: Place) -> Option<usize> {
        let counters = &mut self.ports[place.to].counters[slot(place.class)];
        counters.tx_packets += 1;
        counters.tx_bytes += u64::from(place.size);
        self.release(now, place)
    }

    /// Frees what a frame held; the ingress port whose sender is told to go on because of it. Others are in
    /// [`also_resumed`](Self::also_resumed).
    #[inline]
    fn release(&mut self, now: Time, place: Place) -> Option<usize> {
        if self.wred.looks_at_change(place.class) {
            early::held(&mut self.wred, &self.buffer, now, (place.to, place.class));
        }
        self.buffer.release(place);
        if self.buffer.has_voqs() {
            return self.relieve(now, place);
        }
        let from = place.from;
        if !self.ports[from].pfc.is_congested(place.class)
            || !self.buffer.resumes(from, place.class)
        {
            return None;
        }
        self.resume(now, from, place.class)
    }

    #[inline]
    fn congest(&mut self, now: Time, port: usize, group: u8) -> bool {
        if self.ports[port].pfc.is_congested(group) {
            return false;
        }
        let xoff = self.ports[port].pfc.set_congested(now, group, true);
        let later = self.ports[port].pfc.owes();
        self.emit(port, xoff) || later
    }

    /// Puts a PFC frame ahead of everything at `port`; whether there is one to send.
    fn emit(&mut self, port: usize, frame: Option<Packet>) -> bool {
        let port = &mut self.ports[port];
        let Some(frame) = frame.filter(|_| port.up) else { return false };
        port.egress.push_control(&frame);
        true
    }

    /// Passes a PFC frame that came in by `from` on to every other port, where the switch does that; whether it does.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass_on(&mut self, from: usize, pfc: &Packet) -> bool {
        let passes = self.ports[from].mac.passes_on(pfc, self.buffer.lossless());
        if passes {
            for (index, port) in self.ports.iter_mut().enumerate() {
                if index != from && port.up {
                    port.egress.push_control(pfc);
                }
            }
        }
        passes
    }

    #[cold]
    #[inline(never)]
    fn no_way(&mut self, from: usize, class: u8) -> Received {
        self.ports[from].counters[slot(class)].group_drops += 1;
        Received::Gone
    }

    /// A group is over its limit, and its headroom is full. Its sender is told, unless nothing is held whose leaving
    /// would tell it to go on.
    #[cold]
    #[inline(never)]
    fn refuse_lossless(&mut self, now: Time, place: Place) -> Received {
        self.ports[place.from].counters[slot(place.class)].group_drops += 1;
        self.buffer.lose(place);
        let relieved = self.buffer.will_relieve(place);
        Received::Refused { xoff: relieved && self.over(now, place) }
    }

    #[inline(never)]
    fn refuse_lossy(&mut self, now: Time, place: Place) -> Received {
        let Place { from, to, class, .. } = place;
        self.ports[to].counters[slot(class)].queue_drops += 1;
        Received::Refused {
            xoff: self.buffer.faults().lossy_pauses && self.congest(now, from, class),
        }
    }

    /// Sends the refreshes that are due at `now`; whether there is one.
    pub(crate) fn on_refresh(&mut self, now: Time, port: usize) -> bool {
        let xoff = self.ports[port].pfc.on_wake(now);
        self.emit(port, xoff)
    }

    /// When [`on_refresh`](Self::on_refresh) has to be called next.
    pub(crate) fn refresh_at(&self, port: usize) -> Option<Time> {
        self.ports[port].pfc.wake_at()
    }
}

/// Where a frame is charged that waits at port `to`.
#[inline]
pub(crate) fn place(packet: &Packet, to: usize) -> Place {
    Place { from: usize::from(packet.ingress), to, class: packet.tc, size: packet.size }
}
