//! A port of the rig and a NIC on 198 m of cable, which is exactly 1 us; and two NICs on such a cable.

use crate::model::host::{self, Stream};
use crate::model::link;
use crate::model::network::Network;
use crate::model::nic::{Config, Flow, Verb};
use crate::model::packet::{Packet, PacketKind};
use crate::model::tap::Dir;
use crate::model::topology::{Cable, End, Topology};
use rig_lab::{DeviceFaults, IpVersion, Switched};
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace, PortSpeed, Time};

/// The rig's port, or the NIC at the far end.
pub(super) const RIG: u16 = 0;
/// The NIC that is looked at.
pub(super) const NIC: u16 = 1;

/// A frame that passed host [`RIG`]: when its last bit did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) at: Time,
    pub(super) dir: Dir,
    pub(super) packet: Packet,
}

impl Seen {
    /// When its first bit left host [`NIC`].
    pub(super) fn left(&self) -> Time {
        self.at.saturating_sub(Dur::us(1) + serialise(self.packet.size))
    }
}

/// From the first bit of the preamble to the last bit of a frame, at 100 Gb/s.
pub(super) fn serialise(size: u16) -> Dur {
    Dur::ns(0) + Dur((u64::from(size) + 8) * 80)
}

pub(super) struct Bench {
    pub(super) network: Network,
    pub(super) seen: Vec<Seen>,
}

/// What a profile declares where nothing is asked for, with notification and reaction switched on.
pub(super) fn config() -> Config {
    let mut config = Config::declared(&rig_lab::Nic::quiet());
    (config.np.enable, config.rp.enable) = (true, true);
    config
}

pub(super) fn faulty(deviation: &str) -> Config {
    let switched: Switched = deviation.parse().unwrap();
    Config { faults: DeviceFaults::of(&[switched]).nic, ..config() }
}

/// The NIC beside a port of the rig.
pub(super) fn bench(config: &Config) -> Bench {
    Bench::new(host::Config::quiet(), config)
}

/// The NIC beside another one.
pub(super) fn pair(far: &Config, config: &Config) -> Bench {
    Bench::new(host::Config::nic(*far), config)
}

pub(super) fn flow(id: u16) -> Flow {
    Flow {
        id,
        verb: Verb::Send,
        message: 1_024,
        mtu: 1_024,
        count: None,
        psn: 0,
        dst: RIG,
        class: 3,
        dscp: 26,
        pcp: None,
        over: IpVersion::V4,
        gid: 0,
        ect: true,
        container: rig_testcases::Container::USUAL,
    }
}

impl Bench {
    fn new(far: host::Config, config: &Config) -> Bench {
        let hosts = vec![far, host::Config::nic(*config)];
        let link = link::Config::ethernet(PortSpeed::G100, 198);
        let cables = vec![Cable { ends: [End::Host(RIG), End::Host(NIC)], link }];
        let topology = Topology { hosts, switches: Vec::new(), cables, passed_on: None };
        Bench { network: Network::new(&topology, Time::ZERO), seen: Vec::new() }
    }

    /// Runs until so long after the start.
    pub(super) fn run(&mut self, until: Dur) {
        let seen = &mut self.seen;
        let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
            if host == RIG {
                seen.push(Seen { at, dir, packet: *packet });
            }
        };
        self.network.run_until(Time::ZERO + until, &mut tap);
    }

    /// Lets the rig send one frame now; its last bit arrives at the NIC after [`arrival`].
    pub(super) fn send(&mut self, packet: Packet) {
        self.network.send(RIG, packet);
    }

    /// Lets the rig send frames of a connection.
    pub(super) fn stream(&mut self, kind: PacketKind, names: u16, every: Dur, count: u32) {
        let stream = Stream {
            address: 0,
            first: 0,
            id: 100 + names,
            kind,
            names,
            class: 3,
            dscp: 26,
            size: 1_024,
            pace: Pace::every(every),
            dst: NIC,
            count: Some(count),
            ect: true,
            ce: kind == PacketKind::Data,
            record: true,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
        };
        self.network.start_stream(RIG, &stream);
    }

    /// What host [`RIG`] received of one kind.
    pub(super) fn received(&self, kind: PacketKind) -> Vec<Seen> {
        let is = |seen: &&Seen| seen.dir == Dir::Rx && seen.packet.kind == kind;
        self.seen.iter().filter(is).copied().collect()
    }
}

/// From when the rig is told to send a frame to when its last bit is at the NIC.
pub(super) fn arrival(size: u16) -> Dur {
    serialise(size) + Dur::us(1)
}

/// A CNP of the rig for a connection.
pub(super) fn cnp(stream: u16) -> Packet {
    Packet { kind: PacketKind::Cnp, ..Packet::data(stream, RIG, NIC, 6, 48, 78) }
}

/// A frame of data of the rig, marked or not.
pub(super) fn data(stream: u16, seq: u32, ce: bool) -> Packet {
    Packet { seq, ..Packet::data(stream, RIG, NIC, 3, 26, 1_024) }.with_ect(true).with_ce(ce)
}
