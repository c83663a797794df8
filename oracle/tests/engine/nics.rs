//! NICs behind a switch: the engine's own doings must not show, and a cable between two hosts is a cable.

use crate::rig::*;
use proptest::prelude::*;
use rig_oracle::model::nic::{self, Flow, Verb};
use rig_oracle::model::queue::{EventQueue, Heap4, Ordered};
use rig_oracle::model::{
    Network, PacketKind, Shortcuts, Storm, Stream, Topology, host, link, switch, wred,
};
use rig_testcases::IpVersion;
use rig_units::{Bytes, Dur, Pace, Ppm, Quanta, Time};

const OFF: [Shortcuts; 4] = [
    Shortcuts { bypass: false, fold: true, late_hosts: true },
    Shortcuts { bypass: true, fold: false, late_hosts: true },
    Shortcuts { bypass: true, fold: true, late_hosts: false },
    Shortcuts { bypass: false, fold: false, late_hosts: false },
];

/// Three NICs and a port of the rig on one switch that marks, drops and pauses.
#[derive(Debug, Clone)]
struct Script {
    flows: Vec<(u16, Flow)>,
    config: nic::Config,
    cnps: u64,
    storm: bool,
    cut: u16,
}

fn config() -> nic::Config {
    let mut config = nic::Config::declared(&rig_lab::Nic::quiet());
    (config.np.enable, config.rp.enable) = (true, true);
    (config.np.interval, config.rp.cut_window) = (Dur::us(4), Dur::us(4));
    (config.rp.alpha_timer, config.rp.timer) = (Dur::us(5), Dur::us(6));
    config.rp.byte_counter = Bytes(50_000);
    config.rc.timeout = rig_lab::AckTimeout::Time(Dur::us(40));
    config
}

fn script() -> impl Strategy<Value = Script> {
    let verb = prop_oneof![Just(Verb::Send), Just(Verb::Write), Just(Verb::Read)];
    let flow = (
        1..4_u16,
        1..3_u16,
        verb,
        1..9_u32,
        prop_oneof![Just(1_024_u32), Just(4_096)],
        any::<bool>(),
        prop_oneof![Just(0_u32), Just(0xff_fff8)],
    )
        .prop_map(|(from, ahead, verb, kilo, mtu, low, psn)| {
            let dst = (from - 1 + ahead) % 3 + 1;
            let class = if low { 0 } else { 3 };
            let message = kilo * 1_500;
            (
                from,
                Flow {
                    id: 0,
                    verb,
                    message,
                    mtu,
                    count: Some(40),
                    psn,
                    dst,
                    class,
                    dscp: class,
                    pcp: None,
                    over: IpVersion::V4,
                    gid: 0,
                    ect: true,
                    container: rig_testcases::Container::USUAL,
                },
            )
        });
    let timing = (0..3_u64, 0..3_u64, 0..3_u64, 1..4_u16, 0..3_u32, any::<bool>());
    (prop::collection::vec(flow, 1..6), timing, 0..4_u64, any::<bool>(), 1..4_u16).prop_map(
        |(flows, (ack, np, rp, ack_every, cache, ack_earns), cnps, storm, cut)| {
            let mut config = config();
            (config.rc.ack_latency, config.np.latency, config.rp.latency) =
                (Dur::ns(ack * 500).into(), Dur::ns(np * 300).into(), Dur::ns(rp * 400).into());
            config.rc.ack_every = ack_every;
            config.np.ack_earns = ack_earns;
            (config.receive.cache, config.receive.miss) =
                (cache, if cache == 0 { Dur::ZERO } else { Dur::ns(700) });
            Script { flows, config, cnps, storm, cut }
        },
    )
}

fn topology(config: &nic::Config) -> Topology {
    let mut device = switch::Config::plain(4, SPEED);
    device.buffer.pool = 100_000;
    device.buffer.lossy_pool = 60_000;
    let curve = wred::Curve { kmin: 3_000, kmax: 30_000, pmax: Ppm(500_000) };
    device.wred = wred::Config { queues: 0b1001, mark: [curve; 3], ..wred::Config::off() };
    let mut topology = star(device);
    for host in &mut topology.hosts[1..] {
        *host = host::Config::nic(*config);
    }
    topology
}

