//! One direction of a cable: how long frames take to leave, to travel, and which are under way.

use super::oscillator::Oscillator;
use super::packet::{Packet, PacketKind};
use super::ring::Ring;
use rig_units::{Dur, Length, PortSpeed, Ppm, Time};

/// A cable and the speed at both its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The nominal MAC rate.
    pub speed: PortSpeed,
    /// Time from one end to the other; see [`Length::travel`].
    pub delay: Dur,
    /// Bytes on the wire before a frame: preamble and start delimiter.
    pub preamble: u16,
    /// Bytes of silence after a frame.
    pub gap: u16,
    /// Cuts the time that each frame takes down to whole nanoseconds, as ns-3 does.
    #[cfg(feature = "ns3")]
    pub whole_ns: bool,
}

impl Config {
    /// Ethernet of `speed` over `metres` of cable: 8 bytes before and 12 after each frame.
    pub const fn ethernet(speed: PortSpeed, metres: u64) -> Config {
        Config {
            speed,
            delay: Length(metres * 100).travel(),
            preamble: 8,
            gap: 12,
            #[cfg(feature = "ns3")]
            whole_ns: false,
        }
    }
}

/// A frame that was put on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// When its last bit leaves the sender.
    pub last_bit: Time,
    /// When the next frame may start.
    pub free: Time,
    /// When its last bit arrives; its first, where the far end [cuts through](Link::cut_through).
    pub arrives: Time,
    /// Whether no other frame is under way ahead of it.
    pub first: bool,
}

/// How long a frame of one size takes.
#[derive(Debug, Clone, Copy)]
struct Timing {
    size: u16,
    to_last_bit: Dur,
    to_next: Dur,
    /// What the next may start later than that, in parts of a picosecond: as many make one as the rate has millionths.
    rest: u32,
}

/// One direction of a cable.
#[derive(Debug, Clone)]
pub struct Link {
    under_way: Ring,
    /// When the first frame under way arrives; [`Time::MAX`] if there is none.
    next: Time,
    timing: Timing,
    ps_per_byte: u64,
    delay: Dur,
    preamble: u64,
    overhead: u64,
    #[cfg(feature = "ns3")]
    whole_ns: bool,
    /// How much of its rate the sender uses.
    rate: Ppm,
    /// What the sender counts its bits by.
    clock: Oscillator,
    /// The parts of a picosecond that its frames took beyond whole ones.
    owed: u32,
    /// Whether the far end takes in a frame with its first bit, behind the preamble, and only PFC with its last.
    cut_through: bool,
    up: bool,
    lost: u64,
    /// Frames put on it so far, by kind.
    put: [u64; PacketKind::COUNT],
    /// Those of them that are under way no more.
    gone: [u64; PacketKind::COUNT],
}

impl Link {
    /// An empty link that is up.
    pub fn new(config: &Config) -> Link {
        let mut link = Link {
            under_way: Ring::default(),
            next: Time::MAX,
            timing: Timing { size: 0, to_last_bit: Dur::ZERO, to_next: Dur::ZERO, rest: 0 },
            ps_per_byte: config.speed.byte().0,
            delay: config.delay,
            preamble: config.preamble.into(),
            overhead: u64::from(config.preamble) + u64::from(config.gap),
            #[cfg(feature = "ns3")]
            whole_ns: config.whole_ns,
            rate: Ppm::ONE,
            clock: Oscillator::EXACT,
            owed: 0,
            cut_through: false,
            up: true,
            lost: 0,
            put: [0; PacketKind::COUNT],
            gone: [0; PacketKind::COUNT],
        };
        link.timing = link.time(0);
        link
    }

    /// The same link with a sender that goes by this clock, and waits after each frame, so that it uses only so much of the rate.
    pub fn sent_by(mut self, clock: Oscillator, rate: Ppm) -> Link {
        (self.clock, self.rate) = (clock, rate);
        self.timing = self.time(0);
        self
    }

    /// The same link to a switch that cuts frames through.
    pub const fn cut_through(mut self, cuts: bool) -> Link {
        self.cut_through = cuts;
        self
    }

    /// How long a frame of `size` bytes takes. Frames of one size follow one another, so the last result is kept.
    #[inline]
    fn timing(&self, size: u16) -> Timing {
        if self.timing.size == size { self.timing } else { self.time(size) }
    }

