//! A small rig: one switch, a host on each port, and a record of what passed the hosts.

use rig_oracle::model::queue::EventQueue;
use rig_oracle::model::{
    Dir, Network, Packet, PacketKind, Storm, Stream, Tap, Topology, host, link, switch,
};
use rig_testcases::MacsecMode;
use rig_units::{Bytes, Dur, Pace, PortSpeed, Quanta, Time};

pub(crate) const SPEED: PortSpeed = PortSpeed::G100;
/// 198 m: exactly 1 us.
pub(crate) const METRES: u64 = 198;
pub(crate) const TRAVEL: Dur = Dur::us(1);
pub(crate) const SIZE: u16 = 1024;

/// One frame that passed a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) host: u16,
    pub(crate) dir: Dir,
    pub(crate) kind: PacketKind,
    pub(crate) stream: u16,
    pub(crate) seq: u32,
    pub(crate) class: u8,
    pub(crate) enable: u8,
    pub(crate) zero: u8,
    pub(crate) size: u16,
    pub(crate) ce: bool,
}

/// Everything that passed the hosts.
#[derive(Debug, Default)]
pub(crate) struct Trace(pub(crate) Vec<Seen>);

impl Tap for Trace {
    fn frame(&mut self, at: Time, host: u16, dir: Dir, packet: &Packet) {
        let ce = packet.ce();
        let Packet { kind, stream, seq, class, enable, zero, size, .. } = *packet;
        self.0.push(Seen { at, host, dir, kind, stream, seq, class, enable, zero, size, ce });
    }
}

impl Trace {
    /// In order of time, and of host among equals.
    pub(crate) fn sorted(mut self) -> Vec<Seen> {
        self.0.sort();
        self.0
    }

    pub(crate) fn select(
        &self,
        host: u16,
        dir: Dir,
        kind: PacketKind,
    ) -> impl Iterator<Item = &Seen> {
        self.0.iter().filter(move |seen| (seen.host, seen.dir, seen.kind) == (host, dir, kind))
    }

    pub(crate) fn count(&self, host: u16, dir: Dir, kind: PacketKind) -> usize {
        self.select(host, dir, kind).count()
    }
}

pub(crate) fn topology(ports: u16) -> Topology {
    star(switch::Config::plain(ports, SPEED))
}

pub(crate) fn star(switch: switch::Config) -> Topology {
    Topology::star(switch, host::Config::quiet(), link::Config::ethernet(SPEED, METRES))
}

pub(crate) fn network(ports: u16) -> Network {
    Network::new(&topology(ports), Time::ZERO)
}

/// A stream of class `class` at `percent` of the line.
pub(crate) fn stream(id: u16, class: u8, percent: u64, dst: u16) -> Stream {
    let line = SPEED.slot(Bytes(SIZE.into()));
    Stream {
        address: 0,
        first: 0,
        id,
        kind: PacketKind::Data,
        names: id,
        class,
        dscp: class,
        size: SIZE,
        pace: Pace::every(Dur(line.0 * 100 / percent)),
        dst,
        count: None,
        ect: false,
        ce: false,
        record: true,
        pcp: None,
        macsec_mode: MacsecMode::Usual,
    }
}

/// A gap-free storm: refreshed twice per pause.
pub(crate) fn storm(id: u16, class: u8) -> Storm {
    let every = SPEED.pause(Quanta::MAX) / 2;
    Storm {
        id,
        enable: 1 << class,
        zero: 0,
        quanta: Quanta::MAX,
        every,
        count: None,
        macsec_mode: MacsecMode::Usual,
    }
}

pub(crate) fn xoff(class: u8, quanta: u16) -> Packet {
    Packet::pfc(1 << class, 0, Quanta(quanta), 64)
}

pub(crate) fn xon(class: u8) -> Packet {
    Packet::pfc(1 << class, 1 << class, Quanta(0), 64)
}

/// From the start of a frame to its last bit: preamble and frame.
pub(crate) fn to_last_bit(size: u16) -> Dur {
    SPEED.serialise(Bytes(u64::from(size) + 8))
}

/// Runs for `dur` from the present.
pub(crate) fn run<Q: EventQueue>(network: &mut Network<Q>, dur: Dur, trace: &mut Trace) {
    let until = network.now() + dur;
    network.run_until(until, trace);
}

/// Sum of all counters of the switch whose name contains `name`.
pub(crate) fn total<Q: EventQueue>(network: &Network<Q>, name: &str) -> u64 {
    network.snapshot(0).filter(|(counter, _)| counter.contains(name)).map(|(_, n)| n).sum()
}