fn play<Q: EventQueue>(script: &Script, start: Time, shortcuts: Shortcuts, step: Dur) -> Vec<Seen> {
    let mut network: Network<Q> =
        Network::new(&topology(&script.config), start).with_shortcuts(shortcuts);
    let mut trace = Trace::default();
    for (id, &(from, flow)) in (0..).zip(&script.flows) {
        network.start_flow(from, &Flow { id, ..flow });
    }
    network.answer(0, Some(66));
    network.start_stream(0, &Stream { names: 50, ..stream(50, 3, 60, 2) });
    for id in 0..script.cnps {
        let names = u16::try_from(id).unwrap();
        let pace = Pace::every(Dur::us(3 + id));
        let cnps = Stream {
            kind: PacketKind::Cnp,
            names,
            size: 78,
            pace,
            ..stream(100 + names, 6, 1, 1 + names % 3)
        };
        network.start_stream(0, &cnps);
    }
    if script.storm {
        let every = SPEED.pause(Quanta(64));
        network
            .start_storm(0, &Storm { quanta: Quanta(64), every, enable: 0b1000, ..storm(200, 3) });
        network.start_flow(1, &Flow { id: 60, dst: 0, count: None, ..script.flows[0].1 });
    }
    for act in 0..6 {
        let until = start + Dur::us(25) * (act + 1);
        while network.now() < until {
            let next = (network.now() + step).min(until);
            network.run_until(next, &mut trace);
        }
        let mut other = script.config;
        match act {
            0 => network.set_link(script.cut, false),
            1 => network.set_link(script.cut, true),
            2 => {
                other.rp.scope = rig_lab::Scope::Port;
                other.np.latency = Dur::ns(100).into();
                network.set_nic(2, &other);
            }
            3 => network.stop_flow(script.flows[0].0, 0),
            _ => network.answer(0, None),
        }
    }
    let mut seen = trace.sorted();
    for seen in &mut seen {
        seen.at = Time::ZERO + (seen.at - start);
    }
    seen
}

/// The first frame that is not the same, beside the one that it should be.
fn differ(got: &[Seen], want: &[Seen]) -> Option<(Option<Seen>, Option<Seen>)> {
    let most = got.len().max(want.len());
    let at = |index: usize| (got.get(index).copied(), want.get(index).copied());
    (0..most).map(at).find(|(got, want)| got != want)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn one_script_of_nics_gives_one_trace(script in script()) {
        let (whole, usual) = (Dur::s(1), Shortcuts::default());
        let want = play::<Heap4>(&script, Time::ZERO, usual, whole);
        prop_assert!(!want.is_empty());
        prop_assert_eq!(differ(&play::<Ordered>(&script, Time::ZERO, usual, whole), &want), None);
        for shortcuts in OFF {
            let got = play::<Heap4>(&script, Time::ZERO, shortcuts, whole);
            prop_assert_eq!(differ(&got, &want), None, "{:?}", shortcuts);
        }
        let stepped = play::<Heap4>(&script, Time::ZERO, usual, Dur::ns(1_237));
        prop_assert_eq!(differ(&stepped, &want), None);
        let days = Time::ZERO + Dur::s(5 * 86_400);
        prop_assert_eq!(differ(&play::<Heap4>(&script, days, usual, whole), &want), None);
    }
}

#[test]
fn two_ports_of_the_rig_on_one_cable_hear_each_other() {
    use rig_oracle::model::{Cable, Dir, End};
    let link = link::Config::ethernet(SPEED, METRES);
    let cables = vec![Cable { ends: [End::Host(0), End::Host(1)], link }];
    let hosts = vec![host::Config::quiet(), host::Config::quiet().answering(64)];
    let mut network: Network = Network::new(
        &Topology { hosts, switches: Vec::new(), cables, passed_on: None },
        Time::ZERO,
    );
    network.start_stream(0, &Stream { count: Some(3), ..stream(1, 3, 10, 1) });
    let mut trace = Trace::default();
    run(&mut network, Dur::us(20), &mut trace);
    assert_eq!(trace.count(1, Dir::Rx, PacketKind::Data), 3);
    let first = trace.select(0, Dir::Rx, PacketKind::Ack).next().unwrap();
    assert_eq!(first.at, Time::ZERO + to_last_bit(SIZE) + TRAVEL + to_last_bit(64) + TRAVEL);
    // A pause holds across it.
    network.start_storm(1, &storm(9, 3));
    network.start_stream(0, &stream(2, 3, 10, 1));
    let before = trace.count(1, Dir::Rx, PacketKind::Data);
    run(&mut network, Dur::ms(1), &mut trace);
    assert!(trace.count(1, Dir::Rx, PacketKind::Data) - before < 10);
}
