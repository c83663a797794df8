//! The scenarios by which the engine is measured, with the semantics of the packet simulator (ns-3, HPCC) whose figures
//! are published in the research notes: senders at line rate, PFC only, an answer of 60 B to every frame of data.

use super::queue::{EventQueue, Heap4};
use super::{
    Cable, Dir, End, Kind, Network, Packet, PortId, QueueView, Shortcuts, Stream, Tap, Topology,
};
use super::{buffer, classify::Classifier, host, link, mac, pfc_gen, switch};
use rig_lab::Scheduling;
use rig_units::{Dur, Pace, PortSpeed, Quanta, Time};

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// So many senders and one receiver on one switch.
    Incast(u16),
    /// So many pairs of sender and receiver, each on its own switch, over one cable between the switches.
    Dumbbell(u16),
}

impl Scenario {
    /// The scenarios of the benchmark.
    pub const ALL: [Scenario; 4] =
        [Scenario::Incast(2), Scenario::Incast(8), Scenario::Incast(16), Scenario::Dumbbell(64)];

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
        }
    }
}

const CABLE: link::Config =
    link::Config { speed: PortSpeed::G100, delay: Dur::us(1), preamble: 0, gap: 0, whole_ns: true };
const XON_XOFF: mac::Config = mac::Config { expires: false, ..mac::Config::prompt(u8::MAX) };
const SENDER: host::Config = host::Config { mac: XON_XOFF, answer: None };
const RECEIVER: host::Config = host::Config { answer: Some(60), ..SENDER };
const DATA_SIZE: u16 = 1048;
/// One frame of data at 100 Gb/s, cut to whole nanoseconds.
const SLOT: Dur = Dur::ns(83);
/// What the benchmark gives each switch.
const MEMORY: u64 = 32 << 20;

fn ns3_switch(ports: u16, memory: u64) -> switch::Config {
    const HEADROOM: u32 = 37_500;
    const RESERVED: u32 = 4_096;
    switch::Config {
        ports: (0..ports).map(|port| (format!("port{port}"), PortSpeed::G100)).collect(),
        mtu: u16::MAX,
        forwarding_delay: Dur::ZERO,
        classifier: Classifier::plain(),
        scheduling: [Scheduling::Dwrr(1); 8],
        buffer: buffer::Config {
            pool: memory - u64::from(ports) * u64::from(HEADROOM + RESERVED),
            cell: 1,
            lossless: u8::MAX,
            reserved: RESERVED,
            group: buffer::Limit::Dynamic(-3),
            xon: 0,
            xon_offset: 3_072,
            headroom: HEADROOM,
            queue: buffer::Limit::Dynamic(0),
        },
        pfc: pfc_gen::Config { sends: u8::MAX, quanta: Quanta::MAX, refresh: None, size: 43 },
        mac: XON_XOFF,
    }
}

/// What runs beside the bare data path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Every other sender uses class 4 instead of 3.
    pub two_classes: bool,
    /// A poller reads every queue of both classes so often.
    pub poll: Option<Dur>,
    /// Every frame at the first receiver is recorded.
    pub tap: bool,
    /// The engine's shortcuts.
    pub shortcuts: Shortcuts,
}

impl Features {
    /// Everything on; the poller a thousand times as often as a real watchdog.
    pub fn all() -> Features {
        Features {
            two_classes: true,
            poll: Some(Dur::us(100)),
            tap: true,
            shortcuts: Shortcuts::default(),
        }
    }

