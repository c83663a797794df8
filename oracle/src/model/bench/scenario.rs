//! Who sends to whom in the benchmark, and through what.

use crate::model::{Cable, End, PortId, Topology};
use crate::model::{buffer, host, link, mac, pfc_gen, switch, wred};
use rig_lab::BufferFaults;
use rig_units::{Dur, PortSpeed, Quanta, Within};

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// So many senders and one receiver on one switch.
    Incast(u16),
    /// So many pairs of sender and receiver, each on its own switch, over one cable between the switches.
    Dumbbell(u16),
}

impl Scenario {
    /// Name of the scenario: `incast16`.
    pub fn name(self) -> String {
        match self {
            Scenario::Incast(senders) => format!("incast{senders}"),
            Scenario::Dumbbell(pairs) => format!("dumbbell{pairs}"),
        }
    }

    /// How many senders.
    pub const fn senders(self) -> u16 {
        match self {
            Scenario::Incast(senders) | Scenario::Dumbbell(senders) => senders,
        }
    }

    /// The host that sender `index` sends to.
    pub const fn receiver(self, index: u16) -> u16 {
        match self {
            Scenario::Incast(senders) => senders,
            Scenario::Dumbbell(pairs) => pairs + index,
        }
    }

    /// The port at which the senders' traffic piles up.
    pub const fn bottleneck(self) -> PortId {
        match self {
            Scenario::Incast(port) | Scenario::Dumbbell(port) => PortId { switch: 0, port },
        }
    }

    /// Every port of every switch.
    pub(super) fn ports(self) -> impl Iterator<Item = PortId> {
        let switches = match self {
            Scenario::Incast(_) => 1,
            Scenario::Dumbbell(_) => 2,
        };
        (0..switches)
            .flat_map(move |switch| (0..=self.senders()).map(move |port| PortId { switch, port }))
    }

    /// The same, and each frame takes as long as in the packet simulator.
    #[cfg(feature = "ns3")]
    pub fn ns3_topology(self, memory: u64) -> Topology {
        let mut topology = self.topology(memory);
        topology.cables.iter_mut().for_each(|cable| cable.link.whole_ns = true);
        topology
    }

    /// The topology, with `memory` bytes of buffer in each switch.
    pub fn topology(self, memory: u64) -> Topology {
        let senders = self.senders();
        let host = |at: (u16, u16), host: u16| Cable {
            ends: [End::Host(host), End::Port(PortId { switch: at.0, port: at.1 })],
            link: CABLE,
        };
        let (cables, switches): (Vec<Cable>, Vec<u16>) = match self {
            Scenario::Incast(_) => {
                ((0..=senders).map(|port| host((0, port), port)).collect(), vec![senders + 1])
            }
            Scenario::Dumbbell(_) => {
                let near = (0..senders).map(|port| host((0, port), port));
                let far = (0..senders).map(|port| host((1, port), senders + port));
                let end = |switch| End::Port(PortId { switch, port: senders });
                let trunk = Cable { ends: [end(0), end(1)], link: CABLE };
                (near.chain(far).chain([trunk]).collect(), vec![senders + 1; 2])
            }
        };
        let hosts = switches.iter().sum::<u16>() - if switches.len() == 2 { 2 } else { 0 };
        Topology {
            hosts: (0..hosts).map(|host| if host < senders { SENDER } else { RECEIVER }).collect(),
            switches: switches.iter().map(|&ports| ns3_switch(ports, memory)).collect(),
            cables,
            passed_on: None,
        }
    }
}

const CABLE: link::Config = {
    let mut bare = link::Config::ethernet(PortSpeed::G100, 0);
    bare.delay = Dur::us(1);
    bare.preamble = 0;
    bare.gap = 0;
    bare
};
const XON_XOFF: mac::Config = mac::Config { expires: false, ..mac::Config::prompt(u8::MAX) };
/// A sender or receiver whose NIC is still to be chosen.
pub(super) const DCQCN_HOST: host::Config = SENDER;
const SENDER: host::Config = host::Config { mac: XON_XOFF, ..host::Config::quiet() };
const RECEIVER: host::Config = SENDER.answering(60);

fn ns3_switch(ports: u16, memory: u64) -> switch::Config {
    const HEADROOM: u32 = 37_500;
    const RESERVED: u32 = 4_096;
    switch::Config {
        ports: (0..ports).map(|port| (format!("port{port}"), PortSpeed::G100)).collect(),
        mtu: u16::MAX,
        buffer: buffer::Config {
            pool: memory - u64::from(ports) * u64::from(HEADROOM + RESERVED),
            lossy_pool: 0,
            cell: 1,
            descriptor: 0,
            lossless: u8::MAX,
            reserved: RESERVED,
            group: buffer::Limit::Dynamic(-3),
            port: None,
            xon: 0,
            xon_offset: 3_072,
            headroom: HEADROOM,
            headroom_pool: None,
            margin: 0,
            delay: Within::ZERO,
            seed: 0,
            crossing: buffer::Crossing::Shared,
            voqs: false,
            queue: buffer::Limit::Dynamic(0),
            faults: BufferFaults::NONE,
        },
        wred: wred::Config::off(),
        pfc: pfc_gen::Config {
            sends: u8::MAX,
            quanta: Quanta::MAX,
            refresh: None,
            size: 43,
            fault: None,
            xon: pfc_gen::Xon::AtOnce,
            emission: Within::ZERO,
            resumption: Within::ZERO,
            seed: 0,
            class_off_by: 0,
            ends_with_link: false,
            ends_with_port: false,
        },
        mac: XON_XOFF,
        ..switch::Config::plain(ports, PortSpeed::G100)
    }
}
