//! A host: one of the rig's ports. It sends streams and PFC storms, obeys PFC per class, and may answer data.
//!
//! Of what is due when the port is free, a storm's frame goes first, then single frames and answers in order, then the
//! stream that has been due longest. While its class is paused a stream stands still; afterwards it goes on at its pace
//! from the instant of resumption, without making up for what it missed.

use super::alarm::Alarm;
use super::mac::{self, Mac};
use super::network::Wiring;
use super::packet::{Packet, bit};
use super::ring::Ring;
use rig_units::{Dur, Pace, PortSpeed, Quanta, Time};

/// What a host does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// How it obeys PFC; [`mac::Config::obeys`] zero ignores it.
    pub mac: mac::Config,
    /// Size of the answer to each frame of data, if it answers.
    pub answer: Option<u16>,
}

impl Config {
    /// Obeys PFC at once in every class and answers nothing.
    pub const fn quiet() -> Config {
        Config { mac: mac::Config::prompt(u8::MAX), answer: None }
    }
}

/// A stream of equal frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// Names the stream in its frames.
    pub id: u16,
    /// The class by which the host pauses it.
    pub class: u8,
    /// The DSCP in its frames.
    pub dscp: u8,
    /// Frame size, FCS counted.
    pub size: u16,
    /// From one frame to the next.
    pub pace: Pace,
    /// The host it goes to.
    pub dst: u16,
    /// How many frames; `None` goes on until it is stopped.
    pub count: Option<u32>,
    /// Whether its frames are ECN-capable.
    pub ect: bool,
    /// Marks its frames for recorders.
    pub record: bool,
}

/// PFC frames at fixed intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Names the storm.
    pub id: u16,
    /// Bit `c` is set when class `c` is addressed.
    pub enable: u8,
    /// The addressed classes whose time is zero (XON).
    pub zero: u8,
    /// Pause time of the other addressed classes.
    pub quanta: Quanta,
    /// From one frame to the next.
    pub every: Dur,
    /// How many frames; `None` goes on until it is stopped.
    pub count: Option<u32>,
}

/// Size of a PFC frame on Ethernet, FCS counted.
pub const PFC_SIZE: u16 = 64;

/// Something that leaves at its due times, so many times more.
#[derive(Debug, Clone)]
struct Plan {
    due: Time,
    left: Option<u32>,
    pace: Pace,
    /// The next frame.
    packet: Packet,
}

impl Plan {
    /// Goes on to the next frame.
    #[inline]
    fn advance(&mut self) {
        self.packet.seq = self.packet.seq.wrapping_add(1);
        self.due = self.pace.next(self.due);
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
    }
}

/// Where the next frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Storm(usize),
    Control,
    Stream(usize),
}

/// A host's state.
#[derive(Debug, Clone)]
pub struct Host {
    pub(crate) wiring: Wiring,
    /// When the next frame may start.
    pub(crate) busy: Time,
    pub(crate) send: Alarm,
    pub(crate) gate: Alarm,
    pub(crate) mac: Mac,
    index: u16,
    answer: Option<u16>,
    up: bool,
    /// Single frames and answers.
    control: Ring,
    streams: Vec<Plan>,
    storms: Vec<Plan>,
}

impl Host {
    /// A host that sends nothing, called `index`, on a port of `speed`.
    pub fn new(index: u16, config: &Config, speed: PortSpeed) -> Host {
        Host {
            wiring: Wiring::default(),
            busy: Time::ZERO,
            send: Alarm::default(),
            gate: Alarm::default(),
            mac: Mac::new(&config.mac, speed),
            index,
            answer: config.answer,
            up: true,
            control: Ring::default(),
            streams: Vec::new(),
            storms: Vec::new(),
        }
    }

    pub(crate) fn start_stream(&mut self, now: Time, stream: &Stream) {
        let Stream { id, class, dscp, size, pace, dst, count, ect, record } = *stream;
        let packet = Packet::data(id, self.index, dst, class, dscp, size);
        let packet = packet.with_ect(ect).with_record(record);
        self.streams.push(Plan { due: now, left: count, pace, packet });
    }

