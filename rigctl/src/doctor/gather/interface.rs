//! Interfaces that the caller named.

use super::super::facts::{Cable, Interface, LinkFacts, PortFacts, Way};
use super::{facts, small};
use rig_generator::cabled::{self, End};
use rig_generator::clock::Wall;
use rig_generator::pause_counters::{self, Pauses};
use rig_generator::port::{Backend, Config, Ethtool, Link, Port, clock_read_within};
use rig_units::Dur;

/// The longest frame that is asked of a port.
const LONGEST: usize = 9_100;
/// How long a link may take: many NICs drop it while a program is attached.
const SETTLE: Dur = Dur::s(5);
/// Frames of each kind that are sent over a cable.
const FRAMES: u32 = 200;

/// What `name` is, and what a port on it can do.
pub fn interface(name: &str, backend: Backend) -> Interface {
    let link = Link::named(name).map_err(|error| error.to_string());
    let port = port(name, backend, link.as_ref().ok());
    Interface { name: name.to_owned(), link: link.map(|link| state(name, &link)), port }
}

fn state(name: &str, link: &Link) -> LinkFacts {
    let ethtool = Ethtool::open(name).ok();
    let ask = ethtool.as_ref();
    let clocks = ask.and_then(|ethtool| ethtool.timestamping().ok());
    LinkFacts {
        driver: ask.and_then(|ethtool| ethtool.driver().ok()),
        up: link.up,
        carrier: link.carrier,
        mtu: link.mtu,
        pair: link.pair,
        speed: ask.and_then(|ethtool| ethtool.speed().ok()).flatten(),
        queues: ask.and_then(|ethtool| ethtool.receive_queues().ok()).flatten(),
        timestamps: clocks.map(|clocks| (clocks.rx_hardware, clocks.tx_hardware)),
        clock: clocks.and_then(|clocks| clocks.ptp).map(clock_read_within),
        counts_pauses: !pauses(name).is_empty(),
    }
}

/// Opens a port and closes it again.
fn port(name: &str, backend: Backend, link: Option<&Link>) -> Result<PortFacts, String> {
    // Without the interface the fault is told once, by the link.
    let longest = link.map_or(1_514, |link| link.longest.min(LONGEST));
    let config = Config { longest, settle: SETTLE, ..small(backend, name) };
    Port::open(&config).map(|port| facts(&port.caps)).map_err(|error| error.to_string())
}

/// What passes between two interfaces that are cabled to each other.
pub fn cable(ends: &[String; 2], backend: Backend) -> Cable {
    Cable { ends: ends.clone(), ways: ways(ends, backend) }
}

fn ways([one, other]: &[String; 2], backend: Backend) -> Result<[Way; 2], String> {
    let open = |name: &String| {
        let config = Config { settle: SETTLE, ..small(backend, name) };
        Port::open(&config).map_err(|error| error.to_string())
    };
    let (mut first, mut second) = (open(one)?, open(other)?);
    let before = [pauses(one), pauses(other)];
    let ways = cabled::try_cable(
        &Wall::start(),
        &mut End { tx: first.tx.as_mut(), rx: first.rx.as_mut() },
        &mut End { tx: second.tx.as_mut(), rx: second.rx.as_mut() },
        FRAMES,
    );
    let [there, back] = ways.map_err(|error| error.to_string())?;
    let after = [pauses(one), pauses(other)];
    let grown = |end: usize, of: fn(&Pauses) -> u64| {
        let sum = |all: &[Pauses]| all.iter().map(of).sum::<u64>();
        (!after[end].is_empty()).then(|| sum(&after[end]).saturating_sub(sum(&before[end])))
    };
    let way = |way: cabled::Way, from: usize, to: usize| Way {
        ordinary: way.ordinary.to_string(),
        pfc: way.pfc.to_string(),
        pause: way.pause.to_string(),
        counted: grown(from, |pauses| pauses.tx).zip(grown(to, |pauses| pauses.rx)),
    };
    Ok([way(there, 0, 1), way(back, 1, 0)])
}

/// The pauses that a driver counts; none where it does not.
fn pauses(name: &str) -> Vec<Pauses> {
    let counters = Ethtool::open(name).and_then(|ethtool| ethtool.counters());
    counters.map_or_else(|_| Vec::new(), |counters| pause_counters::of(&counters))
}
