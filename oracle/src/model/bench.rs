//! The scenarios by which the engine is measured, those of a packet simulator (ns-3, HPCC) whose figures are published in the
//! research notes: senders at line rate and PFC only, or NICs with DCQCN; an answer of 60 B to every frame of data. What only the
//! simulator does, to the byte, is behind the feature `ns3`.

use super::queue::{EventQueue, Heap4};
use super::{Dir, Network, Packet, PacketKind, PortId, Shortcuts, Stream, Tap, Topology};
use rig_testcases::MacsecMode;
use rig_units::{Dur, Pace, Time};

pub mod dcqcn;
mod guards;
mod scenario;

use dcqcn::{Reaction, Red};
use guards::Guards;
pub use scenario::Scenario;

const DATA_SIZE: u16 = 1048;
/// No more than one frame of data takes at 100 Gb/s.
const SLOT: Dur = Dur::ns(83);
/// What the benchmark gives each switch.
const MEMORY: u64 = 32 << 20;
const CLASSES: [u8; 2] = [3, 4];

/// What runs beside the bare data path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Every other sender uses class 4 instead of 3.
    pub two_classes: bool,
    /// A PFC watchdog (mellanox rule) polls every queue of both classes so often.
    pub watchdog: Option<Dur>,
    /// Every frame at the first receiver is recorded.
    pub tap: bool,
    /// NICs that react to marks, and how many queue pairs each sender has; without them streams at line rate.
    pub nics: Option<(Reaction, u16)>,
    /// The engine's shortcuts.
    pub shortcuts: Shortcuts,
    /// Each frame takes as long as in the packet simulator: whole nanoseconds.
    #[cfg(feature = "ns3")]
    pub whole_ns: bool,
}

impl Features {
    /// Everything on; the watchdog polls each millisecond, a hundred times as often as a real one.
    pub fn all() -> Features {
        Features {
            two_classes: true,
            watchdog: Some(Dur::ms(1)),
            tap: true,
            nics: None,
            shortcuts: Shortcuts::default(),
            #[cfg(feature = "ns3")]
            whole_ns: false,
        }
    }

    fn topology(&self, scenario: Scenario) -> Topology {
        #[cfg(feature = "ns3")]
        if self.whole_ns {
            return scenario.ns3_topology(MEMORY);
        }
        scenario.topology(MEMORY)
    }

    /// Everything on, between NICs.
    pub fn of_nics(reaction: Reaction, pairs: u16) -> Features {
        Features { nics: Some((reaction, pairs)), ..Features::all() }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Frames put on a cable, of any kind.
    pub hops: u64,
    /// Those of them that are data.
    pub data_hops: u64,
    /// Those that answer it.
    pub answer_hops: u64,
    /// Congestion notifications. What is left is PFC.
    pub cnp_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Storms that the watchdog found. There are none.
    pub storms: u64,
    /// A sum over time, stream, number and mark of every frame that arrived at a host.
    pub checksum: u64,
}

/// Runs `scenario` for `simulated` time.
pub fn run(scenario: Scenario, features: Features, simulated: Dur) -> Figures {
    run_on::<Heap4>(scenario, features, simulated)
}

/// The same with another event queue.
pub fn run_on<Q: EventQueue>(scenario: Scenario, features: Features, simulated: Dur) -> Figures {
    let mut topology = features.topology(scenario);
    if let Some((reaction, _)) = features.nics {
        topology = dcqcn::topology(topology, reaction, Red::linear(1));
    }
    let mut network: Network<Q> = Network::new(&topology, Time::ZERO);
    network = network.with_shortcuts(features.shortcuts);
    match features.nics {
        None => start(&mut network, scenario, features.two_classes),
        Some((_, pairs)) => {
            dcqcn::start(&mut network, scenario, pairs, features.two_classes, false);
        }
    }
    let mut recorder = Recorder::new(features.tap.then(|| scenario.receiver(0)));
    let end = Time::ZERO + simulated;
    let mut storms = 0;
    if let Some(every) = features.watchdog {
        let mut guards = Guards::new(scenario, every);
        let mut next = Time::ZERO + every;
        while next < end {
            network.run_until(next, &mut recorder);
            storms += guards.poll(&network);
            next += every;
        }
    }
    network.run_until(end, &mut recorder);
    let work = network.work();
    Figures {
        hops: work.hops,
        data_hops: work.data_hops,
        answer_hops: work.answer_hops,
        cnp_hops: work.cnp_hops,
        events: work.events,
        storms,
        checksum: recorder.checksum,
    }
}

/// Starts every sender at line rate.
pub fn start<Q: EventQueue>(network: &mut Network<Q>, scenario: Scenario, two_classes: bool) {
    for sender in 0..scenario.senders() {
        let class = CLASSES[usize::from(two_classes && sender % 2 == 1)];
        let stream = Stream {
            address: 0,
            first: 0,
            id: sender,
            kind: PacketKind::Data,
            names: sender,
            class,
            dscp: class,
            size: DATA_SIZE,
            pace: Pace::every(SLOT),
            dst: scenario.receiver(sender),
            count: None,
            ect: false,
            ce: false,
            record: false,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
        };
        network.start_stream(sender, &stream);
    }
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

const RECORDS: usize = 1 << 12;
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
                PacketKind::Data => 0,
                PacketKind::Ack => 1,
                PacketKind::Pfc => 2,
                PacketKind::Nak => 3,
                PacketKind::Cnp => 4,
                PacketKind::ReadRequest => 5,
                PacketKind::NotReady => 6,
            };
            let rest = u64::from(packet.class) << 8 | kind;
            let way = u64::from(dir == Dir::Tx);
            let slot = self.next & (RECORDS - 1);
            self.records[slot] = [at.0, name, rest, u64::from(host) << 1 | way];
            self.next += 1;
        }
    }
}
