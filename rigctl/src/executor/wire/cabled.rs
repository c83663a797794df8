//! A bench that is there already: the rig's own interfaces, and whatever is cabled to them.

use super::bench::{Bench, LONGEST, RING, SLOTS, lane};
use super::cabling::Cabling;
use super::clocks::Clocks;
use super::cuts::Cuts;
use super::cuts::SETTLE;
use super::introduced;
use super::steered::Steered;
use crate::stderr;
use rig_dut::{Journal, over_interfaces};
use rig_generator::port::{self, Config, Dpdk, Ethtool, Link, Mono, Port, RealTime};
use rig_generator::{Pacer, wake};
use rig_lab::{Backend, ControlName, DpdkWire, Interfaces, Lab, Profile, RedisAt};
use rig_units::{Dur, PortSpeed};
use std::sync::Arc;

/// Above this bound a sleep is never late by as much, so that nothing spins.
const SLEEPS: Dur = Dur::ms(1);

/// Through what a device is steered that is there already.
#[derive(Debug, Clone)]
pub struct ControlPath {
    /// The word for the way to it.
    pub control: ControlName,
    /// Where its redis listens, if its control asks one.
    pub redis: Option<RedisAt>,
}

impl ControlPath {
    /// That of the one device at the interfaces of `lab`.
    pub fn of(lab: &Lab) -> ControlPath {
        let dut = lab.duts.first();
        let control = dut.map_or(ControlName::None, |dut| lab.control(dut));
        ControlPath { control, redis: dut.and_then(|dut| lab.redis.get(&dut.name)).cloned() }
    }
}

/// Opens the interfaces of `wire`, which the ports of the device of `profile` are cabled to.
///
/// # Errors
/// What is in the way, and what mends it.
pub(super) fn start(
    (wire, reach): (&Interfaces, &ControlPath),
    journal: &Arc<Journal>,
    profile: &Profile,
    clocks: &dyn Clocks,
) -> Result<Bench, String> {
    let said = |error: port::PortError| error.to_string();
    // What the case before could not take back as its way was lost: the device is not as it was found yet.
    if let Some(at) = &reach.redis
        && let Some(left) = journal.put_back(|change| change.is_to_redis(at)).into_iter().next()
    {
        return Err(left);
    }
    let mut lanes = Vec::new();
    let mut longest = Vec::new();
    let mut sees_tags = true;
    for (index, interface) in (0..).zip(&wire.interfaces) {
        // The device has fewer ports than the rig has interfaces: the others are left alone.
        let Some(speed) = profile.declared.port_speed(index) else { break };
        // A port of DPDK is none of the kernel's: what is amiss with it shows when it is opened.
        let (fits, pair) = match wire.backend {
            Backend::AfXdp | Backend::AfPacket => look(wire, interface, speed)?,
            Backend::Dpdk => (LONGEST, false),
        };
        longest.push(fits);
        let config = Config {
            backend: backend(wire.backend),
            longest: fits,
            slots: SLOTS,
            ring: RING,
            settle: SETTLE,
            dpdk: wire.dpdk.as_ref().map(dpdk).unwrap_or_default(),
            ..Config::new(interface)
        };
        let Port { tx, rx, caps } = Port::open(&config).map_err(said)?;
        sees_tags &= caps.vlan_tags;
        lanes.push(lane((tx, rx), speed, wire.bound, pair));
    }
    if reach.control == ControlName::Sonic {
        introduced::introduce(&mut lanes).map_err(said)?;
    }
    let ports = u16::try_from(lanes.len()).unwrap_or(u16::MAX);
    let opened = Mono::now();
    let clock = clocks.since(opened);
    let awake = if wire.bound > SLEEPS {
        Dur::ZERO
    } else {
        // As the thread runs that will send.
        let _real_time = RealTime::enter();
        wake::awake(&clock).map_err(said)?
    };
    let reached = (reach.control, reach.redis.as_ref(), opened);
    let control = over_interfaces(reached, profile, ports)?;
    control.remarks().iter().for_each(|remark| stderr::note(remark));
    Ok(Bench {
        profile: profile.name.clone(),
        control: Steered::lasting(control, Arc::clone(journal), opened),
        cabling: Cabling::found(wire.interfaces.clone(), Cuts::new(Arc::clone(journal))),
        pacer: Pacer { clock, lanes, awake },
        bound: wire.bound,
        longest,
        far: None,
        sees_tags,
        next: 0,
        spoilt: false,
        host: None,
    })
}

/// The longest frame that an interface of the kernel carries, and whether it is one of a pair, over which frames pass in
/// no time. One that cannot be what the profile and the lab say is refused.
fn look(wire: &Interfaces, interface: &str, speed: PortSpeed) -> Result<(usize, bool), String> {
    let said = |error: port::PortError| error.to_string();
    let link = Link::named(interface).map_err(said)?;
    let ethtool = Ethtool::open(interface).map_err(said)?;
    if !link.pair && wire.speed.is_none() {
        at_speed(&ethtool, interface, speed)?;
    }
    Ok((link.longest.min(LONGEST), link.pair))
}

/// What a lab says of DPDK, as the ports know it.
fn dpdk(wire: &DpdkWire) -> Dpdk {
    let own = std::env::current_exe().unwrap_or_default();
    Dpdk { eal: wire.eal.clone(), shim: wire.shim.clone(), places: Dpdk::usual_places(&own) }
}

/// The word of a lab for what carries frames, as the ports know it.
pub fn backend(word: Backend) -> port::Backend {
    match word {
        Backend::AfXdp => port::Backend::AfXdp,
        Backend::AfPacket => port::Backend::AfPacket,
        Backend::Dpdk => port::Backend::Dpdk,
    }
}

/// Every figure follows from the speed of the ports: an interface that runs at another than is declared is refused.
fn at_speed(ethtool: &Ethtool, interface: &str, declared: PortSpeed) -> Result<(), String> {
    let Ok(Some(mbps)) = ethtool.speed() else { return Ok(()) };
    let found = PortSpeed::from_bps(u64::from(mbps) * 1_000_000);
    if found == Some(declared) {
        return Ok(());
    }
    let found = found.map_or_else(|| format!("{mbps} Mb/s"), |speed| speed.to_string());
    Err(format!(
        "{interface} runs at {found}, and the profile declares {declared} for the port that it is cabled to: correct \
         `declared.ports`, or give the lab `wire.speed`"
    ))
}