    /// The bare data path.
    pub fn none() -> Features {
        Features { two_classes: false, poll: None, tap: false, ..Features::all() }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Frames put on a cable: data, answers and PFC.
    pub hops: u64,
    /// Those of them that are data.
    pub data_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Queues that the poller found paused, over all polls.
    pub found_paused: u64,
    /// A sum over time, stream, number and mark of every frame that arrived at a host.
    pub checksum: u64,
}

/// Runs `scenario` for `simulated` time.
pub fn run(scenario: Scenario, features: Features, simulated: Dur) -> Figures {
    run_on::<Heap4>(scenario, features, simulated)
}

/// The same with another event queue.
pub fn run_on<Q: EventQueue>(scenario: Scenario, features: Features, simulated: Dur) -> Figures {
    let mut network: Network<Q> = Network::new(&scenario.topology(MEMORY), Time::ZERO);
    network = network.with_shortcuts(features.shortcuts);
    start(&mut network, scenario, features.two_classes);
    let mut recorder = Recorder::new(features.tap.then(|| scenario.receiver(0)));
    let end = Time::ZERO + simulated;
    let mut found_paused = 0;
    if let Some(every) = features.poll {
        let mut next = Time::ZERO + every;
        while next < end {
            network.run_until(next, &mut recorder);
            found_paused += poll(&network, scenario);
            next += every;
        }
    }
    network.run_until(end, &mut recorder);
    let work = network.work();
    Figures {
        hops: work.hops(),
        data_hops: work.data_hops,
        events: work.events,
        found_paused,
        checksum: recorder.checksum,
    }
}

/// Starts every sender at line rate.
pub fn start<Q: EventQueue>(network: &mut Network<Q>, scenario: Scenario, two_classes: bool) {
    for sender in 0..scenario.senders() {
        let class = if two_classes && sender % 2 == 1 { 4 } else { 3 };
        let stream = Stream {
            id: sender,
            class,
            dscp: class,
            size: DATA_SIZE,
            pace: Pace::every(SLOT),
            dst: scenario.receiver(sender),
            count: None,
            ect: false,
            record: false,
        };
        network.start_stream(sender, &stream);
    }
}

/// Reads what a watchdog reads; how many queues are paused.
fn poll<Q: EventQueue>(network: &Network<Q>, scenario: Scenario) -> u64 {
    let switches = match scenario {
        Scenario::Incast(_) => 1,
        Scenario::Dumbbell(_) => 2,
    };
    let mut paused = 0;
    for at in (0..switches)
        .flat_map(|switch| (0..=scenario.senders()).map(move |port| PortId { switch, port }))
    {
        for class in [3, 4] {
            let QueueView { occupancy, paused: now, .. } = network.queue_view(at, class);
            paused += u64::from(now && occupancy > 0);
        }
    }
    paused
}

/// What a recorder keeps of a frame: 32 bytes.
type Record = [u64; 4];

/// Sums up every arrival, and records all frames of one host in a ring.
struct Recorder {
    checksum: u64,
    tapped: u16,
    records: Vec<Record>,
    next: usize,
}

const RECORDS: usize = 1 << 14;
const NOBODY: u16 = u16::MAX;

impl Recorder {
    fn new(tapped: Option<u16>) -> Recorder {
        Recorder {
            checksum: 0,
            tapped: tapped.unwrap_or(NOBODY),
            records: vec![[0; 4]; RECORDS],
            next: 0,
        }
    }
}

impl Tap for Recorder {
    #[inline]
    fn frame(&mut self, at: Time, host: u16, dir: Dir, packet: &Packet) {
        let name =
            u64::from(packet.seq) << 32 | u64::from(packet.stream) << 16 | u64::from(packet.size);
        if dir == Dir::Rx {
            // A multiplicative hash of each arrival; the sum does not depend on the order of summing.
            let arrival =
                at.0 ^ name.rotate_left(17) ^ u64::from(packet.ce()) << 63 ^ u64::from(host) << 48;
            self.checksum = self.checksum.wrapping_add(arrival.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        if host == self.tapped {
            let kind = match packet.kind {
                Kind::Data => 0,
                Kind::Ack => 1,
                Kind::Pfc => 2,
            };
            let rest = u64::from(packet.class) << 8 | kind;
            let way = u64::from(dir == Dir::Tx);
            let slot = self.next & (RECORDS - 1);
            self.records[slot] = [at.0, name, rest, u64::from(host) << 1 | way];
            self.next += 1;
        }
    }
}
