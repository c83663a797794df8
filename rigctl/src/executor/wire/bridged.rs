//! A bench whose device is the bridge of a guest: the rig's ports are on the guest's taps.

use super::bench::{Bench, LONGEST, RING, SLOTS, lane};
use super::broken::Broken;
use super::cabling::Cabling;
use super::clocks::Clocks;
use super::steered::Steered;
use crate::executor::guest::{GuestHost, GuestShell};
use crate::stderr;
use rig_dut::LinuxControl;
use rig_dut::control::Control as _;
use rig_generator::Pacer;
use rig_generator::port::{Backend, Config, Link, Mono, Port, PortError};
use rig_lab::Profile;
use rig_units::Dur;
use std::sync::Arc;

/// The guest of a run as a switch.
#[derive(Debug, Clone)]
pub struct Bridged {
    /// The guest.
    pub host: Arc<GuestHost>,
    /// How far off a stamp at a tap may be.
    pub bound: Dur,
}

/// Boots the guest, unless it runs, and opens the ports of the rig on its taps.
///
/// # Errors
/// What is in the way; that somebody asked for the end before the guest was up.
pub(super) fn start(
    bridged: &Bridged,
    profile: &Profile,
    clocks: &dyn Clocks,
) -> Result<Bench, Broken> {
    let Bridged { host, bound } = bridged;
    let namespace = host.with(|guest| Ok(guest.namespace()))?;
    let mut lanes = Vec::new();
    let mut longest = Vec::new();
    let mut sees_tags = true;
    for (index, tap) in (0..).zip(host.role().taps()) {
        let Some(speed) = profile.declared.port_speed(index) else { break };
        let open = || -> Result<(usize, Port), PortError> {
            let fits = Link::named(&tap)?.longest.min(LONGEST);
            let config = Config {
                backend: Backend::AfPacket,
                longest: fits,
                slots: SLOTS,
                ring: RING,
                ..Config::new(&tap)
            };
            Ok((fits, Port::open(&config)?))
        };
        let opened = namespace.run(open).map_err(|error| Broken::Device(error.to_string()))?;
        let (fits, Port { tx, rx, caps }) = opened?;
        sees_tags &= caps.vlan_tags;
        longest.push(fits);
        // A frame is at the guest as a whole: a tap has no speed.
        lanes.push(lane((tx, rx), speed, *bound, true));
    }
    let opened = Mono::now();
    let shell = Box::new(GuestShell(Arc::clone(host)));
    let mut control = Box::new(LinuxControl::of(profile.declared.clone(), shell));
    control.snapshot()?;
    control.remarks().iter().for_each(|remark| stderr::note(remark));
    Ok(Bench {
        profile: profile.name.clone(),
        control: Steered::until_the_end(control, opened),
        cabling: Cabling::made(),
        // What a sleep is late by is far below the bound.
        pacer: Pacer { clock: clocks.since(opened), lanes, awake: Dur::ZERO },
        bound: *bound,
        longest,
        far: None,
        sees_tags,
        next: 0,
        spoilt: false,
        host: Some(Arc::clone(host)),
    })
}
