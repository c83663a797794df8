//! Opening a DPDK port: what is asked of the driver and of the kernel, and what is done without.

use super::api::Plan;
use super::device::{self, Device, Opened};
use super::nic_clock::{NicClock, Reading};
use super::outgoing::Outgoing;
use super::rx::Receiver;
use super::tx::Sender;
use super::{DpdkFault, Shared, eal};
use crate::port::error::ETHERNET_HEADER;
use crate::port::interface::{Card, Interface};
use crate::port::{
    Backend, Caps, Config, Fault, Feature, Mono, Port, PortError, Refusal, StampedBy, wait,
};
use nix::errno::Errno;
use rig_units::Dur;
use std::sync::Arc;

/// What a piece of a port's ring is, in bytes, wherever it is counted.
const PIECE: usize = 4_096;
/// How often a link is asked for.
const STEP: Dur = Dur::ms(10);
/// Between the first two readings of a NIC's clock: at a microsecond a reading the rate is right to 20 ppm, and soon
/// better.
const APART: Dur = Dur::ms(50);

/// Opens the port that `config` names.
pub(crate) fn open(config: &Config) -> Result<Port, PortError> {
    build(config).map_err(|(fault, name)| fault.at(name.as_deref().unwrap_or(&config.interface)))
}

/// A fault, and the interface of the kernel that has it, if it is not the port's own.
type Failure = (Fault, Option<String>);

fn own(fault: DpdkFault) -> Failure {
    (Fault::Dpdk(Box::new(fault)), None)
}

fn build(config: &Config) -> Result<Port, Failure> {
    if let Some(queue @ 1..) = config.queue {
        return Err(own(DpdkFault::OneQueue { queue }));
    }
    let (api, port) = eal::take(&config.dpdk, &config.interface).map_err(own)?;
    let (device, opened) = Device::open(api, port, &plan(config)).map_err(own)?;
    let mut refusals = Vec::new();
    let below = opened.interface.map(Interface::numbered).transpose();
    let below = below.map_err(|fault| (fault, None))?;
    let longest = longest(config, &opened, below.as_ref(), &mut refusals)?;
    settle(config, &device, below.as_ref())?;
    limit(config, &device, &mut refusals);
    let clock = clock(&device, &opened, &mut refusals);
    let card = below.as_ref().map(|(name, interface)| Card::new(name, interface.index));
    let card = card.transpose().map_err(|fault| (fault, None))?;
    let name = config.interface.clone();
    let shared = Arc::new(Shared { name, device, card, rx_unstamped: 0.into() });
    // A driver may keep what it has sent until it needs the room in its ring: there are more slots than entries, so
    // that one of them is always free or waits to be taken.
    let slots = config.slots.max(opened.entries.saturating_add(1));
    let outgoing = Outgoing::new(Arc::clone(&shared), slots, config.longest).map_err(|errno| {
        let tried = "hold frames to send".to_owned();
        own(DpdkFault::Refused { tried, errno, said: device::said(api) })
    })?;
    let caps = Caps {
        backend: Backend::Dpdk,
        attached: None,
        // Of a driver of DPDK nobody knows.
        zero_copy: false,
        multi_buffer: true,
        vlan_tags: true,
        longest,
        stamped_by: if clock.is_some() { StampedBy::Nic } else { StampedBy::Process },
        refused: refusals,
    };
    let tx = Sender::new(Arc::clone(&shared), outgoing, slots, config.longest);
    Ok(Port { tx: Box::new(tx), rx: Box::new(Receiver::new(shared, clock)), caps })
}

fn plan(config: &Config) -> Plan {
    // Buffers hold a whole frame each: as many as the ring's bytes make.
    let each = config.longest.max(2_048);
    let buffers = (config.ring as usize).saturating_mul(PIECE) / each;
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Plan {
        longest: small(config.longest),
        slots: config.slots,
        buffers: small(buffers).clamp(1, config.ring.max(1)),
    }
}

/// The longest frame that passes, as the kernel says where it has a say, else as the driver does.
fn longest(
    config: &Config,
    opened: &Opened,
    below: Option<&(String, Interface)>,
    refusals: &mut Vec<Refusal>,
) -> Result<usize, Failure> {
    if let Some((name, interface)) = below {
        let carries = interface.carries(config.longest);
        carries.map_err(|fault| (fault, Some(name.clone())))?;
    }
    let mtu = opened.mtu.unwrap_or(0);
    if let Some(errno) = opened.mtu_refused {
        if below.is_none() {
            return Err(own(DpdkFault::TooLong { mtu, longest: config.longest, errno }));
        }
        // Some drivers on top of the kernel's have a fixed answer, whatever they were set up for.
        let why = format!("the driver {} says its MTU is {mtu} ({errno})", opened.driver);
        refusals.push(Refusal { feature: Feature::LongFrames, why });
    }
    Ok(match (below, opened.mtu) {
        (Some((_, interface)), _) => interface.longest(),
        (None, Some(mtu)) => mtu + ETHERNET_HEADER,
        (None, None) => config.longest,
    })
}

/// Waits for the link.
fn settle(
    config: &Config,
    device: &Device,
    below: Option<&(String, Interface)>,
) -> Result<(), Failure> {
    if let Some((name, _)) = below {
        let linked = Interface::linked(name, config.settle);
        return linked.map(drop).map_err(|fault| (fault, Some(name.clone())));
    }
    let start = Mono::now();
    while !device.has_link() {
        if Mono::now().since(start) >= Some(config.settle) {
            return Err((Fault::NoLink { waited: config.settle }, None));
        }
        wait::pause(STEP);
    }
    Ok(())
}

/// Has the NIC hold the port to its rate, if that is asked for.
fn limit(config: &Config, device: &Device, refusals: &mut Vec<Refusal>) {
    let Some(speed) = config.limit else { return };
    let mbps = u32::try_from(speed.bps() / 1_000_000).unwrap_or(u32::MAX);
    if let Err(errno) = device.limit(mbps) {
        refusals.push(Refusal { feature: Feature::RateLimit, why: errno.to_string() });
    }
}

/// The clock of a NIC that timestamps.
fn clock(device: &Device, opened: &Opened, refusals: &mut Vec<Refusal>) -> Option<NicClock> {
    let calibrate = || -> Result<Option<NicClock>, Errno> {
        if !opened.timestamps? {
            return Ok(None);
        }
        let earlier = Reading::best(|| device.ticks())?;
        wait::pause(APART);
        let later = Reading::best(|| device.ticks())?;
        NicClock::new(earlier, later).ok_or(Errno::ETIME).map(Some)
    };
    calibrate().unwrap_or_else(|errno| {
        refusals.push(Refusal { feature: Feature::NicStamps, why: errno.to_string() });
        None
    })
}
