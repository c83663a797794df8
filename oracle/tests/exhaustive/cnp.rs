//! The CNP limiter: four marks at every distance, of every queue pair out of three from two senders, within each scope.

use rig_lab::{Np, Scope};
use rig_oracle::model::nic::Config;
use rig_oracle::model::{
    Cable, Dir, End, Network, Packet, PacketKind, Stream, Topology, host, link,
};
use rig_oracle::spec::nic::np::{Mark, answered};
use rig_testcases::MacsecMode;
use rig_units::{Bytes, Dur, Pace, PortSpeed, Time};

const RIG: u16 = 0;
const NIC: u16 = 1;
const SPEED: PortSpeed = PortSpeed::G100;
const SIZE: u16 = 1_024;
/// 198 m.
const TRAVEL: Dur = Dur::us(1);
const TICK: Dur = Dur::us(1);
/// The interval of the notification point, in ticks.
const INTERVAL: u64 = 4;
/// The longest distance between two marks: one more than the interval.
const APART: u64 = INTERVAL + 1;
const MARKS: usize = 4;
const SCOPES: [Scope; 3] = [Scope::Qp, Scope::DestIp, Scope::Port];
/// Queue pairs, and the address that each sends from.
const PAIRS: [(u16, u8); 3] = [(1, 0), (2, 0), (3, 1)];

/// How far after the one before each mark comes, in ticks, and its place in [`PAIRS`].
type Marks = [(u64, usize); MARKS];

fn np(scope: Scope) -> Np {
    Np { enable: true, interval: TICK * INTERVAL, scope, ..rig_lab::Nic::quiet().np }
}

/// From the first bit of the preamble to the last bit of a frame at the far end.
fn arrival(size: u16) -> Dur {
    SPEED.serialise(Bytes(u64::from(size) + 8)) + TRAVEL
}

/// One marked frame of a queue pair, with the number that is expected there.
fn mark((pair, address): (u16, u8), number: u32) -> Stream {
    Stream {
        id: pair,
        kind: PacketKind::Data,
        names: pair,
        first: number,
        class: 3,
        dscp: 26,
        size: SIZE,
        pace: Pace::every(TICK),
        dst: NIC,
        count: Some(1),
        ect: true,
        ce: true,
        record: true,
        pcp: None,
        macsec_mode: MacsecMode::Usual,
        address,
    }
}

/// A port of the rig and a NIC; the marks are sent one after the other for as long as there are any.
struct Bench {
    network: Network,
    next: [u32; PAIRS.len()],
}

impl Bench {
    fn new(config: &Config) -> Bench {
        let hosts = vec![host::Config::quiet(), host::Config::nic(*config)];
        let link = link::Config::ethernet(SPEED, 198);
        let cables = vec![Cable { ends: [End::Host(RIG), End::Host(NIC)], link }];
        let topology = Topology { hosts, switches: Vec::new(), cables, passed_on: None };
        Bench { network: Network::new(&topology, Time::ZERO), next: [0; PAIRS.len()] }
    }

    /// Sends the marks; when the first bit of each CNP left, and for which queue pair.
    fn cnps(&mut self, marks: &Marks) -> Vec<(Time, u16)> {
        let mut cnps = Vec::new();
        let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
            if (host, dir, packet.kind) == (RIG, Dir::Rx, PacketKind::Cnp) {
                cnps.push((at - arrival(packet.size), packet.stream));
            }
        };
        for &(after, pair) in marks {
            self.network.run_until(self.network.now() + TICK * after, &mut tap);
            self.network.start_stream(RIG, &mark(PAIRS[pair], self.next[pair]));
            self.next[pair] += 1;
        }
        // Whatever was answered last is longer ago than the interval when the next marks come.
        self.network.run_until(self.network.now() + TICK * (2 * INTERVAL), &mut tap);
        cnps
    }
}

