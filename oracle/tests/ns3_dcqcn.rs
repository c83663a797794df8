//! NICs and marking against an independent packet simulator: HPCC's ns-3 with DCQCN on. Its semantics are an option of the
//! model; see `model::nic::simulated`. The figures are those of the research notes.
//!
//! Bounds as agreed. Start-up under step marking: the first mark and the first cut within 1 us, the queue's peak over 2 ms within
//! 1 % or what it grows by in one sample. Steady state, 50 to 100 ms: the queue's mean and 99th percentile and the cuts within
//! 10 %, goodput within 1 % of the ceiling. Frames leave each 83 ns, so the ceiling is 8000 bits a 83 ns.

use rig_oracle::model::bench::Scenario;
use rig_oracle::model::bench::dcqcn::{Reaction, Red, start, topology};
use rig_oracle::model::{Dir, Kind, Network, Packet};
use rig_units::{Dur, Time};

const MEMORY: u64 = 32 << 20;
/// The class of all data.
const CLASS: u8 = 3;

fn network(scenario: Scenario, reaction: Reaction, red: Red) -> Network {
    let mut network = Network::new(&topology(scenario, MEMORY, reaction, red), Time::ZERO);
    start(&mut network, scenario, 1, false, false);
    network
}

fn queue(network: &Network, scenario: Scenario) -> u64 {
    network.queue_view(scenario.bottleneck(), CLASS).occupancy
}

/// What happens first: microseconds, and bytes.
#[derive(Debug)]
struct Startup {
    peak: u64,
    peak_us: u64,
    growth: u64,
    mark_us: f64,
    cut_us: f64,
}

fn startup(scenario: Scenario, reaction: Reaction) -> Startup {
    let mut network = network(scenario, reaction, Red::step());
    let mut mark = Time::MAX;
    let mut tap = |at: Time, _: u16, dir: Dir, packet: &Packet| {
        if dir == Dir::Rx && packet.kind == Kind::Ack && packet.ce() {
            mark = mark.min(at);
        }
    };
    let (mut peak, mut peak_us, mut growth, mut before) = (0, 0, 0, 0);
    for us in 1..=2_000 {
        network.run_until(Time::ZERO + Dur::us(us), &mut tap);
        let queue = queue(&network, scenario);
        if queue > peak {
            (peak, peak_us, growth) = (queue, us, queue.saturating_sub(before));
        }
        before = queue;
    }
    let cuts = (0..scenario.senders())
        .filter_map(|sender| network.nic(sender)?.simulated(sender)?.first_cut());
    let us = |at: Time| at.0 as f64 / 1e6;
    Startup { peak, peak_us, growth, mark_us: us(mark), cut_us: us(cuts.min().unwrap()) }
}

/// What goes on between 50 and 100 ms: bytes, cuts of all flows a second, share of the ceiling.
#[derive(Debug, Clone, Copy)]
struct Steady {
    mean: f64,
    p99: f64,
    cuts: f64,
    increases: f64,
    goodput: f64,
}

fn steady(scenario: Scenario, reaction: Reaction, red: Red) -> Steady {
    let mut network = network(scenario, reaction, red);
    let middle = Time::ZERO + Dur::ms(50);
    let mut received = 0_u64;
    let receivers = scenario.senders();
    let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
        let is = host >= receivers && dir == Dir::Rx && packet.kind == Kind::Data && at >= middle;
        received += u64::from(is);
    };
    network.run_until(middle, &mut tap);
    let changes = |network: &Network| {
        let of = |sender| network.nic(sender)?.simulated(sender);
        let all = (0..scenario.senders()).filter_map(of).map(|limiter| limiter.changes());
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let before = changes(&network);
    let mut samples = Vec::new();
    for sample in 1..=100_000 {
        network.run_until(middle + Dur::ns(500) * sample, &mut tap);
        samples.push(queue(&network, scenario));
    }
    let after = changes(&network);
    samples.sort_unstable();
    Steady {
        mean: samples.iter().sum::<u64>() as f64 / samples.len() as f64,
        p99: samples[samples.len() * 99 / 100] as f64,
        cuts: (after.0 - before.0) as f64,
        increases: (after.1 - before.1) as f64,
        goodput: received as f64 * 83e-9 / 0.05,
    }
}

#[test]
fn explore() {
    for n in [2, 8, 16] {
        for reaction in [Reaction::Dcqcn, Reaction::Paper, Reaction::F5] {
            println!("{n} {} {:?}", reaction.name(), startup(Scenario::Incast(n), reaction));
        }
    }
    for n in [2, 8, 16] {
        for reaction in [Reaction::Dcqcn, Reaction::Paper, Reaction::F5] {
            println!(
                "{n} {} {:?}",
                reaction.name(),
                steady(Scenario::Incast(n), reaction, Red::step())
            );
        }
    }
    for scenario in
        [Scenario::Incast(2), Scenario::Incast(8), Scenario::Incast(16), Scenario::Dumbbell(64)]
    {
        for reaction in [Reaction::Dcqcn, Reaction::Paper, Reaction::F5] {
            println!(
                "linear {} {} {:?}",
                scenario.name(),
                reaction.name(),
                steady(scenario, reaction, Red::linear(1))
            );
        }
    }
}