    pub(crate) fn stop_stream(&mut self, id: u16) {
        self.streams.retain(|plan| plan.packet.stream != id);
    }

    pub(crate) fn start_storm(&mut self, now: Time, storm: &Storm) {
        let Storm { id, enable, zero, quanta, every, count } = *storm;
        let mut packet = Packet::pfc(enable, zero, quanta, PFC_SIZE).with_record(true);
        packet.stream = id;
        packet.src = self.index;
        self.storms.push(Plan { due: now, left: count, pace: Pace::every(every), packet });
    }

    pub(crate) fn stop_storm(&mut self, id: u16) {
        self.storms.retain(|plan| plan.packet.stream != id);
    }

    /// Queues one frame to be sent ahead of all streams.
    pub(crate) fn push(&mut self, mut packet: Packet) {
        packet.src = self.index;
        self.control.push(&packet);
    }

    /// The answer to a frame of data, if it is answered.
    #[inline]
    pub(crate) fn answer(&self, packet: &Packet) -> Option<Packet> {
        self.answer.map(|size| packet.ack(size))
    }

    /// Whether a single frame would leave at `now`, ahead of everything.
    #[inline]
    pub(crate) fn is_idle(&self, now: Time) -> bool {
        self.busy <= now && self.control.is_empty() && self.storms.is_empty() && self.up
    }

    /// Goes on with the streams of the classes that may send again from `now` on.
    pub(crate) fn resume(&mut self, now: Time, opened: u8) {
        for plan in &mut self.streams {
            if opened & bit(plan.packet.class) != 0 {
                plan.due = plan.due.max(now);
            }
        }
    }

    /// The cable was cut or mended. What was due while it was cut starts again now.
    pub(crate) fn set_up(&mut self, now: Time, up: bool) {
        self.up = up;
        self.mac.reset(now);
        self.control.clear();
        if up {
            for plan in self.streams.iter_mut().chain(&mut self.storms) {
                plan.due = plan.due.max(now);
            }
        }
    }

    /// When something wants to leave next, whether the port is free or not.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        if !self.control.is_empty() {
            return Some(Time::ZERO);
        }
        let closed = self.mac.closed();
        let open = self.streams.iter().filter(|plan| closed & bit(plan.packet.class) == 0);
        let due = open.chain(&self.storms).map(|plan| plan.due).min();
        due.filter(|_| self.up)
    }

    /// The frame that goes at `now`, the port being free. It is to be [started](Self::started).
    #[inline]
    pub(crate) fn next(&self, now: Time) -> Option<(Choice, &Packet)> {
        if !self.up {
            return None;
        }
        if let Some(storm) = first_due(&self.storms, now, 0) {
            return Some((Choice::Storm(storm), &self.storms[storm].packet));
        }
        if let Some(packet) = self.control.front() {
            return Some((Choice::Control, packet));
        }
        let stream = first_due(&self.streams, now, self.mac.closed())?;
        Some((Choice::Stream(stream), &self.streams[stream].packet))
    }

    /// Notes that the frame chosen has been started.
    #[inline]
    pub(crate) fn started(&mut self, choice: Choice) {
        let (plans, index) = match choice {
            Choice::Control => return self.control.drop_front(),
            Choice::Storm(index) => (&mut self.storms, index),
            Choice::Stream(index) => (&mut self.streams, index),
        };
        plans[index].advance();
        if plans[index].left == Some(0) {
            plans.remove(index);
        }
    }

    /// What PFC did to `class` of this host until `now`.
    pub fn pauses(&self, class: u8, now: Time) -> mac::Pauses {
        self.mac.pauses(class, now)
    }
}

/// What has been due longest, if anything is due at `now` and its class is not closed.
#[inline]
fn first_due(plans: &[Plan], now: Time, closed: u8) -> Option<usize> {
    let open = plans.iter().enumerate().filter(|(_, plan)| closed & bit(plan.packet.class) == 0);
    let (index, first) = open.min_by_key(|(_, plan)| plan.due)?;
    (first.due <= now).then_some(index)
}