    #[cold]
    #[inline(never)]
    fn time(&self, size: u16) -> Timing {
        let serialise = |bytes: u64| {
            let ps = bytes * self.ps_per_byte;
            #[cfg(feature = "ns3")]
            let ps = if self.whole_ns { ps - ps % 1_000 } else { ps };
            Dur(ps)
        };
        let bytes = u64::from(size);
        let to_last_bit = self.clock.lasting(serialise(self.preamble + bytes));
        let all = serialise(self.overhead + bytes);
        if (self.rate, self.clock) == (Ppm::ONE, Oscillator::EXACT) {
            return Timing { size, to_last_bit, to_next: all, rest: 0 };
        }
        let rate = u64::from(self.rate.0.max(1));
        let (to_next, rest) = all.scaled_to_rest(self.clock.second(), rate);
        Timing { size, to_last_bit, to_next, rest: u32::try_from(rest).unwrap_or(0) }
    }

    /// What a frame takes beyond whole picoseconds adds up: the next one that is full.
    #[inline]
    fn carried(&mut self) -> Dur {
        self.owed += self.timing.rest;
        let full = self.owed >= self.rate.0;
        self.owed -= if full { self.rate.0 } else { 0 };
        Dur(full.into())
    }

    /// Starts a frame at `now`; the caller waits for [`Sent::free`] before the next.
    #[inline(always)]
    pub fn send(&mut self, now: Time, packet: &Packet) -> Sent {
        if self.timing.size != packet.size {
            self.timing = self.time(packet.size);
        }
        let last_bit = now + self.timing.to_last_bit;
        let mut free = now + self.timing.to_next;
        if self.timing.rest != 0 {
            free += self.carried();
        }
        let mut arrives = last_bit + self.delay;
        if self.cut_through && packet.kind != PacketKind::Pfc {
            arrives = now + self.to_first_bit();
        }
        self.put[packet.kind as usize] += 1;
        if !self.up {
            self.lost += 1;
            self.gone[packet.kind as usize] += 1;
            return Sent { last_bit, free, arrives, first: false };
        }
        let first = self.next == Time::MAX;
        if first {
            self.next = arrives;
        }
        self.under_way.push(packet).at = arrives;
        Sent { last_bit, free, arrives, first }
    }

    /// The frame whose last bit arrives at `now`, if any.
    #[inline]
    pub fn arrived(&self, now: Time) -> Option<&Packet> {
        // After a cut the wake-up of a lost frame may come when another, later one is under way.
        if self.next == now { self.front() } else { None }
    }

    /// When the first frame under way arrives; [`Time::MAX`] if there is none.
    #[inline]
    pub const fn next_arrival(&self) -> Time {
        self.next
    }

    /// What the first bit behind the preamble takes from one end to the other.
    fn to_first_bit(&self) -> Dur {
        self.clock.lasting(Dur(self.preamble * self.ps_per_byte)) + self.delay
    }

    /// When a frame of `size` bytes that is started at `start` would arrive at the soonest.
    #[inline]
    pub fn arrival_of(&self, start: Time, size: u16) -> Time {
        if self.cut_through {
            return start + self.to_first_bit();
        }
        start + self.timing(size).to_last_bit + self.delay
    }