/// The CNPs that are predicted for marks that begin at `start`.
fn predicted(np: &Np, start: Time, marks: &Marks) -> Vec<(Time, u16)> {
    let mut at = start + arrival(SIZE);
    let marks: Vec<Mark> = marks
        .iter()
        .map(|&(after, pair)| {
            at += TICK * after;
            Mark { at, qp: PAIRS[pair].0, from: PAIRS[pair].1.into() }
        })
        .collect();
    let answers = answered(np, &marks).into_iter();
    answers.map(|answer| (answer.ready.from, marks[answer.mark].qp)).collect()
}

fn every_marks() -> impl Iterator<Item = Marks> {
    let (apart, pairs) = (usize::try_from(APART).expect("few"), PAIRS.len());
    (0..apart.pow(3)).flat_map(move |afters| {
        (0..pairs.pow(4)).map(move |all| {
            [0, 1, 2, 3].map(|nth| {
                let after = if nth == 0 { 0 } else { 1 + afters / apart.pow(nth - 1) % apart };
                (u64::try_from(after).expect("few"), all / pairs.pow(nth) % pairs)
            })
        })
    })
}

/// How the model departs from what is predicted.
type Planted = fn(&mut Config);

fn search(scope: Scope, planted: Planted) -> Result<u64, String> {
    let mut config = Config::declared(&rig_lab::Nic::quiet());
    config.np = np(scope);
    planted(&mut config);
    let mut bench = Bench::new(&config);
    let mut points = 0;
    for marks in every_marks() {
        let start = bench.network.now();
        let (got, want) = (bench.cnps(&marks), predicted(&np(scope), start, &marks));
        if got != want {
            let first = start + arrival(SIZE) + np(scope).latency.least();
            let of = |cnps: &[(Time, u16)]| {
                let cnps = cnps.iter().map(|(at, qp)| format!("({}, {qp})", *at - first));
                cnps.collect::<Vec<_>>().join(", ")
            };
            return Err(format!("{scope:?}, {marks:?}: [{}], predicted [{}]", of(&got), of(&want)));
        }
        points += 1;
    }
    Ok(points)
}

#[test]
fn a_mark_is_answered_exactly_where_the_renewal_process_of_its_scope_says_so() {
    let mut all = 0;
    for scope in SCOPES {
        all += search(scope, |_| {}).unwrap_or_else(|why| panic!("{why}"));
    }
    println!("{all} orders of {MARKS} marks");
    assert!(all >= 10_000, "{all}");
}

/// The smallest order of marks at which a planted departure shows.
fn found(scope: Scope, planted: Planted) -> String {
    search(scope, planted).expect_err("a planted departure is found")
}

#[test]
fn an_interval_of_a_picosecond_more_and_of_a_tick_less_are_found_in_each_scope() {
    for scope in SCOPES {
        assert_eq!(
            found(scope, |config| config.np.interval += Dur(1)),
            format!(
                "{scope:?}, [(0, 0), (2, 0), (1, 0), (1, 0)]: [(0ms, 1)], predicted [(0ms, 1), (4us, 1)]"
            )
        );
        assert_eq!(
            found(scope, |config| config.np.interval = TICK * (INTERVAL - 1)),
            format!(
                "{scope:?}, [(0, 0), (1, 0), (1, 0), (1, 0)]: [(0ms, 1), (3us, 1)], predicted [(0ms, 1)]"
            )
        );
    }
}

#[test]
fn the_interval_of_another_scope_is_found() {
    let pairs = "[(0, 1), (1, 0), (1, 0), (1, 0)]";
    let one = found(Scope::Qp, |config| config.np.scope = Scope::DestIp);
    assert_eq!(one, format!("Qp, {pairs}: [(0ms, 2)], predicted [(0ms, 2), (1us, 1)]"));
    let two = found(Scope::Port, |config| config.np.scope = Scope::Qp);
    assert_eq!(two, format!("Port, {pairs}: [(0ms, 2), (1us, 1)], predicted [(0ms, 2)]"));
    found(Scope::DestIp, |config| config.np.scope = Scope::Port);
}