    /// The first frame under way.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.under_way.front()
    }

    /// Takes the first frame off the link.
    #[inline(always)]
    pub fn finish(&mut self) {
        let Some(packet) = self.under_way.front() else { return };
        self.gone[packet.kind as usize] += 1;
        self.under_way.drop_front();
        self.next = self.front().map_or(Time::MAX, |packet| packet.at);
    }

    /// Frames put on it so far, by kind.
    pub(super) const fn put(&self) -> &[u64; PacketKind::COUNT] {
        &self.put
    }

    /// Whether a frame of `kind` is under way.
    #[inline]
    const fn carries(&self, kind: PacketKind) -> bool {
        self.put[kind as usize] != self.gone[kind as usize]
    }

    /// Whether a PFC frame is under way.
    #[inline]
    pub const fn carries_pfc(&self) -> bool {
        self.carries(PacketKind::Pfc)
    }

    /// Whether anything is under way but acknowledgements and congestion notifications.
    #[inline]
    pub fn carries_more_than_answers(&self) -> bool {
        [
            PacketKind::Data,
            PacketKind::Pfc,
            PacketKind::Nak,
            PacketKind::ReadRequest,
            PacketKind::NotReady,
        ]
        .iter()
        .any(|&kind| self.carries(kind))
    }

    /// Cuts or mends the link. Frames under way when it is cut, and those sent while it is, are lost.
    pub fn set_up(&mut self, up: bool) {
        self.up = up;
        if !up {
            self.lost += u64::try_from(self.under_way.clear()).unwrap_or(u64::MAX);
            self.gone = self.put;
            self.next = Time::MAX;
        }
    }

    /// Frames lost to cuts.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Frames under way.
    pub const fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(size: u16) -> Packet {
        Packet::data(0, 0, 1, 3, 3, size)
    }

    #[test]
    fn a_frame_takes_its_bytes_and_the_cable_its_length() {
        // 100 Gb/s: 80 ps a byte. (8 + 1024) bytes to the last bit, 12 more to the next start; 198 m are 1 us.
        let mut link = Link::new(&Config::ethernet(PortSpeed::G100, 198));
        let sent = link.send(Time(0), &frame(1024));
        assert_eq!(sent.last_bit, Time(82_560));
        assert_eq!(sent.free, Time(83_520));
        assert_eq!((sent.arrives, sent.first), (Time(1_082_560), true));
        assert!(!link.send(sent.free, &frame(64)).first);
        assert_eq!(link.arrived(Time(1_082_560)).map(|packet| packet.size), Some(1024));
        link.finish();
        assert_eq!(link.next_arrival(), Time(83_520 + 72 * 80 + 1_000_000));
    }

    /// The preamble takes 640 ps, 64 bytes of PFC 5120 ps more.
    #[test]
    fn a_switch_that_cuts_through_has_data_with_its_first_bit_and_pfc_with_its_last() {
        let mut link = Link::new(&Config::ethernet(PortSpeed::G100, 198)).cut_through(true);
        let sent = link.send(Time(0), &frame(1024));
        assert_eq!((sent.arrives, sent.last_bit), (Time(1_000_640), Time(82_560)));
        assert!(link.arrival_of(Time(0), 1024) <= sent.arrives);
        let pfc = link.send(sent.free, &Packet { kind: PacketKind::Pfc, ..frame(64) });
        assert_eq!(pfc.arrives, Time(1_000_000 + 83_520 + 640 + 5_120));
        let next = link.send(pfc.free, &frame(1024));
        assert!(next.arrives > pfc.arrives, "none is ahead of the one before it");
    }

    #[test]
    fn whatever_may_make_a_host_send_at_once_is_more_than_an_answer() {
        let more = |kind: PacketKind| {
            let mut link = Link::new(&Config::ethernet(PortSpeed::G100, 198));
            link.send(Time(0), &Packet { kind, ..frame(78) });
            link.carries_more_than_answers()
        };
        use PacketKind::{Ack, Cnp, Data, Nak, NotReady, Pfc, ReadRequest};
        let all = [Data, Ack, Pfc, Nak, Cnp, ReadRequest, NotReady];
        assert_eq!(all.len(), PacketKind::COUNT);
        assert_eq!(all.map(more), [true, false, true, true, false, true, true]);
    }

    #[cfg(feature = "ns3")]
    #[test]
    fn whole_nanoseconds_cut_1048_bytes_at_100g_to_83() {
        let ns3 =
            Config { preamble: 0, gap: 0, whole_ns: true, ..Config::ethernet(PortSpeed::G100, 0) };
        assert_eq!(Link::new(&ns3).send(Time(0), &frame(1048)).free, Time(83_000));
    }

    #[test]
    fn at_80_percent_of_the_rate_the_next_frame_starts_a_quarter_later() {
        let link = Link::new(&Config::ethernet(PortSpeed::G100, 198));
        let whole = link.clone().send(Time(0), &frame(1024));
        let less = link.sent_by(Oscillator::EXACT, Ppm(800_000)).send(Time(0), &frame(1024));
        assert_eq!((less.free, less.arrives), (Time(whole.free.0 / 4 * 5), whole.arrives));
    }

    /// 20 ps a byte: 84 bytes take 1680 ps, of which 100 millionths are 0.168 ps.
    #[test]
    fn what_a_clock_is_off_adds_up_over_the_smallest_of_frames() {
        let sent = |clock: Oscillator, rate: Ppm| {
            let mut link = Link::new(&Config::ethernet(PortSpeed::G400, 0)).sent_by(clock, rate);
            let mut free = Time(0);
            for _ in 0..1_000_000 {
                free = link.send(free, &frame(64)).free;
                link.finish();
            }
            free
        };
        let slow = Oscillator::within(Ppm(100), u64::MAX);
        assert_eq!(sent(Oscillator::EXACT, Ppm::ONE), Time(1_680_000_000));
        assert_eq!(sent(slow, Ppm::ONE), Time(1_680_168_000));
        assert_eq!(sent(Oscillator::within(Ppm(100), 0), Ppm::ONE), Time(1_679_832_000));
        // 1680 x 1 000 100 / 999 900, a million times.
        assert_eq!(sent(slow, Ppm(999_900)), Time(1_680_336_033));
    }

    #[test]
    fn a_cut_loses_what_is_under_way_and_what_follows() {
        let mut link = Link::new(&Config::ethernet(PortSpeed::G100, 100));
        let first = link.send(Time(0), &frame(64));
        link.set_up(false);
        let second = link.send(first.free, &frame(64));
        assert_eq!(link.lost(), 2);
        link.set_up(true);
        let third = link.send(second.free, &frame(64));
        assert_eq!(link.arrived(first.arrives), None);
        assert!(link.arrived(third.arrives).is_some());
    }
}
